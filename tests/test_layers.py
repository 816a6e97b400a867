"""A folder imports only from folders below it, in the order in which data flows."""

import ast

from conftest import ROOT

# From the ground floor up: a room imports only from rooms below it, which stand before it here.
ORDER = """
    drafts       nothing half-written is taken for a result
    colours      one colour a budget
    table        the utility table
    vote         read answers, compare them, count votes
    datasets     anyone's sampled answers; populations whose truth is known
    solve        the price of compute, and every budget at once
    scale        the same on more rows than memory, on more machines than one
    learn        what can be known before asking
    sequential   what can be known while the answers come in
    evaluate     honest comparison
    llm          any endpoint, and a small model of our own
    router       the policy at work, with a budget that is held
    explorer     drag the price, on a page or in Jupyter
    commands     the command line
    __main__
    paper        all that speaks of the paper alone
    teach        figures and exercises
"""
RANK = {line.split()[0]: rank for rank, line in enumerate(ORDER.strip().splitlines())}


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


def test_imports_go_down():
    wrong = [
        f"{file.relative_to(ROOT)} imports {name}"
        for module, files in top_modules().items()
        for file in files
        for name in imported(file) - {module}
        if RANK[name] > RANK[module]
    ]
    assert wrong == []
