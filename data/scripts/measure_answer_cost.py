"""Measure what an answer costs a machine: seconds and joules a token, by how many run side by side.

    python data/scripts/measure_answer_cost.py --out cost.jsonl  # on a GPU, with torch
    python data/scripts/measure_answer_cost.py --served  # anywhere: the small model
    python data/scripts/measure_answer_cost.py --served --base-url URL --model M

What a token costs does not depend on what the weights say, so the first form builds decoders of
Qwen2.5's shapes with random numbers for weights, in bfloat16, and times one step of decoding: every
row has `context` tokens in a static key-value cache and takes the likeliest next one. The step is
captured as a CUDA graph. The script also times the memory's bandwidth and the rate of a large
matrix product, and reads the power of the board before and after its first use, while nothing runs.
Energy is the board's own counter (NVML); where there is none, seconds alone are written. There is
no serving engine, no tensor parallelism and no quantisation, and the host's energy is not counted.

The second form asks a model behind an OpenAI-compatible address for 1, 2, 4 ... answers at a time,
and prints tokens a second; without an address it starts the small model of the project's tests.

Torch is needed for the first form only, and is not among the project's requirements.
`data/recorded/machine.jsonl` was written by it on one H200; `data/cards/machine.md` describes that.
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

CONTEXTS = (300, 1000, 4000)
SIDE_BY_SIDE = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
REPEATS = 3
WINDOW = 1.0  # seconds of one repeat: the energy counter moves in steps of some milliseconds
_ROOM = 0.92  # of the board's memory that a measurement may fill


class Shape(NamedTuple):
    """The sizes of a decoder of Qwen2.5's family."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head: int
    inner: int
    vocabulary: int
    tied: bool  # one matrix embeds tokens and scores them

    @property
    def qkv(self) -> int:
        """How many numbers the three projections of attention give for a token."""
        return (self.heads + 2 * self.kv_heads) * self.head

    @property
    def multiplied(self) -> int:
        """How many weights a token is multiplied with: all but the table of embeddings."""
        attention = self.hidden * self.qkv + self.heads * self.head * self.hidden
        layer = attention + 3 * self.hidden * self.inner
        return self.layers * layer + self.vocabulary * self.hidden

    @property
    def parameters(self) -> int:
        """How many weights there are, biases and norms included."""
        small = self.layers * (self.qkv + 2 * self.hidden) + self.hidden
        return self.multiplied + small + (0 if self.tied else self.vocabulary * self.hidden)

    def cached(self, tokens: int) -> int:
        """Count the bytes of keys and values that so many tokens leave, in bfloat16."""
        return 2 * 2 * self.layers * self.kv_heads * self.head * tokens


#: By their names; the sizes are those that the models' authors publish.
SHAPES = {
    "7B": Shape(28, 3584, 28, 4, 128, 18944, 152064, tied=False),
    "1.5B": Shape(28, 1536, 12, 2, 128, 8960, 151936, tied=True),
    "0.5B": Shape(24, 896, 14, 2, 64, 4864, 151936, tied=True),
    "tiny": Shape(2, 64, 4, 2, 16, 128, 300, tied=False),
}


