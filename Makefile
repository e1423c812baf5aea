# make demo   everything from nothing, then the main job on a synthetic census
# make test   everything from nothing, then lint and tests
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: demo test lint bench docs clean

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("wideberth needs Python 3.11 or newer; try make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(READY)
	$(BIN)/wideberth demo -o out/demo --force

test: lint
	$(BIN)/python -m pytest

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

docs: $(READY)
	$(BIN)/wideberth principles --format markdown > docs/principles.md
	$(BIN)/wideberth metrics --format markdown > docs/metrics.md

clean:
	rm -rf .venv build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
