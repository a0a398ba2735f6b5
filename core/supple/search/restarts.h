// The starts of a search, side by side in lanes: where each begins, how it goes on, what it ends with.
#pragma once
#include "supple/search/seeds.h"
#include "supple/search/step.h"

namespace supple {
inline namespace SUPPLE_ISA {

// constants of the search
struct Hunt {
  static constexpr double damping = 0.02; // part of the squared error that damps a step
  static constexpr double halved =
      0.5; // a start is abandoned when its squared error has not fallen to this part
  static constexpr double eased = 0.9; // the same for the caller's own start
  static constexpr int memory = 4;     // in so many steps
  static constexpr int most = 30;      // and after so many in all
  static constexpr int wave = 8;       // the first starts, of which the best is taken, however wide lanes are
  static constexpr int anew = 8;       // for several goals, one start of so many begins anew as a whole
  static constexpr int kept = 96;      // ends of abandoned starts that are gone on from, when none arrives
  static constexpr int trying = 10;    // steps from each of them
  static constexpr int last = 8;       // how many of the best are gone on from to the end
  static constexpr int settling = 300; // steps from the best, to come as near as it gets
  static constexpr int beyond = 64;    // starts where the goal is farther away than the hand can be
  static constexpr double apart = 0.01; // answers that differ by less, in every joint, are one
};

template <class T>
struct SearchDesk {
  AimDesk<T> aim;
  T before[Hunt::memory]; // the squared errors of the last steps, oldest first
  T ease;                 // the part that they must fall to
  double *ends;           // kept x n: the best q where starts were abandoned
  double *row;            // n
  double end_error[Hunt::kept];
  int end_count;
  T steps;                     // how many each lane took
  int start[Lane<T>::width];   // of each lane: its start, -1 for none
  Seeds seeds[Lane<T>::width]; // of the goal of each lane
};

// what is asked of one solve
struct Ask {
  const double *goals; // 12 a target
  const double *start; // n, or null
  int wanted;          // how many answers

  // where locked joints stay, joints that wrap return to, and what answers are sorted by
  SUPPLE_FLAT const double *reference(const Search &search) const { return start ? start : search.middle; }
};

template <class T>
SUPPLE_FN void aim(const Problem &problem, const Search &search, const Stop &stop, T part, bool exact,
                   AimDesk<T> &desk) {
  if (search.frame)
    aim_frame(problem, search, stop, part, exact, desk);
  else
    aim_any(problem, search, stop, part, exact, desk);
}

template <class T>
SUPPLE_FN void set_goals(const Problem &problem, int lane, const double *goals, AimDesk<T> &desk) {
  for (int i = 0; i < 12 * problem.target_count; ++i)
    put(desk.goals[i], lane, goals[i]);
}

// a lane begins the k-th start
template <class T>
SUPPLE_FN void reset_lane(int k, bool own, int lane, SearchDesk<T> &desk) {
  desk.start[lane] = k;
  put(desk.steps, lane, Scalar<T>(0));
  put(desk.ease, lane, own ? Hunt::eased : Hunt::halved);
  for (T &x : desk.before)
    put(x, lane, Scalar<T>(1e30));
}

// balls of a row of q into their limits
SUPPLE_FN void clamp_balls(const Problem &problem, const Search &search, double *row) {
  for (int i = 0; i < problem.ball_count; ++i) {
    const Ball &ball = problem.balls[i];
    if (!(search.unit[ball.index] > 0))
      continue;
    double *at = row + ball.index;
    const Vec<double> r =
        clamp_ball(Vec<double>{at[0], at[1], at[2]}, Vec<double>{ball.axis[0], ball.axis[1], ball.axis[2]},
                   ball.swing, ball.low, ball.high);
    at[0] = r.x, at[1] = r.y, at[2] = r.z;
  }
}

// Another start for several goals, from where a lane stands: the joints that only goals still missed need are
// taken from a lane that meets those, or begin anew; the others stay. False where there are none such.
template <class T>
SUPPLE_FN bool begin_partly(const Problem &problem, const Search &search, int k, int lane, const T *from,
                            T *q, SearchDesk<T> &desk) {
  constexpr int W = Lane<T>::width;
  double *source = desk.row; // of each joint: the lane it is taken from, -1 for anew
  const double missed = 1e-2 * get(desk.aim.error, lane);
  if (!(missed < 1e300))
    return false;
  for (int l = 0; l < problem.n; ++l)
    source[l] = lane;
  for (int met = 0; met < 2; ++met)
    for (int t = 0; t < problem.target_count; ++t) {
      if ((get(desk.aim.misses[t], lane) < missed) != (met == 1))
        continue;
      int other = met ? lane : -1;
      for (int i = 1; i < W && other < 0; ++i)
        if (get(desk.aim.misses[t], (lane + i) % W) < missed)
          other = (lane + i) % W;
      for (int c = search.column_first[t]; c < search.column_first[t + 1]; ++c)
        source[search.columns[c]] = other;
    }
  bool some = false, all_of_them = true;
  for (int l = 0; l < problem.n; ++l)
    some = some || source[l] != lane, all_of_them = all_of_them && source[l] != lane;
  if (!some || all_of_them)
    return false;
  for (int l = 0; l < problem.n; ++l)
    source[l] = source[l] < 0 && search.unit[l] > 0 ? even_start(search, l, k)
                                                    : get(from[l], source[l] < 0 ? lane : int(source[l]));
  clamp_balls(problem, search, source);
  for (int l = 0; l < problem.n; ++l)
    put(q[l], lane, source[l]);
  reset_lane(k, false, lane, desk);
  return true;
}

// Puts the k-th start of a solve into a lane: the caller's own, then the table's, then the middle, then even
// ones.
template <class T>
SUPPLE_FN void begin(const Problem &problem, const Search &search, const Ask &ask, int k, int lane, T *q,
                     Seeds &seeds, SearchDesk<T> &desk) {
  const int n = problem.n;
  double *row = desk.row;
  reset_lane(k, ask.start && k == 0, lane, desk);
  if (ask.start)
    --k;
  const int spot = k >= 0 && k < seeds.count ? seeds.spot(k) : -1;
  if (k >= seeds.count)
    k -= seeds.count;
  for (int l = 0; l < n; ++l) {
    const double x = k < 0       ? ask.start[l]
                     : spot >= 0 ? seeds.value(*search.table, spot, l)
                     : k == 0    ? search.middle[l]
                                 : even_start(search, l, k);
    row[l] = search.unit[l] > 0 ? clip(x, search.low[l], search.high[l]) : ask.reference(search)[l];
  }
  clamp_balls(problem, search, row);
  for (int l = 0; l < n; ++l)
    put(q[l], lane, row[l]);
}

// One step of all lanes. Of those that are active: which have arrived where they stood, and which are
// abandoned there. Where they stood is in `now`.
template <class T>
SUPPLE_FN const T *advance(const Problem &problem, const Search &search, const Stop &stop, int active,
                           SearchDesk<T> &desk, int &there, int &ended) {
  using S = Scalar<T>;
  AimDesk<T> &at = desk.aim;
  aim(problem, search, stop, T(S(Hunt::damping)), false, at);
  there = bits_of(at.there) & active;
  ended = bits_of((at.error > desk.ease * desk.before[0]) | !(at.error < T(S(1e30))));
  ended |= bits_of(desk.steps >= T(S(Hunt::most)));
  desk.steps = desk.steps + T(S(1));
  ended &= active & ~there;
  for (int i = 0; i + 1 < Hunt::memory; ++i)
    desk.before[i] = desk.before[i + 1];
  desk.before[Hunt::memory - 1] = at.error;
  T *now = at.q;
  at.q = at.next;
  at.next = now;
  return now;
}

// how far joint values are from others, in natural sizes by weight; squared
SUPPLE_FN double distance_between(const Problem &problem, const Search &search, const double *a,
                                  const double *b) {
  double sum = 0;
  for (int l = 0; l < problem.n; ++l)
    if (search.unit[l] > 0)
      sum += (a[l] - b[l]) * (a[l] - b[l]) / (search.unit[l] * search.unit[l]);
  return sum;
}

// The joint values of a lane, joints that wrap as near to `reference` as their limits allow; and how far they
// are from it.
template <class T>
SUPPLE_FN double harvest(const Problem &problem, const Search &search, const double *reference, int lane,
                         const T *q, double *out) {
  for (int l = 0; l < problem.n; ++l) {
    double x = get(q[l], lane);
    const double period = search.period[l], low = problem.lower[l], high = problem.upper[l];
    if (period > 0) {
      x += period * std::round((reference[l] - x) / period);
      if (x < low)
        x += period * std::ceil((low - x) / period);
      if (x > high)
        x -= period * std::ceil((x - high) / period);
      x = clip(x, low, high); // whole turns leave a rounding
    }
    out[l] = x;
  }
  return distance_between(problem, search, out, reference);
}

} // namespace SUPPLE_ISA
} // namespace supple
