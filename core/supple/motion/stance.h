// Legs whose ankles cannot bend as far as flat feet need: how far feet miss their places, and how far the
// pelvis moves back and up for it.
#pragma once
#include "supple/motion/filter.h"

namespace supple {
inline namespace SUPPLE_ISA {

struct StanceConstants {
  static constexpr double miss = 5e-4;     // m: a point that touches the ground may be so far from its place
  static constexpr double straight = 0.99; // of the length of a leg: straighter ones do not move the pelvis
  static constexpr double farthest = 0.2;  // of the length of a leg: most that the pelvis moves back
  static constexpr double beyond = 1.1;    // times the excess of an angle is made up for
};

// A foot that a leg has reached, beside the one that was asked.
struct FootState {
  double off;       // m: how far its points that touch the ground are from their places
  double lowest;    // m: height of the lower one of heel and toe
  Vec<double> turn; // the rotation vector from what was asked, in the axes of that
};
constexpr int foot_state_size = 5;

// `contacts` (2): whether heel and toe touch the ground.
SUPPLE_FN FootState foot_state(const Frame<double> &reached, const Frame<double> &asked,
                               const double *contacts, Vec<double> heel, Vec<double> toe) {
  const Vec<double> points[2] = {heel, toe};
  FootState state{0, Precision<double>::unlimited, {0, 0, 0}};
  for (int i = 0; i < 2; ++i) {
    const Vec<double> there = reached * points[i], way = there - asked * points[i];
    if (contacts[i] != 0)
      state.off = larger(state.off, root(dot(way, way)));
    state.lowest = lesser(state.lowest, there.z);
  }
  // (R - R')/2 is sin(a) times the axis, which is the rotation vector up to a^3/6
  const Rot<double> turn = transpose(asked.r) * reached.r;
  const Vec<double> sine = 0.5 * Vec<double>{turn.y.z - turn.z.y, turn.z.x - turn.x.z, turn.x.y - turn.y.x};
  const bool tiny = dot(sine, sine) < 1e-8 && turn.x.x + turn.y.y + turn.z.z > 2;
  state.turn = tiny ? sine : log_rotation(turn);
  return state;
}

// One leg in time.
struct LeaningLeg {
  const Frame<double> *feet = nullptr; // count
  const double *contacts = nullptr;    // count x 3: whether heel and toe touch the ground, and another number
  const double *states = nullptr;      // count x foot_state_size
  const double *yielding = nullptr;    // count: whether the frame counts
  Vec<double> hip, left;               // in the axes of the pelvis and of the foot
  double roll = 0; // the angle by which the foot rolls about its toe before the pelvis moves
  double arm = 0;  // how far the toe is ahead of the ankle

  bool touches(long long i) const { return contacts[3 * i] != 0 || contacts[3 * i + 1] != 0; }
  // The angle by which the toes of a flat foot point down, since its ankle cannot bend farther. `roll` does
  // not count, less what the roll itself adds: it lifts the ankle, which bends the leg. `bend`: the angle
  // that is added to each unit of roll.
  double excess(long long i, double bend) const {
    const double *state = states + i * foot_state_size;
    const bool flat = contacts[3 * i] != 0 && contacts[3 * i + 1] != 0;
    if (!flat || yielding[i] == 0 || !(state[0] > StanceConstants::miss))
      return 0;
    return larger(dot(load3(state + 2), left) - roll * (1 - bend), 0.0);
  }
};

struct Lean {
  long long count = 0;
  const Frame<double> *pelvis = nullptr; // count
  const Frame<double> *asked = nullptr;  // count: where the pelvis was asked to be
  Vec<double> forward;                   // in the axes of the pelvis
  double thigh = 0, shank = 0;           // lengths
  long long window = 1;                  // frames in which the pelvis moves
  LeaningLeg legs[2];
  double leg_length() const { return thigh + shank; }
};

// The angle between the shank and the line from the ankle to the hip, which has this length.
SUPPLE_FN double shank_angle(const Lean &lean, double distance) {
  const double cosine =
      (distance * distance + lean.shank * lean.shank - lean.thigh * lean.thigh) / (2 * distance * lean.shank);
  return std::acos(clip(cosine, -1.0, 1.0));
}

// How much farther an ankle bends for each unit of roll, which lifts it by `arm` and so shortens that line:
// by the derivative of shank_angle, (cos(angle)/distance - 1/shank) / sin(angle).
SUPPLE_FN double bend_of_roll(const Lean &lean, double distance, double arm) {
  const double angle = shank_angle(lean, distance);
  const double slope = (1 / lean.shank - std::cos(angle) / distance) / larger(std::sin(angle), 0.05);
  return clip(arm * slope, 0.0, 1.0);
}

struct LeanScratch {
  double *needed, *allowed, *most; // count
  double *way;                     // count
  double *largest, *window;        // count, and 2 window + 1
};

// Forward over ground, as long as the pelvis is upright.
SUPPLE_FN Vec<double> forward_over_ground(const Lean &lean, long long i) {
  const Vec<double> ahead = lean.pelvis[i].r * lean.forward;
  const double size = root(ahead.x * ahead.x + ahead.y * ahead.y), scale = 1 / larger(size, 0.3);
  return {scale * ahead.x, scale * ahead.y, 0};
}

// A smooth way (count) of at least `needed`, where `allowed` allows it, into scratch.way.
SUPPLE_FN void bound_way(const Lean &lean, LeanScratch &scratch) {
  double most = 0;
  for (long long i = 0; i < lean.count; ++i) {
    scratch.needed[i] = lesser(larger(scratch.needed[i], 0.0), scratch.allowed[i]);
    most = larger(most, scratch.allowed[i]);
  }
  bound_above(scratch.needed, lean.count, lean.window, scratch.largest, scratch.window, scratch.way);
  for (long long i = 0; i < lean.count; ++i)
    scratch.needed[i] = most - scratch.allowed[i];
  bound_above(scratch.needed, lean.count, lean.window, scratch.largest, scratch.window, scratch.most);
  for (long long i = 0; i < lean.count; ++i)
    scratch.way[i] = lesser(scratch.way[i], most - scratch.most[i]);
}

// How far a hip may move back, against `forward` of length 1, until the way from its foot is as long as
// `reach`: the larger root w of |way - w forward| = reach. If no motion makes it so short, that to the
// shortest.
SUPPLE_FN double farthest_back(Vec<double> way, Vec<double> forward, double reach) {
  const double ahead = dot(way, forward);
  return ahead + root(larger(reach * reach - dot(way, way) + ahead * ahead, 0.0));
}

// How far the pelvis moves back, so that flat feet need not yield: the shank leans less. Feet that touch the
// ground stay within reach. `shift`: count.
SUPPLE_FN void lean_back(const Lean &lean, LeanScratch &scratch, Vec<double> *shift) {
  const double longest = lean.leg_length();
  for (long long i = 0; i < lean.count; ++i) {
    const Vec<double> gone = lean.pelvis[i].p - lean.asked[i].p;
    scratch.allowed[i] = larger(StanceConstants::farthest * longest - root(dot(gone, gone)), 0.0);
    scratch.needed[i] = 0;
    const Vec<double> forward = forward_over_ground(lean, i);
    for (const LeaningLeg &leg : lean.legs) {
      const Vec<double> way = lean.pelvis[i] * leg.hip - leg.feet[i].p;
      const double reach = StanceConstants::straight * longest;
      if (leg.touches(i))
        scratch.allowed[i] = lesser(scratch.allowed[i], larger(farthest_back(way, forward, reach), 0.0));
      const double distance = larger(root(dot(way, way)), 1e-6);
      const double excess = leg.excess(i, bend_of_roll(lean, distance, leg.arm));
      if (!(excess > 0) || distance >= reach)
        continue;
      const double ahead = std::atan2(dot(way, forward), way.z);
      const double less = larger(ahead - StanceConstants::beyond * excess, -1.0);
      scratch.needed[i] = larger(scratch.needed[i], way.z * (std::tan(ahead) - std::tan(less)));
    }
  }
  bound_way(lean, scratch);
  for (long long i = 0; i < lean.count; ++i)
    shift[i] = -scratch.way[i] * forward_over_ground(lean, i);
}

// How far the pelvis rises, for the same. With the shank at an angle to the line from hip to ankle, that line
// has the length shank cos(angle) + sqrt(thigh^2 - shank^2 sin^2(angle)).
SUPPLE_FN void lean_up(const Lean &lean, LeanScratch &scratch, Vec<double> *shift) {
  const double longest = lean.leg_length(), thigh = lean.thigh, shank = lean.shank;
  for (long long i = 0; i < lean.count; ++i) {
    scratch.allowed[i] = longest;
    scratch.needed[i] = 0;
    for (const LeaningLeg &leg : lean.legs) {
      const Vec<double> way = lean.pelvis[i] * leg.hip - leg.feet[i].p;
      const double beside_square = way.x * way.x + way.y * way.y;
      if (leg.touches(i)) {
        const double reach = StanceConstants::straight * longest;
        const double highest = root(larger(reach * reach - beside_square, 0.0)) - way.z;
        scratch.allowed[i] = lesser(scratch.allowed[i], larger(highest, 0.0));
      }
      const double distance = larger(root(dot(way, way)), 1e-6);
      const double excess = leg.excess(i, bend_of_roll(lean, distance, leg.arm));
      if (!(excess > 1e-3))
        continue;
      const double angle = larger(shank_angle(lean, distance) - StanceConstants::beyond * excess, 0.0);
      const double across = shank * std::sin(angle);
      const double longer = shank * std::cos(angle) + root(larger(thigh * thigh - across * across, 0.0));
      const double higher = root(larger(longer * longer - beside_square, 0.0)) - way.z;
      scratch.needed[i] = larger(scratch.needed[i], higher);
    }
  }
  bound_way(lean, scratch);
  for (long long i = 0; i < lean.count; ++i)
    shift[i] = {0, 0, scratch.way[i]};
}

} // namespace SUPPLE_ISA
} // namespace supple
