"""``python -m adalib``."""

import sys

from adalib.cli import main

if __name__ == "__main__":
    sys.exit(main())
