"""The figures and numbers of the two source texts, and comparisons of all methods on their goals.

- `figures`: figures 5.14 to 5.25 of the chapter, drawn from results of the solver [K 5.3];
- `chapter`: the arms and goals behind figures 5.20 to 5.25, as numbers;
- `compare`: every method on the same goals, as tables;
- `paper`: the scheme of the paper on a Kraft-like arm, beside an exact solution that is clipped.

The modules ``figures_*`` draw single figures. Drawing needs the extra "plot".
"""

from supple.textbook import chapter, compare, figures, paper

__all__ = ["chapter", "compare", "figures", "paper"]
