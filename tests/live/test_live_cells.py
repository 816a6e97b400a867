"""Python's side of the cells that run in the page, and the files that the page loads."""

import ast
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import live_cells

from contents import lessons
from editions import pyodide

ROOT = Path(__file__).parent.parent.parent
CHAPTERS = [page.path for page in lessons() if page.runs_live]


@pytest.fixture
def cells(monkeypatch):
    """The module that a page loads, and a page that writes down what its cells show."""
    for name in ("IPython", "IPython.display"):  # a page puts its own there
        monkeypatch.setitem(sys.modules, name, sys.modules.get(name))
    spec = importlib.util.spec_from_file_location(
        "adalib_live", ROOT / "book" / "_static" / "live.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    shown = []
    page = module.Page(lambda kind, text: shown.append((kind, text)))
    return module, page, shown


@pytest.mark.parametrize(
    ("source", "made", "taken"),
    [
        ("import numpy as np\nx = np.zeros(n)", {"np", "x"}, {"n"}),
        ("x = x + 1", {"x"}, {"x"}),
        ("total += 1", {"total"}, {"total"}),
        ("def f(a):\n    b = a + c\n    return f(b)", {"f"}, {"c"}),
        ("rows = [g(i) for i in range(3)]", {"rows"}, {"g"}),
        ("kept = {key: kept[key] for key in keys}", {"kept"}, {"kept", "keys"}),
        ("x = [x for x in x]", {"x"}, {"x"}),
        ("for i in many:\n    last = i", {"i", "last"}, {"many"}),
        ("for i in many:\n    total += i", {"i", "total"}, {"many", "total"}),
        ("with open(name) as file:\n    text = file.read()", {"file", "text"}, {"name"}),
        ("a, (b, *c) = d", {"a", "b", "c"}, {"d"}),
        ("f = lambda x: x * scale", {"f"}, {"scale"}),
        ("class A(Base):\n    size = width", {"A"}, {"Base", "width"}),
    ],
)
def test_names_of_a_cell(cells, source, made, taken):
    assert cells[0].names(source) == (made, taken)


def test_a_cell_brings_the_cells_that_it_needs(cells):
    _, page, shown = cells
    sources = ["x = 1", "print('never')", "y = x + 1", "y = 100", "z = y", "y"]
    page.update([(source, at == 3, False) for at, source in enumerate(sources)])
    assert page.needs(4) == [0, 2]  # not cell 3, which belongs to a solution
    assert all(page.run(at) for at in (0, 2, 4))
    assert page.needs(5) == []
    assert page.run(5)
    assert shown == [("text", "2\n")]
    assert page.above(5) == [0, 1, 2, 4]


FOLDED = """\
import not_installed
rows = []
total = {}
print("drawn")
for i in range(3):
    rows.append(i)
total["rows"] = len(rows)

"""


def test_of_a_folded_cell_only_what_is_needed_runs(cells):
    _, page, shown = cells
    page.update([(FOLDED, False, True), ("rows", False, False), ("total", False, False)])
    assert page.needs(1) == [0]
    assert page.needed == {0: [1, 4]}  # with the loop that fills it
    assert page.run_needed(0)
    assert page.run(1)
    assert page.needs(2) == [0]
    assert page.needed == {0: [2, 5]}  # the list is there already
    assert page.run_needed(0)
    assert page.run(2)
    assert shown == [("text", "[0, 1, 2]\n"), ("text", "{'rows': 3}\n")]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_what_runs_before_a_cell_makes_all_of_its_names(cells, path):
    module, page, _ = cells
    page.update(live_cells(path))
    for at, (source, _, folded) in enumerate(page.cells):
        made = {"display"}
        for cell in [] if folded else page.needs(at):
            statements = ast.parse(page.cells[cell][0]).body
            for part in page.needed[cell]:
                code = page.cells[cell][0] if part is None else ast.unparse(statements[part])
                assert module.names(code)[1] <= made, f"cell {at + 1}: {code[:80]}"
                made |= module.names(code)[0]
        assert folded or module.names(source)[1] <= made, f"cell {at + 1}"


def test_the_first_numbers_of_a_chapter_need_neither_pandas_nor_sympy(cells):
    """In a process of its own, which has imported nothing yet."""
    _, page, _ = cells
    chapter = next(path for path in CHAPTERS if path.stem == "02_oracle")
    page.update(live_cells(chapter))
    first = next(at for at, (_, _, folded) in enumerate(page.cells) if not folded)
    assert page.needs(first) == []
    statements = ast.parse(page.cells[first][0]).body
    imports = [s for s in statements if isinstance(s, ast.Import | ast.ImportFrom)]
    code = "\n".join(ast.unparse(s) for s in imports)
    slow = {"pandas", "sympy", "tqdm", "plotly", "scipy"}
    code += f"\nimport sys\nprint(sorted({slow} & set(sys.modules)))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment)
    assert done.stdout.decode().strip() == "[]", done.stderr.decode()


def test_an_error_shows_its_last_line(cells):
    _, page, shown = cells
    source = "def f(n):\n    return 1 / n\n\n\nprint('before')\nf(0)"
    ragged = "import numpy as np\nnp.array([[1, 2], [3]])"
    page.update([(source, False, False), ("(", False, False), (ragged, False, False)])
    assert not page.run(0)
    assert shown[:2] == [("text", "before"), ("text", "\n")]
    (error, last), (trace, rest) = shown[2:]
    assert (error, last, trace) == ("error", "ZeroDivisionError: division by zero", "trace")
    assert "return 1 / n" in rest
    assert "live.py" not in rest
    assert page.needs(0) == []  # it may run again
    assert not page.run(1)
    assert shown[-2][1].startswith("SyntaxError")
    assert not page.run(2)
    assert "equally long" in shown[-2][1]


def test_values_are_shown_as_a_notebook_shows_them(cells):
    module, page, shown = cells
    import plotly.graph_objects as go

    from adabook.exercises import checks

    kind, html = module.shown(go.Figure(go.Bar(y=[1, 2])))
    assert kind == "html"
    assert "plotly-graph-div" in html
    check = checks("oracle")
    assert module.shown(check("oracle", None))[0] == "unanswered"
    # With the smallest case.
    assert module.shown(check("oracle", lambda acc, cost, lam: [0] * len(acc)))[0] == "html"
    page.update(
        [
            (
                "from IPython.display import HTML, display\n"
                "display(HTML('<b>1</b>'), None)\n'text'",
                False,
                False,
            )
        ]
    )
    assert page.run(0)
    assert shown == [("html", "<b>1</b>"), ("text", "'text'\n")]


def test_modules_come_when_they_are_first_imported(cells, monkeypatch, tmp_path):
    module, _, _ = cells
    monkeypatch.syspath_prepend(tmp_path)
    brought = []

    def bring(name):
        brought.append(name)
        (tmp_path / f"{name}.py").write_text("value = 7")

    finder = module.OnDemand(["adalib_test_module"], bring)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, finder])
    for _ in range(2):
        assert __import__("adalib_test_module").value == 7
    assert brought == ["adalib_test_module"]
    with pytest.raises(ModuleNotFoundError, match="Jupyter alone"):
        finder.find_spec("ipywidgets")


