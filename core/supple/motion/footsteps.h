// Paths of feet that stand and roll on the ground z = 0 without sliding.
#pragma once
#include "supple/motion/bridge.h"
#include "supple/motion/filter.h"

namespace supple {
inline namespace SUPPLE_ISA {

// One foot in time: what is asked of it, and which of its points touch the ground.
struct FootPath {
  long long count = 0;
  const double *contacts = nullptr; // count x 3: whether heel and toe touch, whether the frame is an anchor
  Vec<double> heel, toe;            // in the foot's axes
  long long fade = 0;               // frames in which corrections end
  long long rise = 0;               // frames in which a foot that is below the ground is lifted
  bool heel_on(long long i) const { return contacts[3 * i] != 0; }
  bool is_anchor(long long i) const { return contacts[3 * i + 2] != 0; }
  bool toe_on(long long i) const { return contacts[3 * i + 1] != 0; }
};

struct FootScratch {
  bool *flags;                    // count
  Vec<double> *offsets, *bridged; // count
  double *lowest, *below, *lift;  // count
  double *largest, *window;       // count, and 2 rise + 1
};

// Turns a foot so that it is flat and constant over each run of frames in which heel and toe touch. `flat`:
// how it is turned then, if forward is along x.
SUPPLE_FN void flatten_foot(const FootPath &path, const Rot<double> &flat, FootScratch &scratch,
                            Frame<double> *foot) {
  const Vec<double> zero{0, 0, 0};
  for (long long i = 0; i < path.count; ++i)
    scratch.flags[i] = path.heel_on(i) && path.toe_on(i);
  const Vec<double> ahead{flat.x.x, flat.y.x, flat.z.x}; // forward, in the axes of the flat foot
  for (FrameRun run = next_run(scratch.flags, path.count, 0); run.end > run.begin;
       run = next_run(scratch.flags, path.count, run.end)) {
    Vec<double> forward = zero;
    for (long long i = run.begin; i < run.end; ++i)
      forward = forward + foot[i].r * ahead;
    const double size = root(forward.x * forward.x + forward.y * forward.y);
    const double c = size > 0 ? forward.x / size : 1, s = size > 0 ? forward.y / size : 0;
    const Rot<double> wanted = Rot<double>{{c, s, 0}, {-s, c, 0}, {0, 0, 1}} * flat;
    for (long long i = run.begin; i < run.end; ++i)
      scratch.offsets[i] = log_rotation(transpose(foot[i].r) * wanted);
  }
  bridge_gaps(scratch.offsets, scratch.flags, path.count, path.fade, scratch.bridged);
  for (long long i = 0; i < path.count; ++i)
    foot[i].r = foot[i].r * exp_rotation(scratch.bridged[i]);
}

// The offsets of a foot that turns about the point that touches the ground, over one run of frames. In its
// anchors, or in all frames if it has none, it is in the mean where it was.
SUPPLE_FN void roll_foot(const FootPath &path, FrameRun run, const FootScratch &scratch,
                         const Frame<double> *foot) {
  Vec<double> at{0, 0, 0}, mean{0, 0, 0}, mean_of_anchors{0, 0, 0};
  long long anchors = 0;
  for (long long i = run.begin; i < run.end; ++i) {
    if (i > run.begin) {
      const bool on_toe = path.toe_on(i) && path.toe_on(i - 1);
      const bool on_heel = path.heel_on(i) && path.heel_on(i - 1);
      const Vec<double> pivot = on_toe || !on_heel ? path.toe : path.heel;
      at = at + (foot[i - 1].r * pivot - foot[i].r * pivot);
    }
    scratch.offsets[i] = at - foot[i].p;
    mean = mean - scratch.offsets[i];
    if (path.is_anchor(i)) {
      mean_of_anchors = mean_of_anchors - scratch.offsets[i];
      ++anchors;
    }
  }
  mean = anchors ? (1 / double(anchors)) * mean_of_anchors : (1 / double(run.end - run.begin)) * mean;
  for (long long i = run.begin; i < run.end; ++i) {
    scratch.offsets[i] = scratch.offsets[i] + mean;
    scratch.offsets[i].z = scratch.lowest[i] - foot[i].p.z;
  }
}

// Lifts a foot that is below the ground between its steps. Near where it stands it is lifted less.
SUPPLE_FN void lift_foot(const FootPath &path, FootScratch &scratch, Frame<double> *foot) {
  bool any_below = false;
  for (long long i = 0; i < path.count; ++i) {
    const double depth = scratch.flags[i] ? 0 : scratch.lowest[i] - foot[i].p.z;
    scratch.below[i] = depth > 0 ? depth : 0;
    any_below = any_below || depth > 0;
  }
  if (!any_below)
    return;
  bound_above(scratch.below, path.count, path.rise, scratch.largest, scratch.window, scratch.lift);
  const double third = larger(1.0, double(path.fade) / 3);
  for (FrameRun run{0, 0}; run.end < path.count;) {
    const FrameRun next = next_run(scratch.flags, path.count, run.end);
    for (long long i = run.end; i < next.begin; ++i) { // frames between two runs
      const double since = run.end > run.begin ? double(i - run.end + 1) : third;
      const double until = next.end > next.begin ? double(next.begin - i) : third;
      const double part = lesser(lesser(since, until) / third, 1.0);
      const double up = foot[i].p.z + scratch.lift[i] * (part * part * (3 - 2 * part));
      foot[i].p.z = larger(up, scratch.lowest[i]);
    }
    run = next.end > next.begin ? next : FrameRun{path.count, path.count};
  }
}

// Moves the frames (count) of a foot to a path near them on which it does not slide.
SUPPLE_FN void place_foot(const FootPath &path, FootScratch &scratch, Frame<double> *foot) {
  for (long long i = 0; i < path.count; ++i) {
    scratch.flags[i] = path.heel_on(i) || path.toe_on(i);
    scratch.lowest[i] = -lesser((foot[i].r * path.heel).z, (foot[i].r * path.toe).z);
  }
  for (FrameRun run = next_run(scratch.flags, path.count, 0); run.end > run.begin;
       run = next_run(scratch.flags, path.count, run.end))
    roll_foot(path, run, scratch, foot);
  bridge_gaps(scratch.offsets, scratch.flags, path.count, path.fade, scratch.bridged);
  for (long long i = 0; i < path.count; ++i)
    foot[i].p = foot[i].p + scratch.bridged[i];
  lift_foot(path, scratch, foot);
}

} // namespace SUPPLE_ISA
} // namespace supple
