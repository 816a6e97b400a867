"""Load thousands of damaged files in one child process: a crash of the interpreter is a missing
last line.

Run as ``python mutate_saved.py FOLDER SEED COUNT``. Every file of the folder is damaged in turn:
its bytes as they are, or its values with a repaired checksum, so that the checks behind the
checksum are what is tried.
"""

import copy
import json
import random
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from adalib.datasets.files import DataError
from adalib.datasets.sealed import digest, seal
from adalib.learn.policies import load_policy
from adalib.router.router import Router

GROWN = ("label.json", "curve.json", "histogram.json")
ODD = (
    -1,
    0,
    1,
    2,
    3,
    7,
    2**31 - 1,
    2**31,
    -(2**31),
    2**63,
    10**299,
    -1.5,
    0.5,
    1e300,
    5e-324,
    True,
    None,
)
ODD += (
    "",
    "0",
    "1",
    "-1",
    "999999",
    "4294967295",
    "1e9",
    "[1,2]",
    "nan",
    "gbtree",
    "x" * 300,
    [],
    {},
    [[]],
    [0] * 5,
)


def mutate(value, rng):
    """Change one thing somewhere inside."""
    inside = value
    while True:
        keys = list(inside) if isinstance(inside, dict) else range(len(inside))
        if not keys:
            return
        key = rng.choice(keys)
        child = inside[key]
        if not (isinstance(child, dict | list) and child and rng.random() < 0.9):
            break
        inside = child
    kind = rng.randrange(5)
    if kind == 0:
        del inside[key]
    elif kind == 1 and isinstance(inside, list):
        inside.insert(key, copy.deepcopy(inside[rng.randrange(len(inside))]))
    elif kind == 2 and isinstance(inside, list):
        other = rng.randrange(len(inside))
        inside[key], inside[other] = inside[other], inside[key]
    elif kind == 3 and isinstance(child, int | float) and not isinstance(child, bool):
        inside[key] = child + rng.choice((-1, 1, 2, 1000, -1000))
    elif kind == 3 and isinstance(child, str):
        inside[key] = child.replace(
            rng.choice("0123456789[]:"), rng.choice(("", "0", "9", "99", "-"))
        )
    else:
        inside[key] = copy.deepcopy(rng.choice(ODD))


def damaged(content, rng, reseal):
    """The bytes of a damaged file."""
    if not reseal:
        found = bytearray(content)
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(len(found))
            found[place : place + rng.choice((0, 1, 1, 5))] = rng.randbytes(
                rng.choice((0, 1, 1, 4))
            )
        return bytes(found[: rng.randrange(len(found))] if rng.random() < 0.1 else found)
    lines = [json.loads(line) for line in content.splitlines()]
    for _ in range(rng.randint(1, 2)):
        mutate(lines[rng.randrange(len(lines))], rng)
    if isinstance(lines[0], dict) and "format" in lines[0]:
        lines = seal(lines)
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def use(path):
    """Load a policy or the router of a folder, and decide with it."""
    if path.name in GROWN:
        policy = load_policy(path)
        asked = np.random.default_rng(0).normal(0, 3, (8, policy.n_features_in_))
        policy.predict(asked)
        assert policy.model_ is None or np.isfinite(policy.model_.predict(asked)).all()
    else:
        router = Router.load(path.parent)
        for text in ("", "How many hens?"):
            plan = router.plan(text, router.controller.price)
            while plan.session.add("7", logprob=-0.5):
                pass


def main(folder, seed, count):
    """Damage, load, count; the last line says how often each end was met."""
    rng, ends = random.Random(seed), Counter()
    paths = sorted(Path(folder).rglob("*.json"))
    whole = {path: path.read_bytes() for path in paths}
    grown = [path for path in paths if path.name in GROWN]
    for number in range(count):
        path = rng.choice(grown if rng.random() < 0.7 else paths)
        reseal = rng.random() < 0.85
        path.write_bytes(damaged(whole[path], rng, reseal))
        manifest = path.parent / "router.json"
        if reseal and manifest.exists() and path != manifest:
            about = json.loads(whole[manifest])
            about["files"][path.name] = digest(path)
            manifest.write_text(json.dumps(seal([about])[0]) + "\n")
        print(number, path.name, flush=True, file=sys.stderr)
        try:
            use(path)
            ends["loaded"] += 1
        except DataError as error:
            if "\n" in str(error) or len(str(error)) > 1000:
                sys.exit(f"not one line: {error}")
            ends["refused"] += 1
        except ValueError as error:
            # Sound, and without a price for this budget: said in one line when it is asked.
            if "budget" not in str(error):
                sys.exit(f"{path} {number}: {error!r}")
            ends["no price"] += 1
        for changed in {path, manifest} & set(whole):
            changed.write_bytes(whole[changed])
    print(json.dumps({"done": count, **ends}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
