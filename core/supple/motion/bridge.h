// Curves over the gaps of a motion: what is known stays, and the curves between begin and end with its
// slopes.
#pragma once
#include "supple/math/se3.h"

namespace supple {
inline namespace SUPPLE_ISA {

// A run of frames: the first, and the one after the last.
struct FrameRun {
  long long begin = 0, end = 0;
};

// The next run of frames with a flag, from frame `from` on; empty at the end.
SUPPLE_FN FrameRun next_run(const bool *flags, long long count, long long from) {
  FrameRun run;
  for (run.begin = from; run.begin < count && !flags[run.begin];)
    ++run.begin;
  for (run.end = run.begin; run.end < count && flags[run.end];)
    ++run.end;
  return run;
}

// How a curve begins or ends: change and change of the change from frame to frame.
struct CurveEnd {
  Vec<double> slope{0, 0, 0}, acceleration{0, 0, 0};
};

// The slope and the acceleration at the last frame of a known run, or at its first: from four frames.
SUPPLE_FN CurveEnd curve_end(const Vec<double> *values, FrameRun run, bool at_last) {
  const long long length = run.end - run.begin, count = length < 4 ? length : 4;
  const Vec<double> *part = values + (at_last ? run.end - count : run.begin);
  CurveEnd found;
  if (count > 2) { // the mean of the second differences
    const Vec<double> first = part[1] - part[0], last = part[count - 1] - part[count - 2];
    found.acceleration = (1 / double(count - 2)) * (last - first);
  }
  if (count > 1) { // the mean slope is that in the middle of the frames
    const double way = 0.5 * double(count - 1);
    const Vec<double> mean = (1 / double(count - 1)) * (part[count - 1] - part[0]);
    found.slope = mean + (at_last ? way : -way) * found.acceleration;
  }
  return found;
}

// The quintic from a to b in `length` frames with these slopes and no acceleration at both ends.
SUPPLE_FN void draw_quintic(Vec<double> a, Vec<double> b, Vec<double> slope_a, Vec<double> slope_b,
                            long long length, Vec<double> *out) {
  for (long long i = 0; length > 0 && i <= length; ++i) {
    const double t = double(i) / double(length), t3 = t * t * t;
    const double rise = t3 * (10 - 15 * t + 6 * t * t);
    const double from_a = t - t3 * (6 - 8 * t + 3 * t * t), to_b = t3 * (-4 + 7 * t - 3 * t * t);
    out[i] = a + rise * (b - a) + (double(length) * from_a) * slope_a + (double(length) * to_b) * slope_b;
  }
}

// A bump that begins without value and slope, with an acceleration, and ends without all three within
// `length` frames: added to out[0], out[direction], ...
SUPPLE_FN void end_acceleration(Vec<double> acceleration, long long length, int direction, Vec<double> *out) {
  for (long long i = 0; i < length; ++i) {
    const double t = double(i), left = 1 - t / double(length);
    out[i * direction] = out[i * direction] + (0.5 * t * t * left * left * left) * acceleration;
  }
}

// Values where they are known, and curves over the gaps: quintics with the values and slopes of both sides
// and no acceleration there. The accelerations of both sides end within a third of `fade` frames. Before the
// first known run and after the last, the slope ends within `fade` frames and the value stays. All zero if
// nothing is known.
SUPPLE_FN void bridge_gaps(const Vec<double> *values, const bool *known, long long count, long long fade,
                           Vec<double> *out) {
  FrameRun before{0, 0};
  for (FrameRun run = next_run(known, count, 0); before.end < count; run = next_run(known, count, run.end)) {
    for (long long i = run.begin; i < run.end; ++i)
      out[i] = values[i];
    const bool has_before = before.end > before.begin, has_after = run.end > run.begin;
    const long long begin = has_before ? before.end - 1 : 0, end = has_after ? run.begin : count - 1;
    const CurveEnd from = has_before ? curve_end(values, before, true) : CurveEnd{};
    const CurveEnd to = has_after ? curve_end(values, run, false) : CurveEnd{};
    if (has_before && has_after) {
      draw_quintic(values[begin], values[end], from.slope, to.slope, end - begin, out + begin);
      const long long half = (end - begin) / 2, length = half < fade / 3 ? half : fade / 3;
      end_acceleration(from.acceleration, length, 1, out + begin);
      end_acceleration(to.acceleration, length, -1, out + end);
    } else if (has_after) {
      const long long start = end > fade ? end - fade : 0;
      const Vec<double> rest = values[end] - (0.5 * double(end - start)) * to.slope;
      for (long long i = 0; i < start; ++i)
        out[i] = rest;
      draw_quintic(rest, values[end], from.slope, to.slope, end - start, out + start);
    } else {
      const long long stop = begin + fade < count - 1 ? begin + fade : count - 1;
      const Vec<double> rest =
          has_before ? values[begin] + (0.5 * double(stop - begin)) * from.slope : Vec<double>{0, 0, 0};
      for (long long i = has_before ? stop : 0; i < count; ++i)
        out[i] = rest;
      if (has_before)
        draw_quintic(values[begin], rest, from.slope, to.slope, stop - begin, out + begin);
    }
    before = has_after ? run : FrameRun{count, count};
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