class Decoder:
    """A decoder with random weights."""

    def __init__(self, shape: Shape, device: str, dtype: Any) -> None:
        import torch

        def weights(rows: int, columns: int) -> Any:
            drawn = torch.randn(rows, columns, device=device, dtype=torch.float32)
            return (drawn / columns**0.5).to(dtype)

        def ones() -> Any:
            return torch.ones(shape.hidden, device=device, dtype=dtype)

        self.shape = shape
        self.embedding = weights(shape.vocabulary, shape.hidden)
        self.scores = self.embedding
        if not shape.tied:
            self.scores = weights(shape.vocabulary, shape.hidden)
        self.layers = [
            {
                "before": ones(),
                "qkv": weights(shape.qkv, shape.hidden),
                "bias": torch.zeros(shape.qkv, device=device, dtype=dtype),
                "out": weights(shape.hidden, shape.heads * shape.head),
                "after": ones(),
                "gate_up": weights(2 * shape.inner, shape.hidden),
                "down": weights(shape.hidden, shape.inner),
            }
            for _ in range(shape.layers)
        ]
        self.last = ones()

    def cache(self, rows: int, tokens: int) -> Any:
        """Room for keys and values, filled with small random numbers."""
        import torch

        shape = self.shape
        room = (shape.layers, 2, rows, shape.kv_heads, tokens, shape.head)
        filled = torch.empty(room, device=self.last.device, dtype=self.last.dtype)
        return filled.normal_(std=0.1)

    def forward(self, tokens: Any, cache: Any, start: int) -> Any:
        """Read tokens (rows x new) that stand at ``start``, and score what follows the last."""
        import torch
        import torch.nn.functional as F  # noqa: N812 (its usual name)

        shape = self.shape
        rows, new = tokens.shape
        end = start + new
        turns = self._turns(start, end)
        x = self.embedding[tokens]
        for layer, kept in zip(self.layers, cache, strict=True):
            normed = F.rms_norm(x, (shape.hidden,), layer["before"])
            qkv = F.linear(normed, layer["qkv"], layer["bias"])
            heads = qkv.view(rows, new, -1, shape.head).transpose(1, 2)
            q, k, v = heads.split([shape.heads, shape.kv_heads, shape.kv_heads], dim=1)
            kept[0, :, :, start:end] = _turned(k, turns)
            kept[1, :, :, start:end] = v
            q = _turned(q, turns)
            # One new token sees all of the cache; several are read at the start alone.
            mixed = F.scaled_dot_product_attention(
                q, kept[0, :, :, :end], kept[1, :, :, :end], is_causal=new > 1, enable_gqa=True
            )
            mixed = mixed.transpose(1, 2).reshape(rows, new, shape.heads * shape.head)
            x = x + F.linear(mixed, layer["out"])
            normed = F.rms_norm(x, (shape.hidden,), layer["after"])
            gate, up = F.linear(normed, layer["gate_up"]).chunk(2, dim=-1)
            x = x + F.linear(F.silu(gate) * up, layer["down"])
        final = F.rms_norm(x[:, -1], (shape.hidden,), self.last)
        return torch.nn.functional.linear(final, self.scores)

    def _turns(self, start: int, end: int) -> tuple[Any, Any]:
        """Return the cosines and sines by which positions turn queries and keys."""
        import torch

        device, dtype = self.last.device, self.last.dtype
        half = torch.arange(0, self.shape.head, 2, device=device, dtype=torch.float64)
        speed = 1e6 ** (-half / self.shape.head)
        angle = torch.arange(start, end, device=device, dtype=torch.float64)[:, None] * speed
        angle = torch.cat([angle, angle], dim=-1)
        return angle.cos().to(dtype), angle.sin().to(dtype)


def _turned(x: Any, turns: tuple[Any, Any]) -> Any:
    import torch

    cos, sin = turns
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-second, first], dim=-1) * sin


def check_cache(device: str) -> float:
    """Compare decoding token by token with reading all at once; return the largest difference."""
    import torch

    torch.manual_seed(0)
    decoder = Decoder(SHAPES["tiny"], device, torch.float64)
    tokens = torch.randint(0, SHAPES["tiny"].vocabulary, (3, 9), device=device)
    at_once = decoder.forward(tokens, decoder.cache(3, 9), 0)
    cache = decoder.cache(3, 9)
    decoder.forward(tokens[:, :5], cache, 0)
    for at in range(5, 9):
        step_by_step = decoder.forward(tokens[:, at : at + 1], cache, at)
    return float((at_once - step_by_step).abs().max())


