"""A module imports only from modules above it, in the order in which data flows."""

import ast

from conftest import ROOT

# One idea a module, from the table of utilities down to the command line. A package stands for its modules.
ORDER = """
    problem                                    the utility table
    algebra answers counting vote              read answers, compare them, count votes
    jsonl responses datasets                   anyone's sampled answers
    simulate                                   populations whose truth is known
    oracle envelope frontier reference integer the price of compute and every budget at once
    theory                                     every statement, measured
    features embedding boosting curves policy  what can be learned before asking
    baselines                                  what a policy has to beat
    evaluate rehearse signals tally heldout    honest comparison
    protocols                                  two ways to score, side by side
    results patterns ablations replication     the paper's tables, beside ours
    figures explorer exercises                 what the book shows
    llm                                        any endpoint, and a small model of our own
    commands cli __main__                      the command line
"""
RANK = {name: rank for rank, name in enumerate(word for line in ORDER.splitlines() for word in line[:47].split())}


def top_modules() -> dict[str, list]:
    """Every module of the package, by the name of the file or folder at the top."""
    found: dict[str, list] = {}
    for file in sorted((ROOT / "adalib").rglob("*.py")):
        parts = file.relative_to(ROOT / "adalib").with_suffix("").parts
        if parts != ("__init__",):
            found.setdefault(parts[0], []).append(file)
    return found


def imported(file) -> set[str]:
    """The top modules of adalib that a file imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "adalib":
            names |= {f"adalib.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return {name.split(".")[1] for name in names if name.startswith("adalib.")} - {"__version__"}


def test_every_module_has_its_place():
    assert set(top_modules()) == set(RANK)


def test_imports_go_up():
    wrong = [
        f"{file.relative_to(ROOT)} imports {name}"
        for module, files in top_modules().items()
        for file in files
        for name in imported(file) - {module}
        if RANK[name] > RANK[module]
    ]
    assert wrong == []
