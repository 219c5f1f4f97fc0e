# On a fresh machine with Python 3.11 or newer:
#
#   make demo          set up .venv and run the demonstration, which ends in a page: demo.html
#   make test          set up .venv, build the wheel and test it
#
# Before a change is proposed:
#
#   make lint          style, types and import layers
#   make docs          the documentation, with its examples run: docs/_build/index.html
#   make test-kernels  the numeric tests with the linear algebra of other processors
#   make test-oldest   the tests with the oldest supported versions of the dependencies
#   make torture       random cases that try to break an invariant: make torture N=100000
#   make fuzz          mutated model files; fuzz N=20000 takes a quarter of an hour
#   make mutants       one change at a time to the numeric core: do the tests notice?
#   make dist          source distribution and wheel, checked as for a release: see RELEASING.md
#
# Research and speed, from a checkout; see experiments/README.md and CONTRIBUTING.md:
#
#   make replicate     run the paper's experiment, as published and corrected; can be resumed
#   make arena         set up .venv-arena with the peers and run all methods; can be resumed
#   make bench         time the parts beside their peers; bench-results keeps the table in docs

PYTHON ?= python3
BIN := .venv/bin
PAGES := README.md $(wildcard docs/*.md docs/*/*.md)
SOURCES := $(shell find src -name '*.py' -o -name '*.c' -o -path '*/templates/*') pyproject.toml setup.py README.md
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal

.PHONY: demo test test-kernels test-oldest browser docs lint dist replicate results arena arena-results splits splits-results bench bench-results onnx-results torture fuzz mutants clean

demo: .venv/installed
	$(BIN)/calibrant demo --output demo.html

test: .venv/test-tools browser
	$(PYTEST) --pyargs calibrant tests $(PAGES) "--doctest-glob=*.md" --cov --cov-report=term $(PYTEST_ARGS)

# OpenBLAS, the linear algebra of NumPy and SciPy, chooses its kernels by the processor, and each
# kernel rounds sums in an order of its own. The two that differ most are the oldest one and the
# newest that this processor can run. What is left out reads files,
# draws or prints; its few numeric comparisons go through the same functions.
NEWEST := $(if $(shell grep -s avx512f /proc/cpuinfo),SKYLAKEX,HASWELL)
NOT_NUMERIC := app benchmarks cli datasets experiments persistence plots report tabular
test-kernels: .venv/test-tools
	for kernel in PRESCOTT $(NEWEST); do \
		echo "OpenBLAS kernels: $$kernel"; \
		OPENBLAS_CORETYPE=$$kernel $(PYTEST) -m "not slow" tests $(NOT_NUMERIC:%=--ignore=tests/%) $(PYTEST_ARGS) || exit 1; \
	done

# Old and new packages meet here that were never meant to: their warnings are no errors.
OLDEST := .venv-oldest/bin
test-oldest: .venv-oldest/installed
	$(OLDEST)/python -m pytest -n 2 --dist worksteal --pyargs calibrant tests \
		"--ignore-glob=*browser*" -W default $(PYTEST_ARGS)

