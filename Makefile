# Everything happens in .venv, made on first use. PYTHON chooses the interpreter it is made from.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

# Wheels only: no compiler is needed. Versions are those of constraints.txt.
export PIP_DISABLE_PIP_VERSION_CHECK := 1
PIP_INSTALL := $(BIN)/python -m pip install --quiet --only-binary :all: -c constraints.txt

# One test process per core, one thread in each: threads within threads only fight for the cores.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1
WORKERS    ?= logical
PYTEST     := $(ONE_THREAD) $(BIN)/python -m pytest -n $(WORKERS) --maxprocesses 8 --dist worksteal

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-all browser chromium bundle check format bench clean

help:
	@echo "make demo      set up, make maps of generated data, write a picture"
	@echo "make test      set up and run the tests"
	@echo "make test-all  the same with the slow tests"
	@echo "make browser   install Chromium where it is missing, test the report in it"
	@echo "make bundle    make the report's drawing library again (needs npm); WRITE=1 keeps it"
	@echo "make check     lint, format, types, import order of the rooms"
	@echo "make format    let ruff format and fix what it can"
	@echo "make bench     measure gramfold beside its peers"
	@echo "make clean     remove the environment and every cache"

demo: $(VENV)/.demo-installed
	@$(BIN)/gramfold demo

test: $(VENV)/.test-installed
	$(PYTEST) -m "not slow"

test-all: $(VENV)/.test-installed
	$(PYTEST)

# Here a missing browser is a failure; in `make test` its tests are skipped.
browser: chromium $(VENV)/.test-installed
	GRAMFOLD_BROWSER=required $(PYTEST) tests/report/browser

chromium:
	@tools/install_chromium.sh

bundle:
	@$(PYTHON) tools/bundle/make.py $(if $(WRITE),--write)

check: $(VENV)/.dev-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev-installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.test-installed
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

# The check comes first, so that an old Python gets a sentence and not a traceback.
$(VENV)/.created:
	@command -v $(PYTHON) >/dev/null || { echo "No '$(PYTHON)' was found: install Python 3.11 or newer, or name yours, as in \`make demo PYTHON=/path/to/python\`." >&2; exit 1; }
	@$(PYTHON) tools/check_python.py
	@echo "Making the virtual environment $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

# demo, test and dev are extras of pyproject.toml. The build backend is installed first, under the same
# constraints, instead of being fetched anew and unpinned into a throw-away environment.
$(VENV)/.%-installed: pyproject.toml constraints.txt | $(VENV)/.created
	@echo "Installing gramfold[$*] into $(VENV) (the first time takes a minute or two)"
	@$(PIP_INSTALL) hatchling
	@$(PIP_INSTALL) --no-build-isolation -e ".[$*]"
	@touch $@
