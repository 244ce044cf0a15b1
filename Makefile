# Everything that a fresh clone needs: `make demo` and `make test` set up what they use.
SHELL := /bin/sh
BIN := .venv/bin
# Most tests wait for a browser or a clock of its own: more at a time than there are cores.
WORKERS ?= 6
# Each worker and each process that a test starts would compile everything anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo test test-all check format bench clean

help:           ## What there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

.venv/ready: pyproject.toml scripts/make-venv
	@scripts/make-venv

setup: .venv/ready  ## A .venv with the package, and a browser
	@$(BIN)/python -m bughunt.browser.provision

demo: setup     ## The seven scenarios, naive beside careful, and a report
	@$(BIN)/bughunt demo

test: setup     ## The tests, in random order
	@$(BIN)/python -m pytest -n $(WORKERS) -m "not thorough and not real_apps"

test-all: setup ## And all variants, and real web applications, which are installed for them
	@scripts/make-apps
	@$(BIN)/python -m pytest -n $(WORKERS) -m "not real_apps"
	@$(BIN)/python -m pytest -n 2 -m real_apps

check: .venv/ready  ## Format, lint, types, layers
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: .venv/ready ## Put the code into shape
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: setup    ## What an investigation costs beside a bare Playwright script
	@$(BIN)/bughunt bench overhead

clean:          ## Remove what was set up or made here
	rm -rf .venv .venv-apps .bughunt bughunt-report .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis build dist
