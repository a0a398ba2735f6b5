"""A robot from its Denavit-Hartenberg table, standard and modified, compared with the bundled model."""

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
# the same arm, modified rows (Craig): Rx(alpha) Tx(a) Rz(theta + q) Tz(d); a row may also be theta, d, a, alpha
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

bundled = supple.models.puma560()
q = bundled.random(1000, seed=3)
ends = {
    "standard": standard.frame(q, "link6"),
    "modified": modified.frame(q, "link6"),
    "bundled": bundled.frame(q, "tool"),
}
print()
for name, end in ends.items():
    apart = np.abs(end.matrix - ends["modified"].matrix).max()
    print(f"{name:<10} largest difference from the modified table {apart:.1e}, over 1,000 random q")

# a prismatic row, and a tool
crane = supple.dh([DH(alpha=h), DH(kind=supple.Kind.PRISMATIC, lower=0.5, upper=3)]).with_tool(
    "link2", Frame.at([0, 0, 0.2]), "hook"
)
print("\nhook of a crane, rotated by 90° and extended to 2 m:", crane.frame([h, 2.0], "hook").position.round(6) + 0.0)
