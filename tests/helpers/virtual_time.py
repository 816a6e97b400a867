"""An event loop on which waiting takes no time."""

import asyncio

from conftest import in_own_thread


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next timer as soon as there is nothing else to do."""

    def __init__(self):
        super().__init__()
        self._now = 0.0

    def time(self):
        return self._now

    def _run_once(self):
        if not self._ready and self._scheduled:
            self._now = max(self._now, self._scheduled[0]._when)
        super()._run_once()

    def run_in_executor(self, executor, func, *args):
        """Run at once: a thread would take real time."""
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except BaseException as error:
            future.set_exception(error)
        return future


def in_virtual_time(coroutine):
    """Run a coroutine on a `VirtualLoop`."""

    def to_end():
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return runner.run(coroutine)

    return in_own_thread(to_end)