.venv-oldest/installed: .venv/installed
	$(PYTHON) -m venv .venv-oldest
	$(OLDEST)/python -m pip install --quiet uv
	$(OLDEST)/uv pip install --quiet --python $(OLDEST)/python --resolution lowest-direct \
		-r pyproject.toml --extra test "setuptools>=77"
	$(OLDEST)/uv pip install --quiet --python $(OLDEST)/python --reinstall --no-deps dist/*.whl
	touch $@

# Case k is drawn from k alone: python -m tools.torture --only k repeats it.
N ?= 10000
torture: .venv/test-tools
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tools.torture --cases $(N)

# Model files that are forged by hand or mutated are refused, or predict finite numbers.
SEED ?= 0
fuzz: .venv/test-tools
	$(BIN)/python tests/persistence/fuzzing.py --cases $(N) --seed $(SEED)

# Changes to the numeric core that the tests have noticed are not tried again. One module:
# make mutants MODULES=newton
mutants: .venv/test-tools
	$(BIN)/python -m pip install --quiet cosmic-ray
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tools.mutation $(MODULES)

docs: .venv/docs-tools
	rm -rf docs/api/generated
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build

# The report is tested in a real browser. Without one, and without the right to install it,
# these tests are skipped, unless CI is set.
browser:
	@command -v chromium > /dev/null || { test "$$(id -u)" = 0 && apt-get update -qq && \
		apt-get install -qq -y --no-install-recommends chromium > /dev/null; } || \
		echo "No chromium, and no right to install it: the browser tests are skipped."

lint: .venv/lint-tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The wheel is built from the source distribution, which is then tested by itself.
dist: .venv/bin/python
	rm -rf build dist
	$(BIN)/python -m pip install --quiet build twine
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*
	mkdir -p build/sdist
	tar -xzf dist/*.tar.gz -C build/sdist --strip-components=1
	$(MAKE) -C build/sdist test

# The package is installed from its wheel, not from the source tree, so that what is
# tested is what users get.
.venv/installed: $(SOURCES) | .venv/bin/python
	rm -rf build dist
	$(BIN)/python -m pip install --quiet "setuptools>=77" build
	$(BIN)/python -m build --quiet --wheel --no-isolation
	$(BIN)/python -m pip install --quiet "$$(ls dist/*.whl)[cli,plots]"
	$(BIN)/python -m pip install --quiet --force-reinstall --no-deps dist/*.whl
	touch $@

.venv/test-tools: .venv/installed
	$(BIN)/python -m pip install --quiet "$$(ls dist/*.whl)[test]"
	touch $@

.venv/lint-tools: .venv/installed
	$(BIN)/python -m pip install --quiet "$$(ls dist/*.whl)[lint]"
	touch $@

.venv/docs-tools: .venv/installed
	$(BIN)/python -m pip install --quiet "$$(ls dist/*.whl)[docs]"
	touch $@

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

clean:
	rm -rf .venv .venv-arena .venv-oldest build dist src/*.egg-info demo.html docs/_build docs/api/generated docs/gallery

# Experiments; finished tasks are stored and not repeated. See experiments/README.md.
STORE ?= results.sqlite
EXPERIMENTS = $(BIN)/python -m experiments

# The paper's experiment, as published and corrected, with naive Bayes and the forest. The forest
# takes almost all of the time, so naive Bayes goes first.
replicate: .venv/installed
	for classifier in nb rf; do \
		for name in as-published paper; do \
			$(EXPERIMENTS) run --experiment $$name --classifiers $$classifier --store $(STORE) || exit 1; \
		done; \
	done

# The tables of results/paper, from a store.
results: .venv/installed
	$(EXPERIMENTS) tables --table data-sets --format markdown > results/paper/data-sets.md
	for name in as-published paper; do \
		tables="$(EXPERIMENTS) tables --experiment $$name --store $(STORE)"; \
		for table in results effects approaches times; do \
			$$tables --table $$table --format markdown > results/paper/$$name-$$table.md || exit 1; \
		done; \
		$$tables --table results --metrics equations --test corrected --format markdown \
			> results/paper/$$name-results-equations.md || exit 1; \
		$$tables --table folds --format csv > results/paper/$$name-folds.csv || exit 1; \
	done

# The table of differences between exported models and the originals.
onnx-results: .venv/test-tools
	$(BIN)/python -m experiments.onnx_differences > results/onnx/differences.md

# The methods of calibrant and of other packages, in a separate environment.
ARENA := .venv-arena/bin
ARENA_EXPERIMENTS = $(ARENA)/python -m experiments
ARENAS := arena-25 arena-50 arena-100 arena-200 arena-500 arena
arena: .venv-arena/installed
	for name in $(ARENAS); do \
		OMP_NUM_THREADS=1 $(ARENA_EXPERIMENTS) run --experiment $$name --store $(STORE) || exit 1; \
	done

.venv-arena/installed: .venv/installed
	$(PYTHON) -m venv .venv-arena
	$(ARENA)/python -m pip install --quiet torch==2.13.0 probmetrics==1.3.0 numba venn-abers==1.5.4 netcal==1.4.0
	$(ARENA)/python -m pip install --quiet "$$(ls dist/*.whl)[cli,fast,plots]"
	$(ARENA)/python -m pip install --quiet --force-reinstall --no-deps dist/*.whl
	touch $@

# The tables and diagrams of results/arena, from a store.
arena-results: .venv-arena/installed
	for name in $(ARENAS); do \
		tables="$(ARENA_EXPERIMENTS) tables --experiment $$name --store $(STORE)"; \
		for table in methods classifiers harmed; do \
			$$tables --table $$table --format markdown > results/arena/$$name-$$table.md || exit 1; \
		done; \
		$$tables --table losses --format csv > results/arena/$$name-losses.csv || exit 1; \
		$(ARENA_EXPERIMENTS) ranks --experiment $$name --store $(STORE) \
			--output results/arena/$$name-ranks.png || exit 1; \
	done
	for table in sizes svc harm; do \
		$(ARENA_EXPERIMENTS) tables --table $$table --store $(STORE) --format markdown \
			> results/arena/$$table.md || exit 1; \
	done

# Kinds and numbers of splits for the default, and the tables of results/splits, from a store.
SPLITS := splits-50 splits-100 splits-200
splits: .venv-arena/installed
	for name in $(SPLITS); do \
		OMP_NUM_THREADS=1 $(ARENA_EXPERIMENTS) run --experiment $$name --store $(STORE) || exit 1; \
	done

splits-results: .venv-arena/installed
	$(ARENA_EXPERIMENTS) tables --table splits --store $(STORE) --format markdown > results/splits/splits.md
	for name in $(SPLITS); do \
		$(ARENA_EXPERIMENTS) tables --experiment $$name --table losses --store $(STORE) --format csv \
			> results/splits/$$name-losses.csv || exit 1; \
	done

# Ratios of speed beside the peers, which are in the arena's environment.
bench: .venv-arena/installed
	$(ARENA)/python -m benchmarks

bench-results: .venv-arena/installed
	mkdir -p build
	$(ARENA)/python -m benchmarks --markdown > build/table.md
	(sed '/^## The table/q' docs/performance.md; echo; cat build/table.md) > build/performance.md
	mv build/performance.md docs/performance.md