# The files that make a Python


@pytest.fixture
def place(monkeypatch, tmp_path):
    """A place with two files, a list that names them, and a cache."""
    (tmp_path / "place").mkdir()
    sums = {}
    for name in ("core.wasm", "numpy.whl"):
        (tmp_path / "place" / name).write_bytes(name.encode())
        sums[name] = hashlib.sha256(name.encode()).hexdigest()
    about = {
        "carrier": "nobody",
        "core": {"core.wasm": sums["core.wasm"]},
        "wheels": {"numpy.whl": ["numpy", sums["numpy.whl"]]},
    }
    (tmp_path / "list.json").write_text(json.dumps(about))
    monkeypatch.setattr(pyodide, "ABOUT", tmp_path / "list.json")
    monkeypatch.setenv(pyodide.SOURCE, str(tmp_path / "place"))
    return tmp_path


def test_files_come_once_from_the_place_that_is_named(place, monkeypatch):
    pyodide.fetch(place / "cache")
    assert {file.name for file in (place / "cache").iterdir()} == {"core.wasm", "numpy.whl"}
    monkeypatch.setenv(pyodide.SOURCE, "http://127.0.0.1:9/nothing")
    pyodide.fetch(place / "cache")  # asks nobody
    (place / "cache" / "core.wasm").write_bytes(b"spoiled")
    with pytest.raises(RuntimeError, match="ADALIB_PYODIDE"):
        pyodide.fetch(place / "cache")


def test_a_file_with_another_sum_is_refused(place):
    (place / "place" / "numpy.whl").write_bytes(b"another")
    with pytest.raises(RuntimeError, match="numpy.whl"):
        pyodide.fetch(place / "cache")
    assert not (place / "cache" / "numpy.whl").exists()


def test_where_nothing_can_be_downloaded_one_sentence_says_what_to_do(place, monkeypatch):
    monkeypatch.delenv(pyodide.SOURCE)
    for name, value in {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": "",
        "PIP_CONFIG_FILE": "/dev/null",
    }.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(RuntimeError, match="nobody.*ADALIB_PYODIDE"):
        pyodide.fetch(place / "cache")


def test_what_a_page_loads_is_packed_with_its_data(place, monkeypatch):
    """Every file that the index names is there, and no compiled file of this system is among the
    packages."""
    about = json.loads((place / "list.json").read_text()) | {"info": {}}
    (place / "list.json").write_text(json.dumps(about))
    monkeypatch.setattr(pyodide, "PURE", ("lazy-loader", "tqdm"))
    target = place / "live"
    size = pyodide.write_live(ROOT, place / "cache", target)
    assert size == sum(file.stat().st_size for file in target.rglob("*") if file.is_file())
    index = json.loads((target / "index.json").read_text())
    assert set(index["modules"]) == {"numpy", "adabook", "adalib", "lazy_loader", "tqdm"}
    assert all(
        (target / name).stat().st_size == index["bytes"][name] for name in index["modules"].values()
    )
    assert all((target / "data" / f"{name}.bin").exists() for name in index["data"])
    assert "answers/word-fewshot.jsonl.gz" in index["data"]
    with zipfile.ZipFile(target / "adalib.zip") as ours:
        assert {"adalib/__init__.py", "adalib/explorer/front/explorer.css"} <= set(ours.namelist())
        assert not [
            name for name in ours.namelist() if "__pycache__" in name or name.endswith(".so")
        ]
