"""``python -m adalib``."""

import signal
import sys

from adalib.commands.cli import main


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _interrupt)  # a polite request to end is treated like Ctrl-C
    sys.exit(main())
