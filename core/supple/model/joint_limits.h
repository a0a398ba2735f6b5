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

} // namespace SUPPLE_ISA
} // namespace supple
