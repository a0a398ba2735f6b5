// Prediction: a command is read ahead of its samples, as long as their motion goes on.
#pragma once
#include "supple/tracking/window.h"

namespace supple {
inline namespace SUPPLE_ISA {

// The displacement of the newest samples in `predict` seconds: the slope of their best line times this time.
SUPPLE_FN void recent_displacement(const CommandState &s, const CommandOptions &o, double at, double *d) {
  Slots w[slot_packs], x[slot_packs], m0(0.0), m1(0.0), m2(0.0);
  window_weights(s, at, o.recent_window, o.recent_rise, 0, w, x);
  for (int i = 0; i < slot_packs; ++i) {
    m0 = m0 + w[i];
    m1 = m1 + w[i] * x[i];
    m2 = m2 + w[i] * x[i] * x[i];
  }
  const double s0 = sum_slots(m0), s1 = sum_slots(m1), s2 = sum_slots(m2), determinant = s0 * s2 - s1 * s1;
  for (int i = 0; i < 6; ++i)
    d[i] = 0;
  if (!(determinant > 1e-6 * s0 * s0)) // too few
    return;
  const Slots k0(-s1 / determinant), k1(s0 / determinant);
  for (int i = 0; i < slot_packs; ++i)
    w[i] = w[i] * (k0 + x[i] * k1);
  double v[value_size];
  weighted_value(s, w, v);
  const double windows = o.predict / (o.recent_window * s.scale);
  for (int i = 0; i < value_size; ++i)
    v[i] = s.newest[i] + windows * (v[i] - s.newest[i]);
  normalize_value(v);
  value_difference(o, s.newest, v, d);
}

// Moves v, which was read from the parabola, on along it by `predict` seconds, and returns by how many it
// did. It goes less far where the newest samples do not go the same way as fast, as when the hand stops or
// turns, and never farther than `predict_distance`.
SUPPLE_FN double predict_motion(const CommandState &s, const CommandOptions &o, double at, double part,
                                double *v) {
  Parabolas read;
  double ahead[value_size], displacement[6], recent[6], product = 0;
  if (!read_parabolas(s, o, at, parabola_lag(s, o) - o.predict, read))
    return 0;
  mix_parabolas(read, part, ahead);
  normalize_value(ahead);
  normalize_value(v);
  value_difference(o, v, ahead, displacement);
  recent_displacement(s, o, at, recent);
  for (int i = 0; i < 6; ++i)
    product += squared(i < 3 ? o.position_weight : o.rotation_weight) * displacement[i] * recent[i];
  const double length = weighted_norm(o, displacement);
  const double squares = length * length + squared(weighted_norm(o, recent));
  // 1 where both are equal, 0 where one is none or they are at right angles
  const double agreement = 2 * product / (squares + 2 * squared(o.predict_speed * o.predict));
  const double share = quintic_step(clip(agreement, 0.0, 1.0));
  const double ratio = squared(share * length / o.predict_distance);
  const double moved = share / std::sqrt(std::sqrt(1 + ratio * ratio));
  for (double &d : displacement)
    d *= moved;
  add_difference(o, displacement, v);
  return moved * o.predict;
}

} // namespace SUPPLE_ISA
} // namespace supple
