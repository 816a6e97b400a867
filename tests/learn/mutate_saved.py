"""Load damaged policies in a child process: a crash of the interpreter is a missing last line.

Run as ``python mutate_saved.py FOLDER SEED COUNT``: one value somewhere in a saved file is
replaced, removed or repeated, and then the file is read and used.
"""

import copy
import json
import random
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from adalib import CurvePolicy, DataError, LabelPolicy

KINDS = {"label": LabelPolicy, "curve": CurvePolicy}
ODD = (-1, 0, 1, 7, 2**31, 2**63, -1.5, 1e300, True, None, "", "1", "999999", "x", [], {}, [[]])


def mutate(value, rng):
    """Change one thing somewhere inside."""
    inside = value
    while True:
        keys = list(inside) if isinstance(inside, dict) else range(len(inside))
        key = rng.choice(keys)
        child = inside[key]
        if not (isinstance(child, dict | list) and child and rng.random() < 0.9):
            break
        inside = child
    kind = rng.randrange(3)
    if kind == 0:
        del inside[key]
    elif kind == 1 and isinstance(inside, list):
        inside.insert(key, copy.deepcopy(inside[rng.randrange(len(inside))]))
    else:
        inside[key] = copy.deepcopy(rng.choice(ODD))


def main(folder, seed, count):
    """Damage, load, use and count; the last line tells how often each end was met."""
    rng = random.Random(seed)
    ends = Counter()
    sound = [json.loads(path.read_text()) for path in sorted(Path(folder).glob("*.json"))]
    path = Path(folder) / "damaged"
    for _ in range(count):
        values = copy.deepcopy(rng.choice(sound))
        kind = KINDS[values["kind"]]
        mutate(values, rng)
        path.write_text(json.dumps(values) + "\n")
        try:
            policy = kind.load(path)
            asked = np.random.default_rng(0).normal(0, 3, (8, policy.n_features_in_))
            policy.predict(asked)
            ends["loaded"] += 1
        except DataError as error:
            if str(path) not in str(error) or "\n" in str(error):
                sys.exit(f"not one sentence: {error}")
            ends["refused"] += 1
        except ValueError as error:
            if "has no price" not in str(error):
                sys.exit(f"not a sentence about the file: {error!r}")
            ends["no price"] += 1
    print(json.dumps({"done": count, **ends}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
