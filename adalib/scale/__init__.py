"""The price of compute on more rows than memory, and on more machines than one.

A price settles every question by itself, so a machine answers for its own questions alone. An
auctioneer announces a price, every machine reports one number, what its questions would spend, and
the sum decides whether the next price is higher or lower. No machine has to see all questions.
About sixty rounds end at two neighbouring floats, however many questions there are. The result is
exact: questions that tie at the last price are served in the order of the rows, and costs are added
without rounding, so labels do not depend on which machine had which questions.

On the command line, ``adalib table day/*.jsonl --out table`` and then
``adalib solve table --budget 2 --out labels`` do this for files (``pip install 'adalib[scale]'``).
``--memory`` bounds the memory, and ``--scheduler`` spreads the shards over a Dask cluster.
"""
