"""The commands of ``python -m adalib``, a module each; `adalib.commands.cli` holds their table.

`options`, `sources` and `terminal` hold what several commands share, `asking` what `route` and
`serve` share.
"""
