"""The figures, the numbers and the comparisons of the chapter and the paper."""
