"""Read the answers out of the sampled texts: `python data/read_answers.py FILE.jsonl.gz ... [--out FOLDER]`.

Turns what `sample_gpu.py` wrote into the bundled form, and does so again, from the texts themselves, whenever the
reading of answers is improved. The same texts give the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

from adalib.vote.answers import extract_answer

HERE = Path(__file__).parent
ORDER = ("id", "question", "gold", "level", "family", "phrasing", "dial")
ORDER += ("answers", "tokens", "finish", "logprob", "entropy", "texts")


def read(line: dict) -> dict:
    pairs = zip(line["texts"], line["finish"], strict=True)
    line["answers"] = [extract_answer(text, finished=finish == "stop") for text, finish in pairs]
    return {key: line[key] for key in ORDER}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=HERE / "answers")
    args = parser.parse_args()
    for path in args.files:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            lines = [json.dumps(read(json.loads(line)), ensure_ascii=False) + "\n" for line in file]
        # No time and no name in the header: the bytes depend on the texts alone.
        data = gzip.compress("".join(lines).encode(), compresslevel=9, mtime=0)
        (args.out / path.name).write_bytes(data)
        print(f"{path.name}: {len(lines)} questions, {len(data) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
