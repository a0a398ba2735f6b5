// Departures: how far an end effector goes away from its command in a step and while the joints brake
// afterwards, together or each by itself.
#pragma once
#include "supple/tracking/deadline.h"

namespace supple {
inline namespace SUPPLE_ISA {

// samples along the braking: from one to the next the joints together turn by no more than `sample_turn`
// (rad). Between two samples an end effector at a distance r leaves the chord by r angle^2 / 8.
constexpr int least_samples = 4, most_samples = 16;
constexpr double sample_turn = 0.1;
// share of the acceleration limits with which braking is planned: the rest is for what the samples miss
constexpr double planned_braking = 0.9;
// a target whose weight is less than this share of the largest one is not protected
constexpr double light_weight = 0.5;

// Metres that count as much as a radian, for one target.
SUPPLE_FLAT double radian_length(const Tracking &t, int k) { return t.reach[k] / pi; }

// Whether the distance of a target's point from its command counts: the target asks for the whole position,
// has the first priority, and its weight is not small beside that of another.
SUPPLE_FN bool is_kept_near(const Tracking &t, int k) {
  const Target &target = t.problem.targets[k];
  if (target.looks || target.has_radial || target.has_pole || t.row_level[target.first] != 0)
    return false;
  int components = 0;
  double largest = 0;
  for (int i = 0; i < target.rows; ++i)
    components += target.component[i] <= along_z;
  auto weight = [&](int of) { return t.problem.targets[of].weight[0] * radian_length(t, of); };
  for (int other = 0; other < t.problem.target_count; ++other)
    largest = larger(largest, weight(other));
  return components == 3 && weight(k) >= light_weight * largest;
}

// How far the commands move in this tick, as an angle: a command that moves or turns may take the nearest
// place of every end effector with it.
SUPPLE_FN double command_way(const Tracking &t, const Command *commands) {
  double square = 0;
  for (int k = 0; k < t.problem.target_count; ++k)
    for (int i = 0; i < 6; ++i)
      square += squared(commands[k].displacement[i] / (i < 3 ? radian_length(t, k) : 1.0));
  return root(square);
}

// The least distance from the origin on the way from a to b.
SUPPLE_FN double least_on_the_way(Vec<double> a, Vec<double> b) {
  const Vec<double> way = b - a;
  const double square = dot(way, way), share = square > 0 ? clip(-dot(a, way) / square, 0.0, 1.0) : 0;
  const Vec<double> nearest = a + share * way;
  return root(dot(nearest, nearest));
}

// What is the same for all steps of a tick.
struct Nearness {
  const Tracking &t;
  const Command *commands;
  const ArmMemory &memory;
  const TickEvaluation &at;
  const EffectorScratch &scratch;
  double dt, command_way;
  double ramp;             // s: by which jerk delays braking
  bool either_way = false; // braking together leads too far away: braking each by itself is planned with too
};

// Growth of the distance that is allowed to target k, m.
SUPPLE_FLAT double allowed_growth(const Tracking &t, int k) {
  return t.law.distance_margin * radian_length(t, k);
}

// s: how long joint i, which has the velocity v in the step and then brakes for the time `time` of T, would
// go as far with the velocity v.
//   together   v falls to 0 in T: the joints go straight, as far as with v for half of that time
//   apart      v falls by its own limit a: for u = min(time, |v|/a) to v u - a u^2 / 2
SUPPLE_FLAT double equivalent_time(const Nearness &nearness, int i, double v, double time, double T,
                                   bool together) {
  const double ramp = nearness.ramp;
  if (together)
    return nearness.dt + (ramp + 0.5 * T) * time / (ramp + T);
  const double own = std::fabs(v) / (planned_braking * nearness.t.bounds[i].acceleration);
  const double u = lesser(positive(time - ramp), own);
  return nearness.dt + lesser(time, ramp) + (own > 0 ? u - 0.5 * u * u / own : 0.0);
}

// Whether joint i is stopped by a limit on the way x, natural units.
SUPPLE_FLAT bool meets_limit(const Tracking &t, int i, const double *q, double x) {
  const double at = q[i] / t.unit[i], next = at + x;
  return (next > t.bounds[i].upper && x > 0 && at <= t.bounds[i].upper) ||
         (next < t.bounds[i].lower && x < 0 && at >= t.bounds[i].lower);
}

// q after the joints moved by the step and braked for a time, those at limits stopped there, in `next_q`.
SUPPLE_FN void brake_for(const Nearness &nearness, double time, double T, bool together) {
  const Tracking &t = nearness.t;
  const EffectorScratch &scratch = nearness.scratch;
  double *way = scratch.way;
  for (int i = 0; i < t.problem.n; ++i)
    way[i] = scratch.velocity[i] * equivalent_time(nearness, i, scratch.velocity[i], time, T, together);
  moved_joints(t, nearness.memory.q, way, 1, scratch.next_q);
  for (int i = 0; i < t.problem.n; ++i)
    if (meets_limit(t, i, nearness.memory.q, way[i]))
      scratch.next_q[i] = (way[i] > 0 ? t.bounds[i].upper : t.bounds[i].lower) * t.unit[i];
}

// Samples of the way on which the joints brake from scratch.velocity in the time T.
SUPPLE_FN int sample_count(const Nearness &nearness, double T) {
  double turn = 0;
  for (int i = 0; i < nearness.t.problem.n; ++i)
    turn += std::fabs(nearness.scratch.velocity[i]) * (nearness.ramp + 0.5 * T);
  return int(clip(turn / sample_turn, double(least_samples), double(most_samples)));
}

// Of target k, in the step whose velocity is in scratch.velocity and while all joints brake afterwards, for
// the time T at most. `next_q` is written.
SUPPLE_FN Departure departure(const Nearness &nearness, int k, double T, bool together) {
  const Tracking &t = nearness.t;
  const Target &target = t.problem.targets[k];
  const EffectorScratch &scratch = nearness.scratch;
  const Vec<double> goal = load3(nearness.commands[k].goal + 9);
  const double allowed = allowed_growth(t, k) + nearness.command_way / nearness.dt * T * radian_length(t, k);
  double least = nearness.memory.least_distance[k];
  Vec<double> before = nearness.at.targets[k].error.position;
  Departure most{-1e300, before, 0, together};
  const int samples = sample_count(nearness, T);
  for (int sample = 1; sample <= samples; ++sample) {
    // samples lie evenly on the way, which after a share u of the time is 2u - u^2 of it where joints brake
    // each by itself
    const double share = double(sample) / samples;
    const double time = (nearness.ramp + T) * (together ? share : 1 - root(1 - share));
    brake_for(nearness, time, T, together);
    const Vec<double> away = goal - end_effector(target, scratch.next_q, nearness.at.axes).p;
    least = lesser(least, least_on_the_way(before, away));
    const double excess = root(dot(away, away)) - least - allowed;
    if (excess > most.excess)
      most = {excess, away, time, together};
    before = away;
  }
  return most;
}

// The departures of all targets in the step whose velocity is in scratch.velocity; returns the largest excess
// over what is allowed.
SUPPLE_FN double find_departures(const Nearness &nearness, const double *allowed, bool together,
                                 Departure *departures) {
  const double T = braking_time(nearness.t, nearness.scratch.velocity) / planned_braking;
  double worst = -1e300;
  for (int k = 0; k < nearness.t.problem.target_count; ++k) {
    departures[k].excess = -1e300;
    if (is_kept_near(nearness.t, k))
      departures[k] = departure(nearness, k, T, together);
    worst = larger(worst, departures[k].excess - allowed[k]);
  }
  return worst;
}

// Whether one is larger than allowed in the step x and while the joints brake together, or each by itself
// where `either_way` says so. The departures of the better way to brake are in scratch.departures.
SUPPLE_FN bool departs(const Nearness &nearness, const double *x, const double *allowed) {
  const EffectorScratch &scratch = nearness.scratch;
  const int targets = nearness.t.problem.target_count;
  for (int i = 0; i < nearness.t.problem.n; ++i)
    scratch.velocity[i] = x[i] / nearness.dt;
  const double together = find_departures(nearness, allowed, true, scratch.departures);
  if (!(together > 0) || !nearness.either_way)
    return together > 0;
  Departure *others = scratch.departures + targets;
  const double apart = find_departures(nearness, allowed, false, others);
  if (apart < together)
    std::memcpy(static_cast<void *>(scratch.departures), others, targets * sizeof(Departure));
  return lesser(together, apart) > 0;
}

// The largest excess in scratch.departures.
SUPPLE_FN double worst_excess(const Nearness &nearness) {
  double worst = -1e300;
  for (int k = 0; k < nearness.t.problem.target_count; ++k)
    worst = larger(worst, nearness.scratch.departures[k].excess);
  return worst;
}

} // namespace SUPPLE_ISA
} // namespace supple
