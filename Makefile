# make demo: set up .venv and run the demonstration.
# make test: set up .venv, build the wheel and test it.
# make lint: style, types and layers.

PYTHON ?= python3
BIN := .venv/bin
SOURCES := $(shell find src -name '*.py') pyproject.toml README.md

.PHONY: demo test lint results clean

demo: .venv/installed
	$(BIN)/calibrant demo --output demo.png

test: .venv/installed
	$(BIN)/python -m pytest --pyargs calibrant tests README.md docs -n 2 --dist worksteal "--doctest-glob=*.md" \
		--cov --cov-report=term $(PYTEST_ARGS)

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
	$(BIN)/python -m pip install --quiet "$$(ls dist/*.whl)[test]"
	$(BIN)/python -m pip install --quiet --force-reinstall --no-deps dist/*.whl
	touch $@

.venv/lint-tools: .venv/installed
	$(BIN)/python -m pip install --quiet "$$(ls dist/*.whl)[lint]"
	touch $@

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

clean:
	rm -rf .venv build dist src/*.egg-info demo.png

# Tables of results/paper from a store of finished runs.
STORE ?= results.sqlite
TABLES = $(BIN)/calibrant bench tables --store $(STORE)
results: .venv/installed
	for protocol in as-published proper; do \
		flag=$$(test $$protocol = as-published && echo --as-published); \
		for table in results effects times; do \
			$(TABLES) $$flag --table $$table --format markdown > results/paper/$$protocol-$$table.md; \
		done; \
		$(TABLES) $$flag --table folds --format csv > results/paper/$$protocol-folds.csv; \
	done
	$(TABLES) --table results --metrics equations --test corrected --format markdown \
		> results/paper/proper-results-equations.md
