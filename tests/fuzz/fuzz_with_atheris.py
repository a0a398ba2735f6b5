"""Coverage-guided fuzzing of one reader, by hand: ``python tests/fuzz/fuzz_with_atheris.py motion -max_total_time=60``.

Needs the package atheris. The bytes are read as they are, and as changes of a seed.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["supple"]):
    import readers

TARGET = sys.argv[1]
SEEDS = readers.seeds(TARGET)


def one(data: bytes) -> None:
    """A find is any exception that `readers.obey` raises."""
    given = atheris.FuzzedDataProvider(data)
    ending, seed = SEEDS[given.ConsumeIntInRange(0, len(SEEDS) - 1)]
    changes = []
    while given.remaining_bytes() and len(changes) < 20:
        odd, gone = given.ConsumeIntInRange(0, len(readers.ODD) + 3), given.ConsumeIntInRange(0, 64)
        changes.append((given.ConsumeProbability(), odd, gone, given.ConsumeProbability()))
    with tempfile.TemporaryDirectory() as folder:
        readers.obey(TARGET, ending, data, Path(folder))
        readers.obey(TARGET, ending, readers.changed(seed, changes), Path(folder))


if __name__ == "__main__":
    readers.limit_memory()
    atheris.Setup([sys.argv[0], *sys.argv[2:]], one)
    atheris.Fuzz()
