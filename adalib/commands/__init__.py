"""The commands of ``python -m adalib``, a module each; `adalib.commands.cli` holds their table."""
