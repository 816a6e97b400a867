"""The commands of ``python -m adalib``, a module each; `adalib.cli` holds their table."""
