"""A robot from its Denavit-Hartenberg table, standard and modified, compared with the one in the box."""

from math import pi

import numpy as np

import supple
from supple import DH, Frame

h = pi / 2
# Puma 560, standard rows: Rz(theta + q) Tz(d) Tx(a) Rx(alpha)
standard = supple.dh(
    [
        DH(d=0.672, alpha=-h),
        DH(a=0.4318, d=0.14909),
        DH(a=-0.02032, alpha=h),
        DH(d=0.43307, alpha=-h),
        DH(alpha=h),
        DH(d=0.15625),
    ],
    name="puma560",
)
# the same arm, modified rows (Craig): Rx(alpha) Tx(a) Rz(theta + q) Tz(d); four plain numbers theta, d, a, alpha do too
modified = supple.dh(
    [
        (0, 0.672, 0, 0),
        (0, 0.14909, 0, -h),
        (0, 0, 0.4318, 0),
        (0, 0.43307, -0.02032, h),
        (0, 0, 0, -h),
        (0, 0.15625, 0, h),
    ],
    modified=True,
    name="puma560",
)
print(modified)

stock = supple.models.puma560()
q = stock.random(1000, seed=3)
ends = {
    "standard": standard.frame(q, "link6"),
    "modified": modified.frame(q, "link6"),
    "in the box": stock.frame(q, "tool"),
}
print()
for name, end in ends.items():
    apart = np.abs(end.matrix - ends["modified"].matrix).max()
    print(f"{name:<10} differs from the modified table by {apart:.1e} at most, over 1,000 random q")

# a sliding row, and a tool on the end
crane = supple.dh([DH(alpha=h), DH(kind=supple.Kind.PRISMATIC, lower=0.5, upper=3)]).with_tool(
    "link2", Frame.at([0, 0, 0.2]), "hook"
)
print("\nhook of a crane, turned 90° and 2 m out:", crane.frame([h, 2.0], "hook").position.round(6) + 0.0)
