"""Train a small policy of torch through forward kinematics: a network learns to put the hand of a UR5 at a point."""

import torch

import supple.torch
from supple import models

torch.manual_seed(0)
arm, hand = models.ur5(), "tool0"
lower, upper = torch.tensor(arm.lower).clamp(-3.0).float(), torch.tensor(arm.upper).clamp(max=3.0).float()
policy = torch.nn.Sequential(torch.nn.Linear(3, 128), torch.nn.SiLU(), torch.nn.Linear(128, 128), torch.nn.SiLU())
policy.append(torch.nn.Linear(128, arm.dof))


def joints(points: torch.Tensor) -> torch.Tensor:
    """Joint values (..., dof) that the policy chooses for points (..., 3), always inside the limits."""
    return lower + (upper - lower) * torch.sigmoid(policy(points))


def points(count: int) -> torch.Tensor:
    """Points (count, 3) in a part of the workspace, in metres."""
    return torch.tensor([0.3, -0.3, 0.2]) + torch.rand(count, 3) * torch.tensor([0.3, 0.6, 0.4])


def miss(where: torch.Tensor) -> torch.Tensor:
    """The mean distance of the hand from points, in metres; gradients go through the arm."""
    reached = supple.torch.frame(arm, joints(where), hand)[:, :3, 3]
    return (reached - where).norm(dim=-1).mean()


test = points(1000)
before = float(miss(test).detach())
adam = torch.optim.Adam(policy.parameters(), lr=4e-3)
for _ in range(150):
    adam.zero_grad()
    loss = miss(points(256))
    loss.backward()
    adam.step()
after = float(miss(test).detach())
print(f"the hand misses its point by {1e3 * before:.0f} mm before and {1e3 * after:.0f} mm after training")
