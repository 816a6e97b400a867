"""How many questions a second do the text features read, on one core, and how long does a policy
take to learn?

python benchmarks/bench_features.py
"""

from __future__ import annotations

import argparse

import numpy as np
from timing import best_seconds

from adalib.datasets.loading import load
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.embedding import TextEmbedding
from adalib.learn.features import text_features
from adalib.learn.label_policy import LabelPolicy


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()

    responses = load("word-fewshot")
    texts = list(np.resize(np.array(responses.questions, dtype=object), args.questions))
    size = np.mean([len(text) for text in texts])
    rate = args.questions / best_seconds(lambda: text_features(texts), args.rounds)[1]
    print(
        f"text features: {rate:,.0f} questions a second ({size:.0f} characters each; "
        "at least 20,000 wanted)"
    )
    embedding = TextEmbedding().fit(responses.questions)
    rate = args.questions / best_seconds(lambda: embedding.transform(texts), 1)[1]
    print(f"text embedding: {rate:,.0f} questions a second")

    table = responses.table()
    features = text_features(responses.questions)
    rows = slice(0, 200)
    for name, policy in (("label", LabelPolicy()), ("curve", CurvePolicy())):
        _, taken = best_seconds(
            lambda policy=policy: policy.fit(features[rows], table.acc[rows], table.cost, budget=2),
            args.rounds,
        )
        print(f"{name} policy: {taken:.2f} s to learn from 200 questions (under 1 s wanted)")


if __name__ == "__main__":
    main()
