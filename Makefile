# make demo   a policy steers a job through a surge; ends with a report in out/demo
# make test   what must hold, with the story of an attached query on a standalone cluster
# make test-cluster  the other stories on clusters, ten minutes more
# make test-versions  attach, penstock run, watch and a pipeline on each PySpark from 3.5 on, in environments of their own
# make chaos  breaks a job of each way to run, an hour in all, and accounts for every record
# make docs   the pages of docs/reference, made from the code
# make site   the docs as a site with search, in out/site
# make reproduction  docs/reproduction.md: the papers' figures beside ours
# make bench  how fast it is, written to benchmarks/results with its configuration

PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
JAVA := $(VENV)/java
TEST_TOOLS := $(VENV)/test-tools
VERSIONS := 3.5 4.0 4.1 4.2
SITE := $(VENV)/site

.PHONY: demo test test-cluster test-versions chaos lint types layers pytest docs site reproduction bench format clean

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

pytest: $(INSTALLED) $(JAVA) $(TEST_TOOLS)
	$(BIN)/pytest -m "not spark and not versions"
	$(BIN)/pytest -m "spark and not cluster and not versions" -n 0

test-cluster: $(INSTALLED) $(JAVA)
	$(BIN)/pytest -m "cluster and not versions" -n 0

test-versions: $(INSTALLED) $(JAVA) $(VERSIONS:%=.versions/%/installed)
	$(BIN)/pytest -m versions -n 0

# An hour, with another seed each time: make chaos SEED=7
SEED ?= 1
chaos: $(INSTALLED) $(JAVA)
	PYTHONPATH=tests $(BIN)/python -m chaos.run --seconds 3600 --seed $(SEED) --json benchmarks/results/chaos.json

docs: $(INSTALLED)
	$(BIN)/python -m docs.generator

site: $(SITE)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "The site is in out/site: open out/site/index.html; to search it, serve it (python3 -m http.server -d out/site)"

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
		--constraint .versions/$*/constraints.txt --editable '.[kafka,arrow]' 'pyspark==$*.*'
	@touch $@

$(SITE): $(INSTALLED)
	@echo "Installing MkDocs into $(VENV) (once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[site]'
	@touch $@

# Spark needs Java 17 or newer. Where it is missing and we may install it, the system's package manager does.
$(JAVA): | $(INSTALLED)
	@$(BIN)/python -m penstock.testbed.java || { \
		command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] && \
		echo "Installing Java 17 with apt-get (once)" && apt-get update -qq && \
		apt-get install -y -qq openjdk-17-jre-headless >/dev/null && $(BIN)/python -m penstock.testbed.java; } || { \
		echo "Java 17 or newer is missing: install it (on Debian: apt-get install openjdk-17-jre-headless), or set JAVA_HOME"; exit 1; }
	@touch $@

# A browser and Prometheus, with which the page and the metrics are tested. Without them those tests are skipped, so
# nothing ends here: what is missing is said, and looked for again by the next make test.
$(TEST_TOOLS): | $(INSTALLED)
	@missing=; for tool in chromium chromedriver prometheus promtool; do \
		command -v $$tool >/dev/null || missing="$$missing $$tool"; done; \
	if [ -z "$$missing" ]; then touch $@; \
	elif command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] && \
		echo "Installing Chromium and Prometheus with apt-get, for tests (once)" && apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
			chromium chromium-driver prometheus >/dev/null; then touch $@; \
	else echo "Not on this machine:$$missing. Tests that need them are skipped (on Debian: apt-get install chromium chromium-driver prometheus)"; fi

clean:
	rm -rf $(VENV) .versions out .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
