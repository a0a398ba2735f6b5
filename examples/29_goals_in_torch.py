"""Many goals held in torch: solved where they are, on the CPU or on a GPU. Give the number, such as 10_000_000."""

import sys
import time

import torch

import supple
from supple import Goal, models

count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
arm, hand = models.panda(), "panda_hand_tcp"
device = "cuda" if torch.cuda.is_available() else "cpu"
generator = torch.Generator(device).manual_seed(0)
lower, upper = (torch.tensor(limit, device=device, dtype=torch.float32) for limit in (arm.lower, arm.upper))
solved = worst = seconds = 0.0
for first in range(0, count, 1_000_000):
    rows = min(1_000_000, count - first)
    q = lower + (upper - lower) * torch.rand(rows, arm.dof, device=device, generator=generator)
    goals = arm.frame(q, hand)  # a tensor (rows, 4, 4) on the same device, in float32 like q
    began = time.perf_counter()
    found = supple.solve(arm, Goal(hand, goals))
    solved += int(found.arrived.sum())  # reading a result waits for the device
    seconds += time.perf_counter() - began
    away = (arm.frame(found.q, hand)[:, :3, 3] - goals[:, :3, 3]).norm(dim=-1)[found.arrived].max()
    worst = max(worst, float(away))
    assert bool((found.q >= lower).all() and (found.q <= upper).all())
rate = f"{count / seconds:,.0f} a second"
print(f"{solved:,.0f} of {count:,} goals solved on {device}, {rate}, within {1e6 * worst:.1f} um")
