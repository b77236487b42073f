# `make test` and `make train` work on a fresh clone: they set up everything they need in .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PAGE_READY := $(VENV)/.ready-page
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help setup test test-long test-uncompiled lint format train play speed docs clean

help:  ## say what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

setup: $(READY)  ## virtual environment with everything that tests and training need

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[test]'
	@touch $(READY)

$(PAGE_READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[page]'
	@touch $(PAGE_READY)

lint: $(READY)  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint  ## style, types and the tests (a few minutes)
	$(BIN)/python -m pytest -n 2 --dist worksteal

test-uncompiled: $(READY)  ## the rules' tests in plain Python, without Numba's compiler
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 tests/rules tests/test_uncompiled.py

test-long: test test-uncompiled  ## everything, the long tests too
	$(BIN)/python -m pytest -n 2 -m long

train: $(READY)  ## train a 2-player agent for about five minutes, measure it, leave model, curves and games in runs/
	$(BIN)/python -m experiments.train --run runs/first --players 2 --minutes 5 $(if $(wildcard runs/first/checkpoint.bin),--resume)

play: $(PAGE_READY)  ## open the page: play against people and agents, replay records (options: make play PLAY='--port 9000')
	$(BIN)/python -m skyenv play $(PLAY)

speed: $(READY)  ## the figures of the README's speed table
	$(BIN)/python -m experiments.speed

format: $(READY)  ## put the code into the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(READY)  ## write the generated tables of the docs anew
	$(BIN)/python -m experiments.document

clean:  ## remove what can be made again
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
