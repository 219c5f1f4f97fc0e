# make demo: set up .venv and run the demonstration, which ends in a page.
# make test: set up .venv, build the wheel and test it.
# make docs: build the pages of docs and run their examples: docs/_build/index.html.
# make lint: style, types and layers.
# make arena: set up .venv-arena with the peers and run all methods beside them; resumable.
# make bench: time the parts beside their peers, in .venv-arena; bench-results keeps the table in docs.

PYTHON ?= python3
BIN := .venv/bin
PAGES := README.md $(wildcard docs/*.md docs/questions/*.md)
SOURCES := $(shell find src -name '*.py' -o -name '*.c' -o -path '*/templates/*') pyproject.toml setup.py README.md

.PHONY: demo test browser docs lint results arena arena-results bench bench-results clean

demo: .venv/installed
	$(BIN)/calibrant demo --output demo.html

test: .venv/test-tools browser
	$(BIN)/python -m pytest --pyargs calibrant tests $(PAGES) -n 2 --dist worksteal "--doctest-glob=*.md" \
		--cov --cov-report=term $(PYTEST_ARGS)

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
	rm -rf .venv .venv-arena build dist src/*.egg-info demo.html docs/_build docs/api/generated docs/gallery

# Tables of results/paper from a store of finished runs.
STORE ?= results.sqlite
TABLES = $(BIN)/calibrant bench tables --store $(STORE)
results: .venv/installed
	$(TABLES) --table data-sets --format markdown > results/paper/data-sets.md
	for protocol in as-published proper; do \
		flag=$$(test $$protocol = as-published && echo --as-published); \
		for table in results effects approaches times; do \
			$(TABLES) $$flag --table $$table --format markdown > results/paper/$$protocol-$$table.md || exit 1; \
		done; \
		$(TABLES) $$flag --table results --metrics equations --test corrected --format markdown \
			> results/paper/$$protocol-results-equations.md || exit 1; \
		$(TABLES) $$flag --table folds --format csv > results/paper/$$protocol-folds.csv || exit 1; \
	done

# All methods beside their peers, in an environment of their own.
ARENA := .venv-arena/bin
SIZES := arena arena-50 arena-100 arena-200
arena: .venv-arena/installed
	for suite in $(SIZES); do \
		OMP_NUM_THREADS=1 $(ARENA)/calibrant bench run --suite $$suite --store $(STORE) || exit 1; \
	done

.venv-arena/installed: .venv/installed
	$(PYTHON) -m venv .venv-arena
	$(ARENA)/python -m pip install --quiet torch==2.13.0 probmetrics==1.3.0 numba venn-abers==1.5.4 netcal==1.4.0
	$(ARENA)/python -m pip install --quiet "$$(ls dist/*.whl)[cli,fast,plots]"
	$(ARENA)/python -m pip install --quiet --force-reinstall --no-deps dist/*.whl
	# Needed for probmetrics' Dirichlet; where it cannot be built, its row says so.
	-$(ARENA)/python -m pip install --quiet dirichletcal
	touch $@

arena-results: .venv-arena/installed
	for suite in $(SIZES); do \
		for table in methods classifiers harmed; do \
			$(ARENA)/calibrant bench tables --suite $$suite --store $(STORE) --table $$table \
				--format markdown > results/arena/$$suite-$$table.md || exit 1; \
		done; \
		$(ARENA)/calibrant bench tables --suite $$suite --store $(STORE) --table losses --format csv \
			> results/arena/$$suite-losses.csv || exit 1; \
		$(ARENA)/calibrant bench ranks --suite $$suite --store $(STORE) \
			--output results/arena/$$suite-ranks.png || exit 1; \
	done

# Ratios of speed beside the peers, which are in the arena's environment.
bench: .venv-arena/installed
	$(ARENA)/python -m benchmarks

bench-results: .venv-arena/installed
	mkdir -p build
	$(ARENA)/python -m benchmarks --markdown > build/table.md
	(sed '/^## The table/q' docs/performance.md; echo; cat build/table.md) > build/performance.md
	mv build/performance.md docs/performance.md
