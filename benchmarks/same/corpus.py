"""Results of supple to the bit, in one file: run it on two source trees and compare the files with compare.py.

    PYTHONPATH=src python benchmarks/same/corpus.py OUT.npz [--quick] [--only forward,local]
    python benchmarks/same/compare.py A.npz B.npz [--within 1e-12]

To check another tree with this corpus, set PYTHONPATH to its src. The instruction set comes from SUPPLE_ISA (baseline,
avx2, avx512). The corpus has no clock and no unseeded randomness. Groups: forward, local, search, tracking, paths,
analysis, textbook. Every result is stored under a key "group/part/case/field"; a field named outcome or status is an
enumeration. Long recordings of ticks are thinned, with a checksum of all ticks beside them. All calls to supple are in
api.py.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import api
import numpy as np
from cases import ENDS, Store, chain, goal_kinds, slider  # cases also makes the tests' random trees importable
from corpus_solve import local, search
from corpus_track import tracking

from random_trees import random_q, random_tree
from supple import _core

# -- forward -----------------------------------------------------------------------------------------------------------


def forward(store: Store) -> None:
    cases = [(f"{name}", api.models.get(name), api.models.get(name).random(20, seed=1)) for name in api.models.names()]
    cases += [("slider", slider(), slider().random(20, seed=1))]
    for seed in range(store.few(200, 40)):
        tree = random_tree(seed)
        cases.append((tree.name, tree, random_q(tree, seed, 5)))
    for name, linkage, q in cases:
        key, link = f"forward/{'trees' if name.startswith('tree') else 'models'}/{name}", linkage.links[-1].name
        store.put(key, frames=linkage.frames(q).matrix, frame=linkage.frame(q[0], link).matrix)
        frame, jacobian = api.frame_and_jacobian(linkage, q, link)
        one = api.frame_and_jacobian(linkage, q[0], link)
        store.put(key, matrix=frame.matrix, jacobian=jacobian, one=one[1], one_matrix=one[0].matrix)
        store.put(
            key, local=linkage.jacobian(q, link, point=[0.1, 0.2, 0.3]), points=api.points(linkage, q, [1, 2, 3], link)
        )
        if linkage.dof:
            store.put(key, manipulability=linkage.manipulability(q, link), condition=linkage.condition(q, link, 1e-3))
            step = 0.3 * np.roll(q, 1, axis=-1)
            store.put(key, integrate=linkage.integrate(q, step), difference=linkage.difference(q, step))
            store.put(key, clamp=linkage.clamp(3 * q), inside=linkage.inside(q), reach=linkage.reach(link))
    many = api.models.get("panda").random(store.few(20_000, 2_000), seed=3)
    store.put("forward/batch/panda", frame=api.models.get("panda").frame(many, ENDS["panda"]).matrix[::7])


# -- analysis and the two source texts ---------------------------------------------------------------------------------


def analysis(store: Store) -> None:
    for name in ("planar2", "planar3", "panda", "slider"):
        arm = slider() if name == "slider" else chain(name)
        link = arm.tips[0]
        space = api.reachable(arm, link, store.few(100_000, 20_000), seed=2)
        store.put(f"analysis/reachable/{name}", positions=space.positions[::50], counts=space.counts, voxel=space.voxel)
        size = space.area() if space.dimension == 2 else space.volume()
        store.put(f"analysis/reachable/{name}", size=size, bounds=space.bounds, distances=space.distances)
        store.put(f"analysis/reach/{name}", reach=arm.reach(link))
        kinds = goal_kinds(link, arm.frame(arm.random(seed=4), link))
        for kind, goal in kinds.items():
            said = api.analysis.constraint(arm, goal, arm.random(seed=5))
            store.put(f"analysis/constraint/{name}/{kind}", numbers=[said.rows, said.joints, said.rank, said.lost])
    for name in ("planar3", "so101"):
        arm = chain(name)
        space = api.dexterous(arm, ENDS[name], 8, samples=store.few(20_000, 4_000), starts=2, seed=2)
        store.put(f"analysis/dexterous/{name}", dexterity=space.dexterity)
    two = api.analysis.TwoLink(api.models.planar2(), "tip")
    elbows = two.solve(np.random.default_rng(0).uniform(-26, 26, (200, 3)) * [1, 1, 0])
    store.put("analysis/two links", **{k: v for k, v in vars(elbows).items() if isinstance(v, np.ndarray)})


def paths(store: Store) -> None:
    for name in ("panda", "ur5", "slider"):
        arm = slider() if name == "slider" else chain(name)
        link = arm.tips[0]
        places = [arm.frame(arm.integrate(arm.rest, 0.2 * arm.random(seed=i)), link) for i in range(4)]
        made = {"line": api.GoalPath.line(*places), "spline": api.GoalPath.spline(*places)}
        made["arc"] = api.GoalPath.arc(*places[:3])
        for kind, path in made.items():
            key = f"paths/{kind}/{name}"
            store.put(key, frames=path.sampled(31).matrix, length=path.length)
            found = api.solve_path(arm, path.goal(link, 31), solver=api.solver("damped", limit_escapes=0))
            store.put(key, q=found.motion.q, distance=found.distance, angle=found.angle)
        times, q = np.linspace(0, 2, 6), arm.random(6, seed=9)
        for between in api.Interpolation:
            motion = api.Motion(arm, times, q, between)
            key, t = f"paths/motion/{name}/{between.value}", np.linspace(0, 2, 101)
            store.put(key, q=motion.at(t), velocity=motion.velocity(t), speed=motion.speed)


def textbook(store: Store) -> None:
    for name in api.chapter.names():
        for i, run in enumerate(api.chapter.runs(name)):
            store.put(f"textbook/chapter/{name}/{i}", q=run.q, goals=run.goals)
    for i, (_, *both) in enumerate(api.paper_figure.runs()):
        for way, run in zip(("exact", "paper"), both, strict=True):
            store.put(f"textbook/paper/{i} {way}", q=run.q, **api.paper_parts(run))


def main() -> None:
    parts = {f.__name__: f for f in (forward, local, search, tracking, paths, analysis, textbook)}
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("out", type=Path, metavar="OUT.npz")
    options.add_argument("--quick", action="store_true", help="a smaller corpus, in less than 40 seconds")
    options.add_argument("--only", default=",".join(parts), metavar="A,B", help=f"of {', '.join(parts)}")
    asked = options.parse_args()
    warnings.filterwarnings("ignore")
    store = Store(asked.quick)
    for name in asked.only.split(","):
        began = time.monotonic()
        parts[name](store)
        own = sum(key.startswith(f"{name}/") for key in store.arrays)
        print(f"{name}: {own:,} arrays, {time.monotonic() - began:.1f} s", flush=True)
    store.put("about", isa=np.array(_core.instruction_set()))
    np.savez(asked.out, **store.arrays)
    print(f"{asked.out}: {asked.out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
