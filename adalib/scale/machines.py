"""Where work runs: on the cores of this machine, or on the workers of a Dask cluster.

Both call one function on many items and show a progress bar. Threads and processes are Python's,
machines are Dask's. A function that is sent elsewhere reads and writes files that every machine
sees under the same path. It may run twice when a worker dies, so it writes to a draft and renames
the draft at the end.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager
from importlib import import_module
from types import ModuleType
from typing import Any

from tqdm import tqdm

from adalib.threads import cores

_TRIES = 3  # a task is given to another worker this often when its worker dies
_PATIENCE = 30  # seconds for a scheduler to answer, and for its first worker to come


class Machines(AbstractContextManager):
    """Something that calls a function on many items at once."""

    #: How many items share a machine's memory.
    sharing = 1
    #: How many workers to ask a short question; 1 where starting a thread takes longer than that.
    others = 1

    def __exit__(self, *_: object) -> None:
        """Release what it holds: nothing, unless a subclass does."""

    def map(self, call: Callable, items: Sequence, *, what: str = "") -> list:
        """Return the results in the order of the items.

        ``what`` names the work on the progress bar; without it there is no bar.
        """
        results = [None] * len(items)
        hidden = None if what else True  # None shows the bar on a terminal only
        with tqdm(total=len(items), desc=what, unit=" parts", disable=hidden, leave=False) as bar:
            for place, result in self.results(call, items):
                results[place] = result
                bar.update()
        return results

    @abstractmethod
    def results(self, call: Callable, items: Sequence) -> Iterator[tuple[int, Any]]:
        """Yield the position of an item and its result, as results arrive."""


class Here(Machines):
    """The cores of this machine: threads, or ``processes`` for work that holds Python's lock."""

    def __init__(self, processes: bool = False) -> None:
        self.sharing = cores()
        self._use_processes = processes

    def results(self, call: Callable, items: Sequence) -> Iterator[tuple[int, Any]]:
        workers = self.sharing
        if workers == 1 or len(items) == 1:
            for place, item in enumerate(items):
                yield place, call(item)
            return
        processes = _process_pool(workers) if self._use_processes else None
        with processes or ThreadPoolExecutor(workers) as pool:
            places = {pool.submit(call, item): place for place, item in enumerate(items)}
            try:
                for future in as_completed(places):
                    yield places[future], future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def _process_pool(workers: int) -> Executor | None:
    """Start processes, or return None where none can be started.

    They are fresh ones, because a fork copies locks that threads of ours may hold.
    """
    try:
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        pool = ProcessPoolExecutor(workers, get_context("spawn"))
        pool.submit(int)  # starts the first
        return pool
    except (ImportError, OSError):
        return None


class Cluster(Machines):
    """The workers of a Dask scheduler; connect only to a scheduler that you trust.

    The address looks like ``tcp://10.0.0.1:8786``. RuntimeError, one line, if no scheduler answers
    or it has no workers.
    """

    def __init__(self, address: str) -> None:
        distributed = need("distributed")
        try:
            self._client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            reason = " ".join(str(error).split())[:120]
            raise RuntimeError(
                f"no scheduler answers at {address} ({reason}); "
                "start one with `dask scheduler`, and workers with `dask worker ADDRESS`"
            ) from None
        try:
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            self._client.close()
            raise RuntimeError(
                f"the scheduler at {address} has no workers; "
                f"start some with `dask worker {address}`"
            ) from None
        threads = list(self._client.nthreads().values())
        self.sharing = max(threads)
        self.others = sum(threads)

    def results(self, call: Callable, items: Sequence) -> Iterator[tuple[int, Any]]:
        distributed = need("distributed")
        futures = self._client.map(call, items, pure=False, retries=_TRIES)
        places = {future.key: place for place, future in enumerate(futures)}
        try:
            for future, result in distributed.as_completed(
                futures, loop=self._client.loop, with_results=True
            ):
                yield places[future.key], result
        except distributed.KilledWorker as error:
            raise RuntimeError(
                f"workers died repeatedly, probably out of memory ({error}); see --memory"
            ) from None
        except ModuleNotFoundError as error:
            raise RuntimeError(
                f"a worker has no {error.name}; install adalib[scale] on every machine"
            ) from None
        finally:
            self._client.cancel(futures)

    def __exit__(self, *_: object) -> None:
        self._client.close()


def need(module: str) -> ModuleType:
    """Import a module that only large tables need; RuntimeError names what to install."""
    try:
        return import_module(module)
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError)
        fault = "is not installed" if missing else f"cannot be loaded ({error})"
        package = module.split(".")[0]
        raise RuntimeError(
            f"{package} {fault}; install it with: pip install 'adalib[scale]'"
        ) from None
