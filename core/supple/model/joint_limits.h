// Predicates on one joint value and its limits, shared by all methods.
#pragma once
#include "supple/math/number.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Whether a joint stands at a limit and `direction` (of a step, or of J'e) leads out of its range.
template <class T>
SUPPLE_FLAT Mask<T> pressed_outward(T q, T lower, T upper, T direction) {
  const T zero = splat<T>(0);
  return ((q <= lower) & (direction < zero)) | ((q >= upper) & (direction > zero));
}

// The limit at which a joint is held: 1 or -1 where it is within `margin` of its upper or lower limit and
// `step` leads outward, else 0.
SUPPLE_FLAT int outward_side(double value, double lower, double upper, double margin, double step) {
  if (upper - value < margin && step > 0)
    return 1;
  if (value - lower < margin && step < 0)
    return -1;
  return 0;
}

} // namespace SUPPLE_ISA
} // namespace supple
