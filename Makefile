# Every target sets up what it needs; `make` alone lists them.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
COMPILED := .venv/compiled
ENGINE_TESTS ?= engine or fault
ENGINE_FILES = $(shell grep -rlE 'mark\.(engine|fault)' tests --include='test_*.py')
PIP_INSTALL = $(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt
# Tests start many processes, each of which would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo test engines lowest lint bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## a virtual environment in .venv with every extra, versions pinned by constraints.txt

# Modules are compiled when they are first imported: most of those that pip would compile never are.
$(READY): setup.py constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP_INSTALL) pip setuptools wheel
	$(PIP_INSTALL) torch
	$(PIP_INSTALL) --no-build-isolation --editable '.[dev]'
	touch $(READY)

# The workers of the tests begin at the same time, so each would compile all modules. The tests report a failure here.
$(COMPILED): $(READY)
	-$(BIN)/python -m pytest --collect-only --quiet > /dev/null
	touch $@

demo: $(READY) ## from nothing to answered questions, on generated logs, in a few minutes
	$(BIN)/python -m jobs.demo

test: $(COMPILED) ## all tests but those of `make engines`
	$(BIN)/python -m pytest -n 3 --dist loadgroup -m "not engine and not fault"

engines: $(READY) ## pipelines on every engine at hand (Prism, Spark, Beam's job service), commands that are killed, fail or race
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "$(ENGINE_TESTS)" $(ENGINE_FILES)

lowest: $(READY) ## all tests with the oldest versions that setup.py permits, but for torch
	$(PYTHON) -m venv --clear build/lowest
	$(BIN)/python -m tests.support.lowest_versions > build/lowest/versions.txt
	build/lowest/bin/python -m pip install --quiet --upgrade pip setuptools wheel
	build/lowest/bin/python -m pip install --quiet --no-compile --constraint constraints.txt torch
	build/lowest/bin/python -m pip install --quiet --no-compile --requirement build/lowest/versions.txt
	$(BIN)/python -m tests.support.lowest_versions build/lowest > build/lowest/others.txt
	build/lowest/bin/python -m pip install --quiet --no-compile --no-deps --requirement build/lowest/others.txt
	build/lowest/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	build/lowest/bin/python -m pytest -n 3 --dist loadgroup --override-ini filterwarnings=ignore -m "not engine and not fault"

lint: $(READY) ## style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY) ## benchmarks without data of your own; the others are in docs/benchmarks.md
	$(BIN)/python -m benchmarks.pipelines.clusters
	$(BIN)/python -m benchmarks.pipelines.components
	$(BIN)/python -m benchmarks.training.steps padded

clean: ## remove what the targets made
	rm -rf .venv build dist demo *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
