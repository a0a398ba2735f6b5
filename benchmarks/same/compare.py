"""Two files of corpus.py, group by group: identical bits, or how far apart.

    python benchmarks/same/compare.py A.npz B.npz [--within 1e-12] [--outcomes] [--show 5]

A difference counts if it is above the bound both absolutely and relative to the array's largest value, or if an
enumeration, a shape, a type or a key differs. Exits with 1 if any counts. With --outcomes only totals of outcomes in
each group must be equal: for builds with other compiler flags, where rounding decides which answer is found.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

ENUMERATIONS = ("outcome", "status")


@dataclass
class Group:
    """What is known of the arrays whose keys begin alike."""

    arrays: int = 0
    identical: int = 0
    absolute: float = 0.0
    relative: float = 0.0
    checksums: int = 0
    outcomes: int = 0
    totals: tuple[Counter[int], Counter[int]] = field(default_factory=lambda: (Counter(), Counter()))
    beyond: list[str] = field(default_factory=list)


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def apart(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """The largest difference, and relative to the largest finite value; infinite where one is not finite."""
    odd = ~(np.isfinite(a) & np.isfinite(b))
    if not np.array_equal(a[odd], b[odd], equal_nan=True):
        return np.inf, np.inf
    if odd.all():
        return 0.0, 0.0
    most = float(np.abs(a[~odd] - b[~odd]).max())
    size = float(max(np.abs(a[~odd]).max(), np.abs(b[~odd]).max()))
    return most, most / size if size else 0.0


def look(group: Group, key: str, a: np.ndarray, b: np.ndarray, within: float) -> None:
    """Adds one pair of arrays to its group."""
    group.arrays += 1
    name = key.rsplit("/", 1)[-1]
    if name in ENUMERATIONS:
        for total, values in zip(group.totals, (a, b), strict=True):
            total.update(values.ravel().tolist())
    if same_bits(a, b):
        group.identical += 1
        return
    if a.shape != b.shape or a.dtype.kind != b.dtype.kind:
        group.beyond.append(f"{key}: {a.dtype} {a.shape} and {b.dtype} {b.shape}")
    elif name == "checksum":  # of rows between those that are stored; it has no size
        group.checksums += 1
        if within == 0:
            group.beyond.append(f"{key}: all rows differ from all rows")
    elif name in ENUMERATIONS or a.dtype.kind not in "f":
        different = int((a != b).sum())
        group.outcomes += different
        if different:
            group.beyond.append(f"{key}: {different} of {a.size} differ")
    else:
        absolute, relative = apart(a, b)
        group.absolute, group.relative = max(group.absolute, absolute), max(group.relative, relative)
        if min(absolute, relative) > within or within == 0:
            group.beyond.append(f"{key}: {absolute:.2g} apart, {relative:.2g} relative")


def counted(total: Counter[int]) -> str:
    return " ".join(f"{value}:{count}" for value, count in sorted(total.items())) or "-"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("a", metavar="A.npz")
    options.add_argument("b", metavar="B.npz")
    options.add_argument("--within", type=float, default=0.0, help="bound; by default 0, identical bits")
    options.add_argument("--outcomes", action="store_true", help="only totals of outcomes must agree")
    options.add_argument("--show", type=int, default=5, metavar="N", help="keys to name in each group")
    asked = options.parse_args()
    first, second = np.load(asked.a), np.load(asked.b)
    print(f"instruction sets: {first['about/isa']} and {second['about/isa']}")
    groups: dict[str, Group] = {}
    for key in sorted({*first.files, *second.files} - {"about/isa"}):
        group = groups.setdefault("/".join(key.split("/")[:2]), Group())
        if key not in first.files or key not in second.files:
            group.beyond.append(f"{key}: only in {asked.a if key in first.files else asked.b}")
        else:
            look(group, key, first[key], second[key], asked.within)
    failed = False
    print(f"{'group':22} {'arrays':>7} {'identical':>10} {'max abs':>9} {'max rel':>9}  outcomes")
    for name, group in groups.items():
        a, b = map(counted, group.totals)
        bad = a != b if asked.outcomes else bool(group.beyond)
        failed |= bad
        sizes = (
            "     bits      bits" if group.identical == group.arrays else f"{group.absolute:9.2g} {group.relative:9.2g}"
        )
        said = f"{a}{'' if a == b else f' AND {b}'}{f'; {group.outcomes} differ' if group.outcomes else ''}"
        print(f"{name:22} {group.arrays:7,} {group.identical:10,} {sizes}  {said}{'  DIFFERS' if bad else ''}")
        for line in group.beyond[: asked.show] if bad else ():
            print(f"    {line}")
        if bad and len(group.beyond) > asked.show:
            print(f"    and {len(group.beyond) - asked.show:,} more")
    whole = all(group.identical == group.arrays and not group.beyond for group in groups.values())
    bound = "in totals of outcomes" if asked.outcomes else f"within {asked.within:g}"
    print("identical bits" if whole else f"DIFFERENT: not the same {bound}" if failed else f"the same {bound}")
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
