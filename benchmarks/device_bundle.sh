#!/usr/bin/env bash
# Makes a folder with supple and what it needs, for a machine with a GPU, Python 3.12 and no network:
#   benchmarks/device_bundle.sh build/bundle            all of it
#   benchmarks/device_bundle.sh build/bundle refresh    only Python files and headers of the kernels
# There: PYTHONPATH=build/bundle/site python3 benchmarks/device.py
set -eu
folder=${1:-build/bundle}
if [ "${2:-}" = refresh ]; then
  cp -r src/supple/. "$folder/site/supple/"
  mkdir -p "$folder/site/supple/core"
  cp -r core/supple "$folder/site/supple/core/"
  exit
fi
rm -rf "$folder"
mkdir -p "$folder"
python=${PYTHON:-.venv/bin/python}
"$python" -m pip install --quiet "scikit-build-core>=0.10" "nanobind>=3.1,<4" "nanobind-backend>=1,<2" "numpy>=2.0"
SUPPLE_STABLE_ABI=1 "$python" -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$folder/wheels" \
  -C cmake.define.SUPPLE_INSTRUCTION_SETS=baseline -C build-dir=build/bundle-build .
"$python" -m pip install --quiet --no-compile --target "$folder/site" --python-version 3.12 --only-binary=:all: \
  --no-deps "$folder"/wheels/supple-*.whl lxml typer click shellingham rich markdown-it-py mdurl pygments \
  typing_extensions nanobind-backend
rm -rf "$folder/wheels"
du -sh "$folder"
