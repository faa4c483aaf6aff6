# Two commands: `make serve` and `make test`. Each makes its own virtual environment and installs what it needs.
PYTHON ?= python3
VENV ?= .venv
PORT ?= 8000
BIN = $(VENV)/bin
SITE = docs/_build/html
INSTALL = $(BIN)/python -m pip install --progress-bar on --disable-pip-version-check --constraint constraints.txt

# Each of many processes would compile every file anew where the environment forbids to keep what Python compiled.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: serve test test-cluster lint docs figures bench wheel sbom clean

serve: $(VENV)/.serve
	@if [ ! -e $(SITE)/index.html ] && $(BIN)/python -c "import furo, myst_parser" 2>/dev/null; then $(MAKE) docs; fi
	@echo "Starting the server: the first start brings data and builds an index."
	$(BIN)/shoal serve --port $(PORT)

# While tests wait for servers and browsers, types are checked and a third worker is at work. What is wrong with types is told at the end.
# The tests are looked for once before, or each worker would compile all of their files.
test: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@echo "Checking types beside the tests ..."
	@nice -n 19 $(BIN)/mypy > $(VENV)/types.txt 2>&1 & types=$$!; \
	$(BIN)/python -P -m pytest --collect-only -q > /dev/null 2>&1; \
	POLARS_MAX_THREADS=1 $(BIN)/python -P -m pytest -n 3 --dist loadfile; tests=$$?; \
	wait $$types; types=$$?; cat $(VENV)/types.txt; exit $$((tests | types))

# Spark and whatever else past one machine is started on loopback by these tests, and stopped by them.
test-cluster: $(VENV)/.cluster
	$(BIN)/python -P -m pytest tests/cluster

lint: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/mypy

docs: $(VENV)/.docs
	@echo "Building the documentation: half a minute, or two where loops are compiled first ..."
	$(BIN)/shoal methods --markdown > docs/methods.md
	$(BIN)/shoal measures --markdown > docs/measures.md
	$(BIN)/python -P -m sphinx -W --keep-going -q docs $(SITE)
	@echo "The documentation is at $(SITE)/index.html, and under /docs of a server."

figures: $(VENV)/.serve
	$(BIN)/shoal evaluate --config docs/figures.toml --out build/figures
	cp build/figures/results.csv docs/figures.csv

bench: $(VENV)/.serve
	$(BIN)/shoal bench

wheel: docs
	$(BIN)/python -m pip wheel --no-deps --wheel-dir dist .

sbom: $(VENV)/.release
	mkdir -p dist
	$(BIN)/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible -o dist/sbom.json constraints.txt

$(VENV)/.made:
	@echo "Making a virtual environment in $(VENV) ..."
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.serve: $(VENV)/.made pyproject.toml constraints.txt
	@echo "Installing Shoal and the libraries that it needs (some 300 MB the first time) ..."
	$(INSTALL) --editable .
	touch $@

$(VENV)/.docs: $(VENV)/.made pyproject.toml constraints.txt
	@echo "Installing what builds the documentation ..."
	$(INSTALL) --editable '.[docs]'
	touch $@ $(VENV)/.serve

$(VENV)/.release: $(VENV)/.made pyproject.toml constraints.txt
	@echo "Installing what lists the libraries of a release ..."
	$(INSTALL) --editable '.[release]'
	touch $@ $(VENV)/.serve

$(VENV)/.test: $(VENV)/.made pyproject.toml constraints.txt
	@echo "Installing Shoal and what tests it ..."
	$(INSTALL) --editable '.[dev]'
	touch $@ $(VENV)/.serve $(VENV)/.docs

$(VENV)/.cluster: $(VENV)/.test
	@echo "Installing what works past one machine (some 500 MB the first time) ..."
	$(INSTALL) --editable '.[spark,opensearch]'
	touch $@

clean:
	rm -rf $(VENV) build dist docs/_build docs/made *.egg-info
