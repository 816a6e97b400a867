"""The price of compute on more rows than memory, and on more machines than one."""
