"""``python -m adalib``."""

import signal
import sys

try:
    from adalib.commands.cli import main
except (ImportError, MemoryError) as error:
    if isinstance(error, MemoryError) or "failed to map segment" in str(error):
        sys.exit(
            "adalib: there is too little memory to start; allow at least 0.4 GB "
            "(ulimit -v says what is allowed)"
        )
    raise


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _interrupt)  # a polite request to end is treated like Ctrl-C
    sys.exit(main())
