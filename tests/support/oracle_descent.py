"""Coordinate descent again, in slow and plain numpy [K 5.3.3]: what the core must agree with."""

import numpy as np

from oracle import columns, exp_rotation, log_rotation, source, traverse
from oracle_solve import balls, chordal, clamp_ball, moving, path, squared_error, tip_frames, turn_between, weights
from supple.joint import Kind


class Descent:
    """One joint at a time takes the value that lowers the chordal error most; each move by whole forward kinematics.

    ``trust`` falls with every move that rounding could turn elsewhere: nearly flat, or with two answers as good.
    """

    def __init__(self, linkage, goals, q, keep_limits=True, halvings=0):
        self.linkage, self.goals, self.keep, self.halvings = linkage, goals, keep_limits, halvings
        self.q, self.trust, self.exact = np.array(q, float), 1.0, True
        self.lower, self.upper = linkage.lower, linkage.upper
        used = np.flatnonzero(moving(linkage, goals))
        self.balls = {k: limits for k, *limits in balls(linkage) if k in used}
        inner = {k + i for k in self.balls for i in (1, 2)}
        self.values = [k for k in used[::-1] if k not in inner]  # outermost first
        self.movers = {k: self._movers(k) for k in self.values}

    def _movers(self, k):
        """For each goal the joints on its path that value k moves, as (whether it turns, gain)."""
        where, found = columns(self.linkage), []
        for goal in self.goals:
            found.append([])
            for joint in path(self.linkage, goal.link):
                if joint.kind is Kind.FIXED:
                    continue
                other, gain, _ = source(self.linkage, joint)
                part = k - where[other.name]
                if 0 <= part < other.kind.dof:
                    slides = joint.kind is Kind.PRISMATIC or (joint.kind in (Kind.PLANAR, Kind.FLOATING) and part < 2)
                    slides = slides or (joint.kind is Kind.FLOATING and part == 2)
                    found[-1].append((not slides, gain))
        return [joints for joints in found if joints]

    def chordal(self, q):
        return chordal(self.linkage, self.goals, tip_frames(self.linkage, self.goals, q))

    def doubt(self, measure):
        self.trust = min(self.trust, measure)

    def accepts(self, q):
        """Whether q is no worse than where we are."""
        before, after = self.chordal(self.q), self.chordal(q)
        if before < 1e-11:
            self.doubt(0)  # what is there already goes anywhere
        if np.abs(q - self.q).max() > 1e-12:
            self.doubt(abs(after - before) / (before + 1e-300))
        if not after <= before:
            return False
        return not self.halvings or squared_error(self.linkage, self.goals, q) <= squared_error(
            self.linkage, self.goals, self.q
        )

    def moved(self, k):
        """q after the best move of value k."""
        if k in self.balls:
            tries = self._ball(k)
        else:
            by = self._single(k)
            steps = by * 0.5 ** np.arange(self.halvings + 5)
            tries = (np.where(np.arange(len(self.q)) == k, self.q + step, self.q) for step in steps)
        for q in tries:
            if self.accepts(q):
                return q
        return self.q

    def _single(self, k):
        low, high = (self.lower[k] - self.q[k], self.upper[k] - self.q[k]) if self.keep else (-np.inf, np.inf)
        turns, gain = self.movers[k][0][0]
        along = np.eye(len(self.q))[k]
        alike = all(joints == [(turns, gain)] for joints in self.movers[k])
        if not alike or gain == 0:  # several joints share the value: one Newton step
            self.exact, h = False, 1e-4
            down, now, up = self.chordal(self.q + np.outer([-h, 0, h], along))
            slope, bend = (up - down) / (2 * h), (up - 2 * now + down) / h**2
            self.doubt(abs(bend) / (now + 1e-300))
            return np.clip(np.clip(-slope / bend, -0.5, 0.5) if bend > 0 else -0.1 * np.sign(slope), low, high)
        if not turns:  # a parabola
            down, now, up = self.chordal(self.q + np.outer([-1.0, 0, 1], along))
            bend = up - 2 * now + down
            if bend <= 1e-14 * abs(up + down):
                return np.clip(0, low, high)
            self.doubt(bend / (up + down))
            return np.clip((down - up) / 2 / bend, low, high)
        # a wave of degree 2 in the angle: five samples tell it
        t = np.arange(5) * 2 * np.pi / 5
        wave = np.fft.fft(self.chordal(self.q + np.outer(t / gain, along))) / 5
        c = np.array([wave[3], wave[4], wave[0], wave[1], wave[2]])  # of exp(-2it) .. exp(2it)
        low, high = sorted((low * gain, high * gain))
        return self._lowest(c, low, high) / gain

    def _lowest(self, c, low, high):
        """The angle in a range where the wave c is lowest; of equal ones the first around 0."""

        def at(a):
            return np.real(np.exp(1j * np.arange(-2, 3) * a) @ c)

        size = np.abs(c).sum()
        still = np.clip(0.0, low, high)
        if np.abs(c[[0, 1, 3, 4]]).max() <= 1e-14 * size:
            return still  # nothing changes
        roots = np.roots((c * np.arange(-2, 3))[::-1]) if abs(c[0]) > 1e-13 * size else np.roots((c[1], 0, -c[3])[::-1])
        found = []
        for a in np.angle(roots):
            for _ in range(30):  # Newton, on the slope
                k = 1j * np.arange(-2, 3)
                slope, bend = (np.real(k**p * np.exp(k * a) @ c) for p in (1, 2))
                a -= np.clip(slope / bend, -0.1, 0.1) if bend > 0 else 0
            found += [(at(a), a + turn, bend) for turn in (0, -2 * np.pi, 2 * np.pi) if bend > 0]
        found = [(value, a, bend) for value, a, bend in found if low <= a <= high]
        found += [(at(a), a, np.inf) for a in (low, high) if np.isfinite(a)]
        best = min(found, key=lambda each: (round(each[0] / size, 12), abs(each[1])), default=(at(still), still, 1))
        others = [value for value, a, _ in found if abs(np.sin((a - best[1]) / 2)) > 1e-6]
        self.doubt(min([best[2] / size, *[(value - best[0]) / size for value in others]]))
        return best[1]

    def _ball(self, k):
        """The turn nearest to bringing everything to its goal [Procrustes], then shorter and shorter ones."""
        pairs = []
        frames = traverse(self.linkage, self.q)[0]
        child = next(
            j.child for j in self.linkage.joints if j.dof and columns(self.linkage)[j.name] + j.kind.dof - 3 == k
        )
        origin, axes = frames[child][:3, 3], frames[child][:3, :3]
        for goal, tip in zip(self.goals, tip_frames(self.linkage, self.goals, self.q), strict=True):
            if not any(joint.child == child for joint in path(self.linkage, goal.link)):
                continue
            place, turn = weights(self.linkage, goal)
            if goal.position is not None:
                pairs.append((2 * np.mean(place**2), tip[:3, 3] - origin, goal.position - origin))
            if goal.orientation is not None:
                pairs += [(np.mean(turn**2), tip[:3, i], goal.orientation[:, i]) for i in range(3)]
            elif goal.axis is not None:
                pairs.append((2 * turn[0] ** 2, tip[:3, :3] @ goal.axis, goal.direction))
        B = sum(w * np.outer(b, a) for w, a, b in pairs)
        U, sigma, Vt = np.linalg.svd(B)
        mirror = np.sign(np.linalg.det(U @ Vt))
        if sigma[0] <= 1e-13 * sum(w * (a @ a + b @ b) for w, a, b in pairs):
            turn = np.zeros(3)
        elif sigma[1] < 1e-12 * sigma[0]:  # one direction alone: the shortest turn that brings it there
            turn = turn_between(Vt[0], U[:, 0])
        else:
            self.doubt((sigma[1] + mirror * sigma[2]) / sigma[0])
            turn = log_rotation(U @ np.diag([1, 1, mirror]) @ Vt)
        self.doubt(np.pi - np.linalg.norm(turn))  # half a turn either way
        for part in 0.5 ** np.arange(self.halvings + 5):
            q = self.q.copy()
            q[k : k + 3] = log_rotation(exp_rotation(self.q[k : k + 3]) @ exp_rotation(part * axes.T @ turn))
            if self.keep:
                q[k : k + 3] = clamp_ball(q[k : k + 3], *self.balls[k])
                if np.linalg.norm(turn) > 1e-9 > np.abs(q - self.q).max():
                    self.doubt(0)  # held at its limit, but for rounding
            yield q

    def sweep(self, rank="outermost"):
        """As many moves as there are joints; the joint that moves next by rank. Returns q."""
        rested = dict.fromkeys(self.values, 0)
        for count, k in enumerate(self.values):
            if rank == "outermost":
                self.q = self.moved(k)
                continue
            before, scores = self.chordal(self.q), {}
            for k in self.values:
                gained = before - self.chordal(self.moved(k))
                self.doubt(abs(gained - 1e-12 * before) * 1e9 / (before + 1e-300))
                if gained > 1e-12 * before:
                    room = min(self.q[k] - self.lower[k], self.upper[k] - self.q[k])
                    scores[k] = {"useful": gained / (before + 1e-300), "recent": -rested[k], "room": min(room, 1e300)}[
                        rank
                    ]
            if not scores:
                break
            first = max(scores, key=scores.get)  # of equal ones the outermost
            self.doubt(min([abs(scores[first] - x) for x in scores.values() if x != scores[first]], default=1))
            self.q = self.moved(first)
            rested[first] = count + 1
        return self.q
