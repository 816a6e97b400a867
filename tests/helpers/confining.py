"""bubblewrap for the tests of the grader: the one that is installed, else one that we install."""

from __future__ import annotations

import functools

from installing import install_from_system

from adabook import sandbox


@functools.cache
def find_bubblewrap() -> str:
    """The path of a bubblewrap that works.

    Raises
    ------
    RuntimeError
        If there is none and none can be installed; the message says what to do.
    """
    if not sandbox.bubblewrap():
        install_from_system(dict.fromkeys(("apt-get", "dnf", "apk"), "bubblewrap"))
        sandbox.bubblewrap.cache_clear()
    if not sandbox.bubblewrap():
        raise RuntimeError(sandbox.MEND)
    return sandbox.bubblewrap()
