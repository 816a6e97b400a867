"""Where work runs: on the cores of this machine, or on the workers of a Dask cluster.

Both call one function on many items and hand the results back as they come, with a progress bar. Threads and processes
are Python's, machines are Dask's. A function that is sent elsewhere reads and writes files that every machine sees
under the same path, and may be run twice when a worker dies: so it writes to a draft and renames it at the end.
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

from adalib.datasets.files import cores

__all__ = ["Cluster", "Here", "Machines", "need"]

_TRIES = 3  # a task is given to another worker this often when its worker dies
_PATIENCE = 30  # seconds for a scheduler to answer, and for its first worker to come


class Machines(AbstractContextManager):
    """Something that calls a function on many items at once."""

    sharing = 1  # how many items share a machine's memory
    others = 1  # how many others there are to ask a short question; asking oneself is quicker than starting a thread

    def __exit__(self, *_: object) -> None:
        """Hand back what it holds: nothing, unless it says otherwise."""

    def map(self, call: Callable, items: Sequence, *, what: str = "") -> list:
        """Results in the order of the items; ``what`` names the work on the progress bar."""
        results = [None] * len(items)
        with tqdm(total=len(items), desc=what, unit=" parts", disable=None if what else True, leave=False) as bar:
            for place, result in self._run(call, items):
                results[place] = result
                bar.update()
        return results

    @abstractmethod
    def _run(self, call: Callable, items: Sequence) -> Iterator[tuple[int, Any]]:
        """Yield the place of an item and its result, as they come."""


class Here(Machines):
    """The cores of this machine: threads, or ``processes`` for work that holds Python's lock."""

    def __init__(self, processes: bool = False) -> None:
        self.sharing, self._processes = cores(), processes

    def _run(self, call: Callable, items: Sequence) -> Iterator[tuple[int, Any]]:
        workers = self.sharing
        if workers == 1 or len(items) == 1:
            yield from ((place, call(item)) for place, item in enumerate(items))
            return
        pool = _processes(workers) if self._processes else None
        with pool or ThreadPoolExecutor(workers) as pool:
            places = {pool.submit(call, item): place for place, item in enumerate(items)}
            try:
                for future in as_completed(places):
                    yield places[future], future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def _processes(workers: int) -> Executor | None:
    """Fresh processes, not forks, which copy locks that threads of ours may hold; None where none can be started."""
    try:
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        pool = ProcessPoolExecutor(workers, get_context("spawn"))
        pool.submit(int)  # starts the first
        return pool
    except (ImportError, OSError):
        return None


class Cluster(Machines):
    """The workers of a Dask scheduler, through futures; connect only to a scheduler that you trust.

    The address reads like ``tcp://10.0.0.1:8786``. RuntimeError, one line, if nothing answers or no worker comes."""

    def __init__(self, address: str) -> None:
        distributed = need("distributed")
        try:
            self._client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            fault = f"no scheduler answers at {address} ({' '.join(str(error).split())[:120]})"
            mend = "start one with `dask scheduler`, and workers with `dask worker ADDRESS`"
            raise RuntimeError(f"{fault}; {mend}") from None
        try:
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            self._client.close()
            fault = f"the scheduler at {address} has no workers; start some with `dask worker {address}`"
            raise RuntimeError(fault) from None
        threads = list(self._client.nthreads().values())
        self.sharing, self.others = max(threads), sum(threads)

    def _run(self, call: Callable, items: Sequence) -> Iterator[tuple[int, Any]]:
        distributed = need("distributed")
        futures = self._client.map(call, items, pure=False, retries=_TRIES)
        places = {future.key: place for place, future in enumerate(futures)}
        try:
            for future, result in distributed.as_completed(futures, loop=self._client.loop, with_results=True):
                yield places[future.key], result
        except distributed.KilledWorker as error:
            fault = f"workers died again and again, probably out of memory ({error}); see --memory"
            raise RuntimeError(fault) from None
        except ModuleNotFoundError as error:
            raise RuntimeError(f"a worker has no {error.name}; install adalib[scale] on every machine") from None
        finally:
            self._client.cancel(futures)

    def __exit__(self, *_: object) -> None:
        self._client.close()


def need(module: str) -> ModuleType:
    """Import what only large tables need, or say in one line what to install."""
    try:
        return import_module(module)
    except ImportError as error:
        there = not isinstance(error, ModuleNotFoundError)
        fault = f"cannot be loaded ({error})" if there else "is not installed"
        raise RuntimeError(f"{module.split('.')[0]} {fault}; install it with: pip install 'adalib[scale]'") from None
