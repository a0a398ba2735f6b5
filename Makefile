# Two commands do everything: `make teleop` drives an arm in the browser, `make test` runs all tests.
PYTHON ?= python3
VENV   := .venv
ifeq ($(OS),Windows_NT)
  BIN := $(VENV)/Scripts
else
  BIN := $(VENV)/bin
endif
READY  := $(VENV)/.ready
# every file below a folder that matches a pattern
below   = $(foreach path,$(wildcard $1/*),$(call below,$(path),$2) $(filter $2,$(path)))
CPP    := $(call below,core,%.h) $(call below,bind,%.h %.cpp)
NATIVE := CMakeLists.txt pyproject.toml $(CPP)

CLANG  ?= $(firstword $(shell command -v clang++ || command -v clang++-14))
ifeq ($(CLANG),)
  CLANG := $(abspath $(BIN))/python -m ziglang c++
endif

.PHONY: help setup teleop test quick check format bench docs wheel gates sanitize soak clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "make %-8s %s\n", $$1, $$2}' Makefile

setup: $(READY) ## make a virtual environment with supple and all it can use

$(READY): $(NATIVE)
	@echo "setting up $(VENV): a minute or two, once"
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $(READY)

teleop: setup ## drive the Panda in the browser
	$(BIN)/supple teleop panda

test: setup ## run every test: first those that may run side by side, then those that need a browser
	$(BIN)/python tests/setup_browser.py
	$(BIN)/python -m pytest -n auto --dist worksteal --durations=10 -m "not alone and not gate"
	$(BIN)/python -m pytest --durations=10 -m "alone and not gate"

quick: setup ## the tests that take no time: a verdict in 90 seconds
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not alone and not slow and not gate"

check: setup ## layout, lint and types of Python and C++
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(BIN)/clang-tidy --quiet $(call below,bind/kernels,%.cpp) -- -std=c++17 -Icore -Ibind -DSUPPLE_ISA=baseline
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m nanobind.stubgen -q -m supple._core -o src/supple/_core.pyi
	$(BIN)/mypy

format: setup ## rewrite Python and C++ files in the project's layout
	$(BIN)/clang-format -i $(CPP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup ## compare with other libraries
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	$(BIN)/python benchmarks/forward.py
	$(BIN)/python benchmarks/methods.py
	$(BIN)/python benchmarks/search.py --quick
	$(BIN)/python benchmarks/gauntlet.py --controllers supple,paper,pink,mink,placo,drake --rates 300

docs: setup ## build the documentation, serve it and open it in the browser
	$(BIN)/python docs/serve.py

wheel: setup ## build the source archive and the wheel into dist/
	$(BIN)/python -m build

$(VENV)/.gates: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[gates]'
	@touch $@

gates: $(VENV)/.gates ## long checks: other compilers and systems, each instruction set, fuzzers, memory; tens of minutes
	CXX="$(CLANG)" $(BIN)/python -m pytest -n auto --dist worksteal -m "not alone" tests/core/test_core.py
	for set in $$($(BIN)/python -c "from supple import _core; print(*_core.instruction_sets())"); do \
	  SUPPLE_ISA=$$set $(BIN)/python -m pytest -n auto --dist worksteal -m "not alone and not slow and not gate" \
	    tests/linkage tests/solve tests/tracking tests/motion || exit 1; \
	done
	$(BIN)/python -m pytest -n auto --dist worksteal --hypothesis-profile=default -m "gate and not alone"
	$(BIN)/python -m pytest -m "gate and alone"; status=$$?; test $$status -eq 0 -o $$status -eq 5

sanitize: setup ## the tests of the native code under AddressSanitizer and UndefinedBehaviorSanitizer (GCC or clang, Linux)
	$(BIN)/python tests/sanitize.py

soak: setup ## 20 million solves, 5 million ticks, 100,000 solvers and trackers made and dropped: memory stays flat
	$(BIN)/python benchmarks/soak.py

clean: ## remove everything that was made here
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis src/supple/_core.pyi
