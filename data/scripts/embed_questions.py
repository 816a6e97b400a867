"""Turn a benchmark's questions into numbers with a sentence encoder, and keep only the numbers.

    python embed_questions.py --model FOLDER --out data/features/gsm8k-minilm.jsonl.gz \
        gsm8k.jsonl gsm8k_more.jsonl

and likewise for MATH.

FOLDER holds all-MiniLM-L6-v2 (Apache-2.0), the files `model.safetensors` and `tokenizer.json` as
its publisher distributes them; the script checks the hash of the weights. The encoder is small (six
layers of width 384), so its forward pass is written out here in numpy. The mean of its output
over a question's tokens, scaled to length 1, is the question's embedding. Of 384 directions the
32 in which the questions of these files differ most are kept (principal components), because the
policies that plan learn from a thousand questions. Nothing but texts goes into that choice, no
answer and no label.

Needs `tokenizers` and `safetensors`, which the rest of the project does not.
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from scipy.special import erf
from tokenizers import Tokenizer
from tqdm import tqdm

from adalib.datasets.files import read_lines, write_lines

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
LAYERS = 6
HEADS = 12
MOST_TOKENS = 256
DIRECTIONS = 32


def embed(text: str, tokenizer: Tokenizer, weights: dict[str, np.ndarray]) -> np.ndarray:
    """Return the encoder's embedding of a text, shape (384,), of length 1."""
    tokens = tokenizer.encode(text).ids[:MOST_TOKENS]
    hidden = (
        weights["embeddings.word_embeddings.weight"][tokens]
        + weights["embeddings.position_embeddings.weight"][: len(tokens)]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    hidden = normalised(hidden, weights, "embeddings")
    for layer in range(LAYERS):
        hidden = transformed(hidden, weights, f"encoder.layer.{layer}")
    mean = hidden.mean(axis=0)
    return mean / np.linalg.norm(mean)


def transformed(hidden: np.ndarray, weights: dict[str, np.ndarray], layer: str) -> np.ndarray:
    """One layer: every token looks at the others, then passes through two dense maps."""
    queries, keys, values = (
        in_heads(dense(hidden, weights, f"{layer}.attention.self.{name}"))
        for name in ("query", "key", "value")
    )
    scores = queries @ keys.transpose(0, 2, 1) / np.sqrt(queries.shape[-1])
    attention = np.exp(scores - scores.max(axis=-1, keepdims=True))
    attention /= attention.sum(axis=-1, keepdims=True)
    seen = (attention @ values).transpose(1, 0, 2).reshape(hidden.shape)
    seen = dense(seen, weights, f"{layer}.attention.output.dense")
    hidden = normalised(hidden + seen, weights, f"{layer}.attention.output")
    wide = dense(hidden, weights, f"{layer}.intermediate.dense")
    wide = wide * (1 + erf(wide / np.sqrt(2))) / 2
    narrow = dense(wide, weights, f"{layer}.output.dense")
    return normalised(hidden + narrow, weights, f"{layer}.output")


def dense(hidden: np.ndarray, weights: dict[str, np.ndarray], name: str) -> np.ndarray:
    """Apply a layer's matrix and bias."""
    return hidden @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def in_heads(hidden: np.ndarray) -> np.ndarray:
    """Cut the width into attention heads, shape (heads, tokens, width of a head)."""
    return hidden.reshape(len(hidden), HEADS, -1).transpose(1, 0, 2)


def normalised(hidden: np.ndarray, weights: dict[str, np.ndarray], name: str) -> np.ndarray:
    """Give every token mean 0 and variance 1, then the layer's scale and shift."""
    centred = hidden - hidden.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
    return (
        centred / deviation * weights[f"{name}.LayerNorm.weight"]
        + weights[f"{name}.LayerNorm.bias"]
    )


def principal(embeddings: np.ndarray, directions: int) -> np.ndarray:
    """Project onto the directions of largest variance, scaled to variance 1 in the first."""
    centred = embeddings - embeddings.mean(axis=0)
    left, spread, _ = np.linalg.svd(centred, full_matrices=False)
    columns = left[:, :directions] * spread[:directions]
    return columns / columns[:, 0].std()


def main() -> None:
    """Read the questions, embed them, and write one line of numbers for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("questions", nargs="+", type=Path, help="files with id and question")
    parser.add_argument("--model", required=True, type=Path, help="folder of the encoder")
    parser.add_argument("--out", required=True, type=Path, help="where the numbers go")
    options = parser.parse_args()
    file = options.model / "model.safetensors"
    if hashlib.sha256(file.read_bytes()).hexdigest() != WEIGHTS_SHA256:
        raise SystemExit(f"{file}: is not the published file; download it again")
    weights = load_file(file)
    tokenizer = Tokenizer.from_file(str(options.model / "tokenizer.json"))
    tokenizer.no_padding()
    records = [record for path in options.questions for _, record in read_lines(path)]
    embeddings = np.array(
        [embed(record["question"], tokenizer, weights) for record in tqdm(records)]
    )
    numbers = principal(embeddings, DIRECTIONS).round(3)
    write_lines(
        options.out,
        [
            {"id": record["id"], "embedding": row.tolist()}
            for record, row in zip(records, numbers, strict=True)
        ],
    )


if __name__ == "__main__":
    main()
