"""``python -m adalib``."""

from adalib.cli import run

if __name__ == "__main__":
    run()
