# make demo   a policy steers a job through a surge; ends with a report in out/demo
# make test   what must hold, but for the stories on a cluster
# make test-cluster  the stories of surges on a standalone cluster, ten minutes more
# make test-versions  an attached query on each PySpark from 3.5 on, in environments of their own
# make docs   the pages of docs/reference, made from the code
# make reproduction  docs/reproduction.md: the papers' figures beside ours
# make bench  how fast it is, written to benchmarks/results with its configuration

PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
JAVA := $(VENV)/java
VERSIONS := 3.5 4.0 4.1 4.2

.PHONY: demo test test-cluster test-versions lint types layers pytest docs reproduction bench format clean

demo: $(INSTALLED) $(JAVA)
	$(BIN)/penstock demo

test: lint types layers pytest

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(INSTALLED)
	$(BIN)/mypy

layers: $(INSTALLED)
	$(BIN)/lint-imports

pytest: $(INSTALLED) $(JAVA)
	$(BIN)/pytest -m "not spark"
	$(BIN)/pytest -m "spark and not cluster" -n 0

test-cluster: $(INSTALLED) $(JAVA)
	$(BIN)/pytest -m "cluster and not versions" -n 0

test-versions: $(INSTALLED) $(JAVA) $(VERSIONS:%=.versions/%/installed)
	$(BIN)/pytest -m versions -n 0

docs: $(INSTALLED)
	$(BIN)/python -m docs.generator

reproduction: $(INSTALLED)
	$(BIN)/penstock reproduce --page docs/reproduction.md

bench: $(INSTALLED) $(JAVA)
	$(BIN)/python -m benchmarks

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The stamp is written last: an installation that was interrupted is done again, a finished one never.
$(INSTALLED): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer with its venv module is missing: install it (on Debian: apt-get install python3 python3-venv), or name it with make PYTHON=..."; exit 1; }
	@echo "Installing Penstock into $(VENV) (once)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

# Another PySpark in an environment of its own, with the base install and what the story needs.
.versions/%/installed: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer with its venv module is missing"; exit 1; }
	@echo "Installing PySpark $* into .versions/$* (once)"
	@$(PYTHON) -m venv .versions/$*
	@grep -v -E '^(pyspark|py4j)==' constraints.txt > .versions/$*/constraints.txt
	@.versions/$*/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint .versions/$*/constraints.txt --editable '.[kafka]' 'pyspark==$*.*'
	@touch $@

# Spark needs Java 17 or newer. Where it is missing and we may install it, the system's package manager does.
$(JAVA): | $(INSTALLED)
	@$(BIN)/python -m penstock.testbed.java || { \
		command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] && \
		echo "Installing Java 17 with apt-get (once)" && apt-get update -qq && \
		apt-get install -y -qq openjdk-17-jre-headless >/dev/null && $(BIN)/python -m penstock.testbed.java; } || { \
		echo "Java 17 or newer is missing: install it (on Debian: apt-get install openjdk-17-jre-headless), or set JAVA_HOME"; exit 1; }
	@touch $@

clean:
	rm -rf $(VENV) .versions out .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