class Board:
    """The board's counter of energy; a read is None where it has none."""

    def __init__(self) -> None:
        self.handle = ctypes.c_void_p()
        try:
            self.nvml: Any = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            self.nvml = None
            return
        self.nvml.nvmlInit_v2()
        self.nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.handle))

    def joules(self) -> float | None:
        """Read the energy that the board has taken since its driver started."""
        if self.nvml is None:
            return None
        read = ctypes.c_ulonglong()  # in millijoules
        failed = self.nvml.nvmlDeviceGetTotalEnergyConsumption(self.handle, ctypes.byref(read))
        return None if failed else read.value / 1000

    def idle_watts(self, seconds: float = 5.0) -> float | None:
        """Return the mean power while nothing runs."""
        time.sleep(3)
        before, start = self.joules(), time.perf_counter()
        time.sleep(seconds)
        after, end = self.joules(), time.perf_counter()
        if before is None or after is None:
            return None
        return round((after - before) / (end - start), 1)


def timed(work: Callable[[], object], board: Board, cuda: bool) -> dict[str, Any]:
    """Repeat ``work`` for `WINDOW` seconds, `REPEATS` times; return seconds and joules of one."""
    import torch

    wait = torch.cuda.synchronize if cuda else (lambda: None)
    work()
    wait()
    start = time.perf_counter()
    work()
    wait()
    times = max(3, round(WINDOW / max(time.perf_counter() - start, 1e-6)))
    for _ in range(times // 3):  # warms up
        work()
    seconds, joules = [], []
    for _ in range(REPEATS):
        wait()
        before = board.joules()
        start = time.perf_counter()
        for _ in range(times):
            work()
        wait()
        seconds.append((time.perf_counter() - start) / times)
        after = board.joules()
        if before is not None and after is not None:
            joules.append((after - before) / times)
    found: dict[str, Any] = {
        "seconds": _rounded(statistics.median(seconds)),
        "seconds_low": _rounded(min(seconds)),
        "seconds_high": _rounded(max(seconds)),
        "joules": None,
    }
    if joules:
        found |= {
            "joules": _rounded(statistics.median(joules)),
            "joules_low": _rounded(min(joules)),
            "joules_high": _rounded(max(joules)),
        }
    return found


def _rounded(value: float) -> float:
    return float(f"{value:.5g}")


def machine(board: Board, device: str) -> dict[str, Any]:
    """Describe the machine: its names, its idle power, and the two rates that bound a step."""
    import torch

    before_use = board.idle_watts()
    about: dict[str, Any] = {
        "part": "machine",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "torch": torch.__version__,
        "cache_check": check_cache(device),
        "idle_watts": before_use,
    }
    if device == "cpu":
        return about | {"device": "cpu", "threads": torch.get_num_threads()}
    torch.empty(1, device=device)
    about["device"] = torch.cuda.get_device_name()
    about["cuda"] = torch.version.cuda
    driver = Path("/proc/driver/nvidia/version")
    about["driver"] = driver.read_text().split("  ")[1] if driver.exists() else None
    about["waiting_watts"] = board.idle_watts()  # in use, and nothing to do
    halves = torch.randint(0, 256, (2, 4 << 30), device=device, dtype=torch.uint8)
    copy = timed(lambda: halves[0].copy_(halves[1]), board, cuda=True)
    about["bytes_per_second"] = _rounded(halves.numel() / copy["seconds"])
    pair = torch.randn(2, 8192, 8192, device=device).bfloat16()
    product = timed(lambda: pair[0] @ pair[1], board, cuda=True)
    about["flops_per_second"] = _rounded(2 * 8192**3 / product["seconds"])
    return about


def steps(name: str, decoder: Decoder, board: Board, device: str, counts: Any) -> Iterator[dict]:
    """Time a decoding step for each context and number of rows that fits."""
    import torch

    cuda = device != "cpu"
    shape = decoder.shape
    for context in CONTEXTS if name != "tiny" else (32,):
        for rows in counts:
            row = {"part": name, "what": "step", "context": context, "rows": rows}
            needed = shape.cached(context * rows) + 12 * rows * shape.vocabulary
            if cuda and needed > _ROOM * torch.cuda.mem_get_info()[0]:
                yield row | {"left_out": "its cache does not fit the board's memory"}
                continue
            cache = decoder.cache(rows, context)
            token = torch.randint(0, shape.vocabulary, (rows, 1), device=device)

            def step(token: Any = token, cache: Any = cache, at: int = context - 1) -> None:
                token.copy_(decoder.forward(token, cache, at).argmax(dim=-1, keepdim=True))

            work: Callable[[], object] = _captured(step) if cuda else step
            yield row | timed(work, board, cuda)
            del cache, token, step, work
            if cuda:
                torch.cuda.empty_cache()


def _captured(step: Callable[[], None]) -> Callable[[], object]:
    """Capture a step as a CUDA graph: launching its kernels one by one would take longer."""
    import torch

    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(2):
            step()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def measure(names: list[str], counts: Any, device: str) -> Iterator[dict]:
    """Measure the machine and every shape."""
    import torch

    torch.manual_seed(0)
    board = Board()
    yield machine(board, device)
    for name in names:
        decoder = Decoder(
            SHAPES[name], device, torch.float32 if device == "cpu" else torch.bfloat16
        )
        about = {"part": name, "what": "shape", "parameters": decoder.shape.parameters}
        about["multiplied"] = decoder.shape.multiplied
        yield about | {"cached_per_token": decoder.shape.cached(1)}
        with torch.inference_mode():
            yield from steps(name, decoder, board, device, counts)
        del decoder
        if device != "cpu":
            torch.cuda.empty_cache()


def served(base_url: str, model: str, counts: tuple[int, ...], tokens: int) -> Iterator[dict]:
    """Ask an address for several answers at a time, each of ``tokens`` tokens at most."""
    from openai import OpenAI

    client = OpenAI(base_url=base_url, api_key="none", max_retries=0)

    def ask(number: int) -> int:
        story = f"Tell a long story about {number} sheep, and do not stop before a thousand words."
        reply = client.chat.completions.create(
            model=model, messages=[{"role": "user", "content": story}], max_tokens=tokens
        )
        assert reply.usage is not None
        return reply.usage.completion_tokens

    ask(0)  # the first request also loads what is loaded once
    for count in counts:
        with ThreadPoolExecutor(count) as pool:
            start = time.perf_counter()
            came = sum(pool.map(ask, range(1, count + 1)))
            seconds = time.perf_counter() - start
        yield {"side_by_side": count, "tokens": came, "seconds": round(seconds, 2)}


def main() -> None:
    """Read the command line, measure, and write each row as it comes."""
    parser = argparse.ArgumentParser(description="Measure what an answer costs a machine.")
    parser.add_argument("--out", default="-", help="file of JSON lines to write; - prints them")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=["7B", "1.5B", "0.5B"])
    parser.add_argument("--rows", nargs="+", type=int, default=SIDE_BY_SIDE)
    parser.add_argument("--device", default="cuda", help="cuda, or cpu with --shapes tiny")
    parser.add_argument("--served", action="store_true", help="measure a model behind an address")
    parser.add_argument("--base-url", help="that address; without it the small model is started")
    parser.add_argument("--model", default="smollm2")
    args = parser.parse_args()
    if args.served:
        sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
        from local_model import local_model

        address = nullcontext(args.base_url) if args.base_url else local_model("--parallel", "8")
        with address as base_url:
            for row in served(base_url, args.model, (1, 2, 4, 8), tokens=64):
                count, seconds = row["side_by_side"], row["seconds"]
                speed = row["tokens"] / seconds
                print(f"{count} at a time: {seconds:6.2f} s together, {speed:6.1f} tokens a second")
        return
    out = sys.stdout if args.out == "-" else Path(args.out).open("w", encoding="utf-8")  # noqa: SIM115
    with out:
        for row in measure(args.shapes, args.rows, args.device):
            print(json.dumps(row), file=out, flush=True)


if __name__ == "__main__":
    main()
