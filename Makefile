# make demo   everything from nothing, then the main job on a synthetic census
# make test   everything from nothing, then lint and tests
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: demo test test-nightly test-cluster lint bench docs reproduction clean

$(READY): pyproject.toml papers/pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("wideberth needs Python 3.11 or newer; try make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]' -e ./papers
	@touch $@

demo: $(READY)
	$(BIN)/wideberth demo -o out/demo --force

test: lint
	$(BIN)/python -m pytest

# What takes long: all examples of every property, more seeds, larger tables, every page in every width.
test-nightly: $(READY)
	$(BIN)/python -m pytest -m nightly
	WIDEBERTH_NIGHTLY=1 $(BIN)/python -m pytest -m 'hypothesis and not nightly'

# A Spark cluster on this machine, of which a worker is killed; takes some minutes.
test-cluster: $(READY)
	WIDEBERTH_CLUSTER=1 $(BIN)/python -m pytest -n 0 tests/cluster

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)
	$(BIN)/python -m benchmarks.check
	$(BIN)/python -m benchmarks.advise
	$(BIN)/python -m benchmarks.splitting
	$(BIN)/python -m benchmarks.quality
	$(BIN)/python -m benchmarks.lattice
	$(BIN)/python -m benchmarks.anatomy
	$(BIN)/python -m benchmarks.dissimilarity
	$(BIN)/python -m benchmarks.audit
	$(BIN)/python -m benchmarks.utility
	$(BIN)/python -m benchmarks.report
	$(BIN)/python -m benchmarks.figure7
	$(BIN)/python -m benchmarks.ui
	$(BIN)/python -m benchmarks.large --rows 5000000
	$(BIN)/python -m benchmarks.scaling

# Everything it needs is at hand: neither the build nor the pages ask the network for anything.
docs: $(READY)
	$(BIN)/python docs/generate.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The figures of docs/reproduction, on the real tables in DATA; takes some minutes.
reproduction: $(READY)
	$(BIN)/wideberth reproduce all --data $(DATA) -o docs/reproduction --force
	$(BIN)/wideberth reproduce li2008 --data $(DATA)/ato_tax_2004_2008.parquet -o docs/reproduction/ato --force

clean:
	rm -rf .venv site .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -rf build dist src/*.egg-info papers/build papers/dist papers/src/*.egg-info
