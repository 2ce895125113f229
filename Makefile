# Everything a bare checkout needs. All targets may be repeated; what is done is not done again.
#
#   make setup                 environment, Chromium, applications
#   make collect ARGS="..."    set up, then the main job (ARGS: --config, --out, key=value)
#   make test                  set up, then every check
#   make audit                 what is known of the locked dependencies' weaknesses; says so where it cannot be asked
#   make fuzz                  a minute of changed data for whatever reads the data of others
#   make full                  every check, then the benchmarks into docs/figures.json
#   make vllm                  set up, then acting and judging on a real vLLM, on the CPU (installs 4 GB, once)
#   make clean                 remove the environment and the tools' caches

SHELL := /bin/bash
BIN := .venv/bin
ARGS ?=

# The newest Python that really runs: a version manager may offer names behind which there is none.
PYTHON ?= $(shell for name in python3.13 python3.12 python3.11 python3; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$name; break; }; done)

.PHONY: help setup collect test lint audit fuzz full vllm clean

help:
	@sed -n '3,10s/^# \{0,3\}//p' Makefile

setup:
	@[ -n "$(PYTHON)" ] || { echo "error: no Python 3.11 or newer found; try 'apt-get install python3 python3-venv'" >&2; exit 1; }
	@$(PYTHON) -m pipeline.bootstrap

collect: setup
	@$(BIN)/python pipeline/collect.py $(ARGS)

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Each file of tests runs in one process, on up to four cores, the longest files first.
test: lint
	$(BIN)/pytest --numprocesses=auto --maxprocesses=4 --dist=loadfile --no-loadscope-reorder $(ARGS)

audit: setup
	@$(BIN)/python -m tests.audit

fuzz: setup
	@$(BIN)/python -m tests.fuzz $(ARGS)

full: test
	@$(BIN)/python -m bench

vllm: setup
	@$(BIN)/python -m tests.vllm_on_cpu $(ARGS)

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
