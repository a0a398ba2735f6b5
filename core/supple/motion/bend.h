// The direction in which a limb of two parts is bent, smooth in time: a straight limb has none, and a nearly
// straight one only a noisy one.
#pragma once
#include "supple/motion/filter.h"

namespace supple {
inline namespace SUPPLE_ISA {

struct BendConstants {
  // A limb that is bent by less has no direction of its own: the elbow is nearer to the line from the
  // shoulder to the hand than this part of the upper arm. A pole counts in full from a lesser part on.
  static constexpr double least = 0.07;
  static constexpr double sure = 0.25; // from here on the direction is not filtered
};

// A limb in one frame of time: the unit vector from its base to its end, and its bend as an angle about that,
// from an axis that does not turn about it.
struct BentLimb {
  Vec<double> along, axis;
  double distance; // from the base to the end
  double bend;     // how far the elbow is from the line between them, as a part of the upper length
  double angle;    // of the bend
};

// A unit vector perpendicular to a unit vector.
SUPPLE_FN Vec<double> any_perpendicular(Vec<double> u) {
  const Vec<double> other = std::fabs(u.x) < 0.6 ? Vec<double>{1, 0, 0} : Vec<double>{0, 1, 0};
  const Vec<double> across = cross(u, other);
  return (1 / root(dot(across, across))) * across;
}

// The axis e of the frame before, turned as little as the line of the limb does: e - e.u (u0 + u) / (1 +
// u0.u)
SUPPLE_FN Vec<double> transported(Vec<double> axis, Vec<double> from, Vec<double> to) {
  const double both = 1 + dot(from, to);
  if (!(both > 1e-6))
    return any_perpendicular(to);
  const Vec<double> turned = axis - (dot(axis, to) / both) * (from + to);
  const Vec<double> kept = turned - dot(turned, to) * to;
  return (1 / root(dot(kept, kept))) * kept;
}

// The angle of a direction about the line of a limb.
SUPPLE_FN double bend_angle(const BentLimb &limb, Vec<double> direction) {
  return std::atan2(dot(direction, cross(limb.along, limb.axis)), dot(direction, limb.axis));
}

// One frame of a limb with these ways along its two parts, after the frame `before`, if there is one.
SUPPLE_FN BentLimb bent_limb(Vec<double> upper, Vec<double> fore, const BentLimb *before) {
  BentLimb limb;
  const Vec<double> line = upper + fore;
  const double length = root(dot(upper, upper));
  limb.distance = root(dot(line, line));
  const bool has_line = limb.distance > 1e-6 * length;
  limb.along = has_line ? (1 / limb.distance) * line : before ? before->along : Vec<double>{0, 0, 1};
  limb.axis = before ? transported(before->axis, before->along, limb.along) : any_perpendicular(limb.along);
  const Vec<double> bend = upper - dot(upper, limb.along) * limb.along;
  limb.bend = root(dot(bend, bend)) / larger(length, 1e-9);
  limb.angle = bend_angle(limb, bend);
  return limb;
}

SUPPLE_FN Vec<double> bend_direction(const BentLimb &limb) {
  return std::cos(limb.angle) * limb.axis + std::sin(limb.angle) * cross(limb.along, limb.axis);
}

// Angles of limbs that are nearly straight, between those of the frames before and after that are not; the
// angles have no jumps of whole turns then. Whether any limb is bent.
SUPPLE_FN bool fill_angles(BentLimb *limbs, long long count) {
  long long last = -1; // the last limb that is bent
  for (long long i = 0; i < count; ++i) {
    if (!(limbs[i].bend >= BendConstants::least))
      continue;
    const double before = last < 0 ? limbs[i].angle : limbs[last].angle;
    const double way = std::remainder(limbs[i].angle - before, 2 * pi);
    limbs[i].angle = before + way;
    for (long long j = last + 1; j < i; ++j)
      limbs[j].angle = before + (last < 0 ? 0 : way * double(j - last) / double(i - last));
    last = i;
  }
  for (long long j = last + 1; last >= 0 && j < count; ++j)
    limbs[j].angle = limbs[last].angle;
  return last >= 0;
}

// Angles of limbs that are never bent: as near to a direction as they can be.
SUPPLE_FN void take_angles(BentLimb *limbs, long long count, Vec<double> direction) {
  double before = 0;
  for (long long i = 0; i < count; ++i) {
    before += std::remainder(bend_angle(limbs[i], direction) - before, 2 * pi);
    limbs[i].angle = before;
  }
}

// Limbs (count) whose bends turn by at most `most_turn` a frame about their lines, and evenly where they are
// nearly straight: there the angles are filtered with weights (reach + 1). Limbs that are never bent are bent
// in the direction `natural`. `numbers`: 6 count.
SUPPLE_FN void smooth_bends(BentLimb *limbs, long long count, double most_turn, Vec<double> natural,
                            const double *weights, long long reach, double *numbers) {
  if (!fill_angles(limbs, count))
    take_angles(limbs, count, natural);
  double *angles = numbers, *filtered = numbers + count;
  for (long long i = 0; i < count; ++i)
    angles[i] = limbs[i].angle;
  bound_changes(angles, count, most_turn, filtered, filtered + count);
  if (count > 0)
    filter_rows(angles, count, 1, weights, reach < count ? reach : count - 1, numbers + 3 * count, filtered);
  for (long long i = 0; i < count; ++i) {
    const double part =
        clip((limbs[i].bend - BendConstants::least) / (BendConstants::sure - BendConstants::least), 0.0, 1.0);
    const double own = part * part * (3 - 2 * part);
    limbs[i].angle = own * angles[i] + (1 - own) * filtered[i];
  }
}

// The greatest distance between the ends of a limb that is bent as much as has a direction.
SUPPLE_FN double longest_distance(double upper, double fore) {
  const double across = BendConstants::least * upper;
  return root(larger(upper * upper - across * across, 0.0)) +
         root(larger(fore * fore - across * across, 0.0));
}

} // namespace SUPPLE_ISA
} // namespace supple
