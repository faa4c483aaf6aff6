# Two commands: `make serve` and `make test`. Each makes its own virtual environment and installs what it needs.
PYTHON ?= python3
VENV ?= .venv
PORT ?= 8000
BIN = $(VENV)/bin

.PHONY: serve test lint docs bench clean

serve: $(VENV)/.serve
	$(BIN)/shoal serve --port $(PORT)

test: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -P -m pytest -n 2 --dist loadfile

lint: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/mypy

docs: $(VENV)/.serve
	$(BIN)/shoal methods --markdown > docs/methods.md
	$(BIN)/shoal measures --markdown > docs/measures.md

bench: $(VENV)/.serve
	$(BIN)/shoal bench

$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.serve: $(VENV)/.made pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	touch $@

$(VENV)/.test: $(VENV)/.made pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@ $(VENV)/.serve

clean:
	rm -rf $(VENV) build *.egg-info
