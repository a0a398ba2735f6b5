// Filters of rows in time, without delay: a weighted mean of neighbours, and a smooth bound above.
#pragma once
#include "supple/model/limits.h"

namespace supple {
inline namespace SUPPLE_ISA {

// A number of a row before the first (i < 0) or after the last: its reflection at the end row.
SUPPLE_FN double extended(const double *rows, long long count, int size, long long i, int column) {
  if (i >= 0 && i < count)
    return rows[i * size + column];
  const long long end = i < 0 ? 0 : count - 1;
  const long long other = 2 * end - i;
  return 2 * rows[end * size + column] - rows[other * size + column];
}

// Means of some numbers with their neighbours in other rows; the sums stay in registers.
template <int width>
SUPPLE_FN void filter_some(const double *from, int size, const double *weights, long long reach, double *to) {
  double sum[width];
  for (int k = 0; k < width; ++k)
    sum[k] = weights[0] * from[k];
  const double *before = from, *after = from;
  for (long long j = 1; j <= reach; ++j) {
    before -= size;
    after += size;
    for (int k = 0; k < width; ++k)
      sum[k] += weights[j] * (before[k] + after[k]);
  }
  for (int k = 0; k < width; ++k)
    to[k] = sum[k];
}

// The same for rows (count x size) that have all their neighbours: their numbers lie side by side.
SUPPLE_FN void filter_inner(const double *from, long long count, int size, const double *weights,
                            long long reach, double *to) {
  constexpr int many = 32, few = 4;
  const long long numbers = count * size;
  long long at = 0;
  for (; at + many <= numbers; at += many)
    filter_some<many>(from + at, size, weights, reach, to + at);
  for (; at + few <= numbers; at += few)
    filter_some<few>(from + at, size, weights, reach, to + at);
  for (; at < numbers; ++at)
    filter_some<1>(from + at, size, weights, reach, to + at);
}

// Rows (count x size), each the mean of those within `reach` < count of it. `weights` (reach + 1) are those
// of the row itself and of its neighbours to both sides; their sum over all is 1. `ends`: 3 reach size.
SUPPLE_FN void filter_rows(const double *rows, long long count, int size, const double *weights,
                           long long reach, double *ends, double *out) {
  const long long last = count - reach > reach ? count - reach : reach; // after the inner rows
  filter_inner(rows + reach * size, last - reach, size, weights, reach, out + reach * size);
  for (const bool at_end : {false, true}) {
    const long long begin = at_end ? last : 0, end = at_end ? count : reach;
    double *to = ends;
    for (long long i = begin - reach; i < end + reach; ++i)
      for (int k = 0; k < size; ++k)
        *to++ = extended(rows, count, size, i, k);
    filter_inner(ends + reach * size, end - begin, size, weights, reach, out + begin * size);
  }
}

// A smooth bound above values (count), no higher than needed: the largest value within `width` of each, then
// the mean of these with a Hann window of the same width. `largest`: count numbers, `window`: 2 width + 1.
SUPPLE_FN void bound_above(const double *values, long long count, long long width, double *largest,
                           double *window, double *out) {
  const long long last = count - 1;
  for (long long i = 0; i < count; ++i) {
    const long long begin = i > width ? i - width : 0, end = i + width < last ? i + width : last;
    double most = values[begin];
    for (long long j = begin + 1; j <= end; ++j)
      most = values[j] > most ? values[j] : most;
    largest[i] = most;
  }
  double sum = 0;
  for (long long j = 0; j <= 2 * width; ++j) {
    double s, c;
    sincos(2 * pi * double(j + 1) / double(2 * width + 2), s, c);
    window[j] = 0.5 * (1 - c);
    sum += window[j];
  }
  for (long long i = 0; i < count; ++i) {
    double mean = 0;
    for (long long j = -width; j <= width; ++j) {
      const long long at = i + j < 0 ? 0 : i + j > last ? last : i + j;
      mean += window[j + width] * largest[at];
    }
    out[i] = mean / sum;
  }
}

// The greatest values (count) below others that change by at most `most` from one to the next.
SUPPLE_FN void bound_changes_below(const double *values, long long count, double most, double *out) {
  for (long long i = 0; i < count; ++i)
    out[i] = i && out[i - 1] + most < values[i] ? out[i - 1] + most : values[i];
  for (long long i = count - 2; i >= 0; --i)
    out[i] = out[i + 1] + most < out[i] ? out[i + 1] + most : out[i];
}

// Values (count) that change by at most `most` from one to the next: the mean of the greatest such values
// below the given ones and of the least above them. `below`, `above`: count.
SUPPLE_FN void bound_changes(double *values, long long count, double most, double *below, double *above) {
  bound_changes_below(values, count, most, below);
  for (long long i = 0; i < count; ++i)
    values[i] = -values[i];
  bound_changes_below(values, count, most, above);
  for (long long i = 0; i < count; ++i)
    values[i] = 0.5 * (below[i] - above[i]);
}

} // namespace SUPPLE_ISA
} // namespace supple
