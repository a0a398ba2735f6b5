// Laws of the command's estimate: what command.h promises, on hands that move, rest, tremble, jump and fall
// silent.
#include "supple/tracking/command.h"
#include "check.h"

namespace test {

using Goal = std::vector<double>;
constexpr double degree = 3.14159265358979323846 / 180;
constexpr double weight = 3.3; // of a metre: an arm of 0.95 m

// a hand: smooth moves of 2 s between places, and rests of 0.9 s

struct Hand {
  static constexpr double rest = 0.9, move = 2;
  std::vector<Vec<double>> place, turn;
  double tremor = 0, phase[6], pace[6];
  explicit Hand(Random &random, int moves = 4) {
    for (int i = 0; i <= moves; ++i) {
      place.push_back({random.between(-0.2, 0.2), random.between(-0.2, 0.2), random.between(-0.2, 0.2)});
      turn.push_back({random.between(-0.5, 0.5), random.between(-0.5, 0.5), random.between(-1, 1)});
    }
    for (int i = 0; i < 6; ++i)
      phase[i] = random.between(0, 6.28), pace[i] = 6.2832 * random.between(7, 12);
  }
  double duration() const { return (rest + move) * double(place.size() - 1) + rest; }
  // how far it is on its way, from 0 to 1; which way that is, in `i`
  double along(double t, int &i) const {
    i = int(t / (rest + move));
    i = i < 0 ? 0 : i > int(place.size()) - 2 ? int(place.size()) - 2 : i;
    const double u = (t - i * (rest + move) - rest) / move;
    return u < 0 ? 0 : u > 1 ? 1 : u;
  }
  Goal at(double t) const {
    int i;
    const double u = along(t, i), s = quintic_step(u),
                 shake = tremor * (u * (1 - u) > 0.1 ? 1 : 10 * u * (1 - u));
    double d[6];
    for (int k = 0; k < 6; ++k)
      d[k] = shake * std::sin(pace[k] * t + phase[k]) / std::sqrt(3.0);
    const Vec<double> p =
        place[i] + s * (place[i + 1] - place[i]) + Vec<double>{1e-3 * d[0], 1e-3 * d[1], 1e-3 * d[2]};
    const Vec<double> r = turn[i] + s * (turn[i + 1] - turn[i]);
    const double small = 0.3 * degree;
    return goal(exp_rotation(Vec<double>{small * d[3], small * d[4], small * d[5]}) * exp_rotation(r), p);
  }
  static Goal goal(const Rot<double> &r, Vec<double> p) {
    return {r.x.x, r.y.x, r.z.x, r.x.y, r.y.y, r.z.y, r.x.z, r.y.z, r.z.z, p.x, p.y, p.z};
  }
};

Rot<double> rotation_of(const double *g) {
  return {{g[0], g[3], g[6]}, {g[1], g[4], g[7]}, {g[2], g[5], g[8]}};
}
Vec<double> position_of(const double *g) { return {g[9], g[10], g[11]}; }
double length(Vec<double> v) { return std::sqrt(dot(v, v)); }
double angle_between(const double *a, const double *b) {
  return length(log_rotation(rotation_of(a) * transpose(rotation_of(b))));
}
double distance_between(const double *a, const double *b) { return length(position_of(a) - position_of(b)); }
bool same_goal(const double *a, const double *b) { return std::memcmp(a, b, 12 * sizeof *a) == 0; }

Goal moved_by(const Goal &goal, const double *d) {
  const Vec<double> p = position_of(goal.data()) + Vec<double>{d[0], d[1], d[2]};
  return Hand::goal(exp_rotation(Vec<double>{d[3], d[4], d[5]}) * rotation_of(goal.data()), p);
}

struct Reader {
  CommandState state{};
  CommandOptions options;
  Command now;
  Reader() { options.position_weight = weight; }
  const Command &step(const Goal &goal, double dt, double stamp = std::nan("")) {
    estimate_command(state, goal.data(), stamp == stamp, stamp, dt, options, now);
    return now;
  }
};

// what an operator sends

struct Sample {
  double taken, heard;
  Goal goal;
};

// trembling, rounded to 0.1 mm and 0.05 degrees, up to 4 ms off its time and one in twenty lost; or late by
// up to 8 ms
std::vector<Sample> operate(const Hand &hand, double rate, bool late, Random &random) {
  std::vector<Sample> out;
  for (int i = 0; i < hand.duration() * rate; ++i) {
    const double off = random.between(-4e-3, 4e-3), taken = i / rate + (late || i == 0 ? 0 : off);
    if (i > 0 && random.unit() < 0.05)
      continue;
    Goal goal = hand.at(taken);
    const Vec<double> r = log_rotation(rotation_of(goal.data())), p = position_of(goal.data());
    auto round = [](double x, double grain) { return std::round(x / grain) * grain; };
    const double turn = 0.05 * degree, way = 1e-4;
    goal = Hand::goal(exp_rotation(Vec<double>{round(r.x, turn), round(r.y, turn), round(r.z, turn)}),
                      {round(p.x, way), round(p.y, way), round(p.z, way)});
    out.push_back({taken, taken + (late && i > 0 ? off + 4e-3 : 0), goal});
    if (out.size() > 1 && out.back().heard < out[out.size() - 2].heard)
      out.back().heard = out[out.size() - 2].heard;
  }
  return out;
}

// laws

void clean(Report &report) {
  Random random{1};
  Worst bits, ways, turns, lags;
  for (int trial = 0; trial < 12; ++trial) {
    const double rate = trial % 2 ? 300 : 1000;
    const bool stamped = trial % 3 == 0;
    const Hand hand(random, 2);
    Reader reader;
    Goal last = hand.at(0);
    bool moved = false;
    for (int i = 0; i < hand.duration() * rate; ++i) {
      Goal goal = hand.at(i / rate);
      int unused;
      const double u = hand.along(i / rate, unused);
      // a resting hand's numbers may flicker in their last bits
      if ((u == 0 || u == 1) && random.below(9) == 0)
        goal[random.below(12)] += random.between(-2e-16, 2e-16);
      const bool first = !moved && !stamped && u > 0;
      const Command &c = reader.step(goal, 1 / rate, stamped ? 1e9 + i / rate : std::nan(""));
      // unless it is stamped, the very first motion is held for one tick, to see whether the next tick moves
      // too
      if (!first) {
        bits.see(!same_goal(c.goal, goal.data()), i);
        const Vec<double> way = position_of(goal.data()) - position_of(last.data()) -
                                Vec<double>{c.displacement[0], c.displacement[1], c.displacement[2]};
        const Rot<double> there =
            exp_rotation(Vec<double>{c.displacement[3], c.displacement[4], c.displacement[5]}) *
            rotation_of(last.data());
        const Goal turned = Hand::goal(there, {0, 0, 0});
        ways.see(length(way), i);
        for (int k = 0; k < 9; ++k)
          turns.see(turned[k] - goal[k], i);
      }
      lags.see(c.lag, i);
      moved = moved || first;
      last = goal;
    }
  }
  report.add("a command that is new at each tick passes to the last bit", "double", bits.error, 0, bits.at);
  report.add("its displacement is the way from the last", "double", ways.error, 0, ways.at);
  report.add("its displacement turns the last into it", "double", turns.error, 2e-15, turns.at);
  report.add("it does not lag", "double", lags.error, 0, lags.at);
}

void operators(Report &report) {
  Random random{2};
  Worst far, turned, lags, moving_lags, rests, rest_speeds, jerks, turn_jerks, adds, first;
  double out = 0, ticks = 0;
  long allocated = 0;
  for (double rate : {60.0, 90.0, 125.0})
    for (double loop : {300.0, 1000.0})
      for (int way = 0; way < 3; ++way) { // stamped, not, stamped and late
        Hand hand(random);
        hand.tremor = 1;
        const std::vector<Sample> samples = operate(hand, rate, way == 2, random);
        const double dt = 1 / loop;
        Reader reader;
        Goal last = samples[0].goal;
        std::size_t next = 0, changed = 0;
        Vec<double> v[3] = {}, w[3] = {};
        double jerk = 0, turn_jerk = 0, count = 0;
        for (int i = 0; i < hand.duration() * loop; ++i) {
          const double t = i * dt;
          while (next < samples.size() && samples[next].heard <= t + 1e-12) {
            if (next > 0 && samples[next].goal != samples[next - 1].goal)
              changed = next;
            ++next;
          }
          const Sample &newest = samples[next - 1];
          const long before = allocations;
          const Command &c = reader.step(newest.goal, dt, way == 1 ? std::nan("") : newest.taken - 777);
          allocated += allocations - before;
          lags.see(c.lag, t);
          int unused;
          const double along = hand.along(t, unused);
          if (along > 0.5 && along < 0.95)
            moving_lags.see(c.lag, t);
          // what is moved leads from one frame to the next
          const Goal there = moved_by(last, c.displacement);
          if (way != 1 || rate < 100)
            adds.see(distance_between(there.data(), c.goal) + angle_between(there.data(), c.goal), t);
          last = Goal(c.goal, c.goal + 12);
          v[2] = v[1], v[1] = v[0], v[0] = {c.displacement[0], c.displacement[1], c.displacement[2]};
          w[2] = w[1], w[1] = w[0], w[0] = {c.displacement[3], c.displacement[4], c.displacement[5]};
          if (loop == 1000 && rate < 100)
            first.see(length(v[0] - v[1]) * loop * loop, t);
          // where two samples come in the first two ticks of a motion they pass, before it is known how the
          // hand is sampled
          if (t < Hand::rest + 0.5)
            continue;
          Hand still = hand;
          still.tremor = 0;
          const Goal meant = still.at(t - c.lag);
          const double away = distance_between(c.goal, meant.data()),
                       angle = angle_between(c.goal, meant.data());
          far.see(away, t), turned.see(angle, t);
          out += away > 2e-3 || angle > 0.8 * degree, ++ticks;
          const Vec<double> j = v[0] - 2.0 * v[1] + v[2], k = w[0] - 2.0 * w[1] + w[2];
          jerk += dot(j, j), turn_jerk += dot(k, k), ++count;
          if (t - samples[changed].heard > 0.57) {
            rests.see(!same_goal(c.goal, newest.goal.data()), t);
            rest_speeds.see(length(v[0]) + length(w[0]), t);
          }
        }
        jerks.see(std::sqrt(jerk / count) * loop * loop * loop, rate);
        turn_jerks.see(std::sqrt(turn_jerk / count) * loop * loop * loop, rate);
      }
  report.add("a sampled hand is followed, metres at worst", "double", far.error, 2.5e-3, far.at);
  report.add("a sampled hand is followed, radians at worst", "double", turned.error, 0.8 * degree, turned.at);
  report.add("beyond 1 mm and 0.5 degrees and the tremor: part of the time", "double", out / ticks, 2e-3);
  report.add("the lag in the second half of a move stays below 25 ms", "double", moving_lags.error, 0.025,
             moving_lags.at);
  report.add("the lag of a trembling hand stays below 100 ms", "double", lags.error, 0.1001, lags.at);
  // the samples as they come would make tens of thousands
  report.add("the command has no steps: m/s^3", "double", jerks.error, 75, jerks.at);
  report.add("the command has no steps: rad/s^3", "double", turn_jerks.error, 350, turn_jerks.at);
  report.add("a hand at rest is read to the last bit", "double", rests.error, 0, rests.at);
  report.add("a hand at rest does not move", "double", rest_speeds.error, 0, rest_speeds.at);
  report.add("what is moved leads from frame to frame", "double", adds.error, 1e-14, adds.at);
  report.add("not even the first sample is a step: m/s^2", "double", first.error, 30, first.at);
  report.add("commands are read without allocating", "double", double(allocated), 0);
}

void jumps(Report &report) {
  Random random{3};
  Worst flags, bits, moves, after;
  for (int trial = 0; trial < 60; ++trial) {
    const double dt = trial % 2 ? 1.0 / 300 : 1e-3,
                 interval = trial % 3 == 0 ? dt : 1.0 / (trial % 3 == 1 ? 60 : 125);
    const bool stamped = trial % 5 < 2;
    Reader reader;
    Goal goal = Hand(random).at(0);
    Goal far = goal;
    far[9] += random.between(0.3, 0.5);
    far[10] -= 0.3;
    const Goal turned =
        Hand::goal(exp_rotation(Vec<double>{1, random.between(-1, 1), 1}) * rotation_of(goal.data()),
                   position_of(goal.data()));
    for (int i = 0; i < int(1.9 / dt); ++i) {
      const double t = i * dt, taken = std::floor(t / interval + 1e-9) * interval;
      // it trembles a little, so that it is known how it is sampled, then rests, jumps, and may jump back
      Goal now = taken > 1.1 && (taken < 1.4 || trial % 4 < 2) ? trial % 2 ? far : turned : goal;
      if (taken < 0.4)
        now[11] += 1e-3 * std::sin(30 * taken);
      if (taken > 1.6)
        now[11] += 0.05 * (taken - 1.6);
      const Goal last(reader.now.goal, reader.now.goal + 12);
      const Command &c = reader.step(now, dt, stamped ? taken : std::nan(""));
      if (t < 1.05)
        continue;
      if (t > 1.6) { // and moves on from there
        for (double m : c.displacement)
          after.see(m / dt, t);
        continue;
      }
      const bool jumped = !same_goal(last.data(), now.data());
      flags.see(c.jumped != jumped, t), bits.see(!same_goal(c.goal, now.data()), t);
      for (double m : c.displacement)
        moves.see(m, t);
      for (double a : c.acceleration)
        moves.see(a, t);
    }
  }
  report.add("a jump is told", "double", flags.error, 0, flags.at);
  report.add("what jumps is there at once, and stays", "double", bits.error, 0, bits.at);
  report.add("what has jumped moves on at its own speed", "double", after.error, 0.2, after.at);
  report.add("what jumps does not move", "double", moves.error, 0, moves.at);
}

// A steady hand that stops being heard: it is stopped softly, not far from where it was seen last.
void silence(Report &report) {
  Worst beyond, rests, steps;
  for (double rate : {60.0, 125.0})
    for (double dt : {1.0 / 300, 1e-3})
      for (bool stamped : {false, true}) {
        Reader reader;
        Vec<double> last{};
        for (int i = 0; i * dt < 3; ++i) {
          const double t = i * dt, taken = std::floor((t < 2 ? t : 2) * rate + 1e-9) / rate;
          const double u = taken < 0.5 ? 0 : taken - 0.5,
                       x = 0.3 * (u < 0.4 ? u * u * u / 0.16 * (1 - u / 0.8) : u - 0.2);
          const Command &c =
              reader.step(Hand::goal(identity<double>(), {x, 0, 0}), dt, stamped ? taken : std::nan(""));
          const Vec<double> moved{c.displacement[0], c.displacement[1], c.displacement[2]};
          if (t > 2)
            beyond.see(c.goal[9] - x > 0 ? c.goal[9] - x : 0, t);
          if (t > 2.6)
            rests.see(
                !same_goal(c.goal, Hand::goal(identity<double>(), {x, 0, 0}).data()) || length(moved) > 0, t);
          if (t > 0.9)
            steps.see(length(moved - last) / dt / dt, t);
          last = moved;
        }
      }
  report.add("a hand at 0.3 m/s that falls silent goes on for metres", "double", beyond.error, 0.02,
             beyond.at);
  report.add("a hand that falls silent rests where it was last", "double", rests.error, 0, rests.at);
  report.add("a hand at 0.3 m/s that falls silent stops with m/s^2", "double", steps.error, 12, steps.at);
}

// A hand that turns on and on, through every half turn; and one that falls silent and comes back 4 cm
// farther.
void turns(Report &report) {
  Worst speeds, beyond;
  Reader turning, back;
  for (int i = 0; i < 9000; ++i) {
    const double t = i * 1e-3, taken = std::floor(t * 60) / 60;
    const Command &c =
        turning.step(Hand::goal(exp_rotation(Vec<double>{0, 0, 1.7 * taken}), {0, 0, 0}), 1e-3);
    if (t > 1)
      speeds.see(c.displacement[5] * 1e3 - 1.7, t);
    const double x = 0.1 * (taken < 2 ? taken : t < 3 ? 2 : 2.4);
    const Command &b = back.step(Hand::goal(identity<double>(), {x, 0, 0}), 1e-3);
    if (t > 3)
      beyond.see(b.jumped || b.goal[9] > x ? b.jumped + b.goal[9] - x : 0, t);
  }
  report.add("a steady turn is steady: rad/s", "double", speeds.error, 0.05, speeds.at);
  report.add("back from silence nothing jumps or overshoots: metres", "double", beyond.error, 1e-12,
             beyond.at);
}

// A hand that is quicker than the wide window follows: 3 cm, three times a second.
void quick(Report &report) {
  Worst far;
  Reader reader;
  for (int i = 0; i < 4000; ++i) {
    auto at = [](double t) {
      return Hand::goal(identity<double>(), {0.03 * std::sin(19 * t) * (t < 1 ? t : 1), 0, 0});
    };
    const double t = i * 1e-3, taken = std::floor(t * 90) / 90;
    const Command &c = reader.step(at(taken), 1e-3, taken);
    if (t > 1.5)
      far.see(distance_between(c.goal, at(t - c.lag).data()), t);
  }
  report.add("a quick hand is not overdone: metres", "double", far.error, 0.008, far.at);
}

// When samples of a device are taken: up to 4 ms off its time, and a part of them lost.
std::vector<double> taken_times(double rate, double loss, double duration, Random &random) {
  std::vector<double> out{0};
  for (int i = 1; i < duration * rate; ++i) {
    const double t = i / rate + random.between(-4e-3, 4e-3);
    if (random.unit() >= loss)
      out.push_back(t > out.back() ? t : out.back());
  }
  return out;
}

// A hand that swings in place: what is read does not swing more, peak to peak, however small or large.
void swings(Report &report) {
  Random random{7};
  Worst ratios;
  int trial = 0;
  for (double rate : {60.0, 90.0, 125.0})
    for (double hertz : {0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 12.0, 15.0, 20.0, 30.0})
      for (double size : {5e-4, 2e-3, 0.012, 0.04}) {
        if (size * hertz > 0.13) // 5 m/s^2 and more
          continue;
        const double dt = ++trial % 2 ? 1e-3 : 1.0 / 300, duration = 4 + 3 / hertz;
        const std::vector<double> taken = taken_times(rate, 0.05, duration, random);
        Reader reader;
        double low = 1, high = -1, least = 1, most = -1;
        std::size_t next = 0;
        for (int i = 0; i * dt < duration; ++i) {
          auto at = [=](double t) { return size * (t < 1 ? t : 1) * std::sin(6.283185307 * hertz * t); };
          const double t = i * dt;
          while (next + 1 < taken.size() && taken[next + 1] <= t)
            ++next;
          const double x = at(taken[next]), now = at(t);
          const Command &c = reader.step(Hand::goal(identity<double>(), {x, 0.5 * x, 0}), dt,
                                         trial % 3 ? taken[next] : std::nan(""));
          if (t < 2)
            continue;
          low = c.goal[9] < low ? c.goal[9] : low, high = c.goal[9] > high ? c.goal[9] : high;
          least = now < least ? now : least, most = now > most ? now : most;
        }
        ratios.see((high - low) / (most - least), hertz);
      }
  report.add("a hand that swings is not read with a larger swing", "double", ratios.error, 1.02, ratios.at);
}

// How far what is read of a hand that swings goes, over how far the hand does, from 2 s on. `hand` gives its
// place, `seen` when the sample that a tick sees was taken.
template <class At, class Seen>
double swing_ratio(double dt, double duration, bool stamped, At hand, Seen seen) {
  Reader reader;
  double low = 1, high = -1, least = 1, most = -1;
  for (int i = 0; i * dt < duration; ++i) {
    const double t = i * dt, taken = seen(i), x = hand(taken), now = hand(t);
    const Command &c =
        reader.step(Hand::goal(identity<double>(), {x, 0.5 * x, 0}), dt, stamped ? taken : std::nan(""));
    if (t < 2)
      continue;
    low = c.goal[9] < low ? c.goal[9] : low, high = c.goal[9] > high ? c.goal[9] : high;
    least = now < least ? now : least, most = now > most ? now : most;
  }
  return (high - low) / (most - least);
}

// A device about as fast as the loop: some ticks bring a sample and some do not, so that now each is read and
// now the window. A hand that swings meanwhile is not read with a much larger swing.
void irregular(Report &report) {
  Random random{9};
  Worst ratios, missed;
  for (int trial = 0; trial < 160; ++trial) {
    const double loop = 60 * std::pow(15.0, random.unit()), rate = loop * random.between(0.7, 1.6),
                 dt = 1 / loop;
    const double losses[] = {0, 0.01, 0.03, 0.06, 0.1, 0.2}, loss = losses[random.below(6)];
    const double delay = random.below(2) ? 0 : random.between(0, 0.008);
    const double fastest = loop < 150 ? loop / 5 : 30, hertz = 0.5 * std::pow(fastest / 0.5, random.unit());
    double size = 1e-4 * std::pow(300.0, random.unit());
    size = size * hertz < 0.1 ? size : 0.1 / hertz; // at most 0.6 m/s
    const bool stamped = random.below(2);
    std::vector<double> taken{0}, heard{0};
    for (int i = 1; i < 8 * rate; ++i)
      if (random.unit() >= loss) {
        taken.push_back(i / rate);
        const double here = taken.back() + random.between(0, delay);
        heard.push_back(here > heard.back() ? here : heard.back());
      }
    auto hand = [=](double t) { return size * (t < 1 ? t : 1) * std::sin(6.283185307 * hertz * t); };
    std::size_t next = 0;
    ratios.see(swing_ratio(dt, 8, stamped, hand,
                           [&](int i) {
                             while (next + 1 < heard.size() && heard[next + 1] <= i * dt + 1e-9)
                               ++next;
                             return taken[next];
                           }),
               trial);
    // each tick brings one, but for three every now and then
    const double period = random.between(0.7, 3);
    double last = 0;
    missed.see(swing_ratio(dt, 8, stamped, hand,
                           [&](int i) {
                             const int since = int(std::fmod(i * dt, period) / dt);
                             return last = since == 0 || since == 2 || since == 4 ? last : i * dt;
                           }),
               trial);
  }
  report.add("irregular samples of a hand that swings: its swing", "double", ratios.error, 1.05, ratios.at);
  report.add("three ticks without a sample now and then: its swing", "double", missed.error, 1.05, missed.at);
}

// What is read of a quick swing accelerates little more than the hand; where samples are lost, at most four
// times as much.
void smoothness(Report &report) {
  Worst clean, lossy;
  Random random{10};
  for (double rate : {60.0, 90.0, 125.0})
    for (double hertz : {1.0, 2.0, 3.0, 4.0, 5.0})
      for (double dt : {1.0 / 300, 1e-3})
        for (bool lost : {false, true}) {
          const std::vector<double> taken = taken_times(rate, 0.05, 6, random);
          Reader reader;
          std::size_t next = 0;
          const double pace = 6.283185307 * hertz, most = 0.012 * pace * pace;
          for (int i = 0; i * dt < 6; ++i) {
            const double t = i * dt;
            while (next + 1 < taken.size() && taken[next + 1] <= t)
              ++next;
            const double seen = lost ? taken[next] : std::floor(t * rate + 1e-9) / rate;
            const Command &c = reader.step(
                Hand::goal(identity<double>(), {0.012 * (seen < 1 ? seen : 1) * std::sin(pace * seen), 0, 0}),
                dt, seen);
            if (t > 2.5)
              (lost ? lossy : clean).see(std::fabs(c.acceleration[0]) / most, hertz);
          }
        }
  report.add("acceleration of what is read of a swing, over the hand's", "double", clean.error, 1.15,
             clean.at);
  report.add("the same with lost samples", "double", lossy.error, 4, lossy.at);
}

// A device of 10 Hz, or one that loses many samples: what is read stays between where the hand was and where
// it stops.
void sparse(Report &report) {
  Random random{8};
  Worst beyond, lost;
  for (int trial = 0; trial < 60; ++trial) {
    const bool slow = trial % 2;
    const std::vector<double> taken = taken_times(slow ? 10 : 60, slow ? 0.05 : 0.3, 5, random);
    const double time = trial % 3 == 0 ? 0.6 : trial % 3 == 1 ? 1 : 2, length = trial % 3 == 0 ? 0.2 : 0.3;
    Reader reader;
    std::size_t next = 0;
    for (int i = 0; i < 2000; ++i) {
      const double t = i * 2.5e-3;
      while (next + 1 < taken.size() && taken[next + 1] <= t)
        ++next;
      const double u = (taken[next] - 1.5) / time, x = length * quintic_step(u < 0 ? 0 : u > 1 ? 1 : u);
      const Command &c = reader.step(Hand::goal(identity<double>(), {x, 0, 0}), 2.5e-3,
                                     trial % 4 < 2 ? taken[next] : std::nan(""));
      const double out = c.goal[9] > length ? c.goal[9] - length : c.goal[9] < 0 ? -c.goal[9] : 0;
      (slow ? beyond : lost).see(out, trial);
    }
  }
  report.add("a hand that is sampled at 10 Hz is overshot by metres", "double", beyond.error, 2e-3,
             beyond.at);
  report.add("a hand of whose samples 30 % are lost is overshot by metres", "double", lost.error, 5e-3,
             lost.at);
}

// Once its samples come at each tick, a hand is read as it comes, and no step is felt on the way there.
void faster(Report &report) {
  Worst steps, bits, lags;
  for (double dt : {1.0 / 300, 1e-3}) {
    Reader reader;
    Vec<double> last{};
    for (int i = 0; i * dt < 5; ++i) {
      const double t = i * dt, taken = t < 3 ? std::floor(t * 60 + 1e-9) / 60 : t;
      const double x = 0.1 * (1 - std::cos(2 * taken)), turn = 1 - std::cos(taken);
      const Goal goal = Hand::goal(exp_rotation(Vec<double>{0, 0.5 * turn, turn}), {x, 0.5 * x, 0});
      const Command &c = reader.step(goal, dt);
      const Vec<double> moved{c.displacement[0], c.displacement[1], c.displacement[2]};
      if (t > 1)
        steps.see(length(moved - last) / dt / dt, t);
      if (t > 4) {
        bits.see(!same_goal(c.goal, goal.data()), t);
        lags.see(c.lag, t);
      }
      last = moved;
    }
  }
  // the other way, after a rest
  Worst slower;
  Reader reader;
  for (int i = 0; i < 5000; ++i) {
    auto at = [](double time) {
      return Hand::goal(identity<double>(), {0.1 * std::sin(2 * (time < 1   ? time
                                                                 : time < 2 ? 1
                                                                            : time - 1)),
                                             0, 0});
    };
    const double t = i * 1e-3;
    const Command &c = reader.step(at(t < 2 ? t : std::floor(t * 60) / 60), 1e-3);
    if (t > 2.15)
      slower.see(c.lag == 0, t);
    if (t > 2.5)
      slower.see(distance_between(c.goal, at(t - c.lag).data()), t);
  }
  report.add("a hand that is sampled more slowly after a rest is followed: metres", "double", slower.error,
             2e-3, slower.at);
  report.add("from slow samples to one a tick no step is felt: m/s^2", "double", steps.error, 1.5, steps.at);
  report.add("after slow samples, one a tick passes to the last bit", "double", bits.error, 0, bits.at);
  report.add("after slow samples, one a tick does not lag", "double", lags.error, 0, lags.at);
}

void stamps(Report &report) {
  Worst old, anew;
  Random random{4};
  const Hand hand(random);
  Reader with, without;
  for (int i = 0; i < 1200; ++i) {
    const double t = 0.9 + i * 1e-3, taken = std::floor(t * 90) / 90;
    const Goal goal = hand.at(taken);
    const bool late = i > 100 && i % 7 == 3 && taken == std::floor((t - 1e-3) * 90) / 90;
    // every now and then an old sample comes again, stamped as such
    const Command a = with.step(late ? hand.at(taken - 0.1) : goal, 1e-3, late ? taken - 0.1 : taken);
    const Command b = without.step(goal, 1e-3, taken);
    old.see(!same_goal(a.goal, b.goal), t);
  }
  Reader fast;
  for (int i = 0; i < 1200; ++i) {
    const double t = 0.9 + i * 1e-3;
    const Goal last(fast.now.goal, fast.now.goal + 12);
    const Command &c = fast.step(hand.at(i % 50 == 30 ? t - 0.1 : t), 1e-3, i % 50 == 30 ? t - 0.1 : t);
    if (i % 50 == 30)
      old.see(!same_goal(c.goal, last.data()) || c.displacement[0] != 0 || c.displacement[3] != 0, t);
  }
  // the sender starts again, with another clock
  Reader reader;
  for (int i = 0; i < 3000; ++i) {
    const double t = 0.9 + i * 1e-3, taken = std::floor(t * 90) / 90;
    const Command &c = reader.step(hand.at(taken), 1e-3,
                                   i < 700    ? 5000 + taken
                                   : i < 2000 ? taken
                                              : 1e12 + taken);
    if (i > 200)
      anew.see(distance_between(c.goal, hand.at(t - c.lag).data()), t);
  }
  // samples that travel for up to 8 ms; and samples that wait for the next tick, of which nobody tells
  Worst late, early;
  Reader stamped, plain;
  double sum = 0, heard = 0;
  for (int i = 0, k = 0; i < 9000; ++i) {
    const double t = i * 1e-3;
    while (t > heard)
      ++k, heard = k / 90.0 + random.between(0, 8e-3);
    auto at = [](double time) {
      return Hand::goal(identity<double>(), {0.2 * std::sin(1.5 * time), 0.3 * time, 0});
    };
    const Command &c = stamped.step(at((k - 1) / 90.0), 1e-3, 44 + (k - 1) / 90.0);
    if (t > 1)
      late.see(distance_between(c.goal, at(t - c.lag).data()), t);
    const double tick = i / 300.0;
    const Command &d = plain.step(at(std::floor(tick * 71.3) / 71.3), 1 / 300.0);
    if (t > 1)
      sum += d.goal[10] - 0.3 * (tick - d.lag);
  }
  early.see(sum / 8000);
  report.add("stamped samples may travel: metres", "double", late.error, 1e-3, late.at);
  report.add("samples without stamps are not taken for newer than they are: metres", "double", early.error,
             1e-4);
  report.add("a sample that is older than the last is ignored", "double", old.error, 0, old.at);
  report.add("a clock that was set anew is believed: metres", "double", anew.error, 1e-2, anew.at);
}

// Ticks of any length, frames and stamps of any kind: what comes out is a rotation and a position.
void nonsense(Report &report) {
  Random random{5};
  Worst wrong, lags;
  const double strange[] = {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e308, -1e308, 1e200, 0, 1e-300};
  for (int trial = 0; trial < 300; ++trial) {
    Reader reader;
    reader.options.has_direction = trial % 4 == 0;
    if (trial % 5 == 0)
      reader.options.position_weight = 0;
    const Hand hand(random);
    double t = 0;
    for (int i = 0; i < 400; ++i) {
      double dt = std::pow(10.0, random.between(-4, -1)), stamp = t;
      t += dt;
      Goal goal = hand.at(random.below(4) ? std::floor(t * 60) / 60 : t);
      if (random.below(40) == 0)
        goal = hand.at(random.between(0, 10));
      if (random.below(20) == 0)
        goal[random.below(12)] = strange[random.below(8)];
      if (random.below(30) == 0)
        for (double &x : goal)
          x = strange[random.below(8)];
      if (random.below(20) == 0)
        stamp = strange[random.below(8)];
      if (random.below(20) == 0)
        dt = strange[random.below(8)];
      if (random.below(20) == 0)
        dt = -dt;
      estimate_command(reader.state, goal.data(), random.below(2) == 0, stamp, dt, reader.options,
                       reader.now);
      bool given = true;
      for (int k = 0; k < 12; ++k)
        given = given && (std::fabs(goal[k]) < 1e30 || (reader.options.has_direction && k > 2 && k < 9));
      if (!reader.state.started && !given)
        continue;
      for (int k = 0; k < 12; ++k)
        if (!reader.options.has_direction || k < 3 || k > 8)
          wrong.see(!std::isfinite(reader.now.goal[k]), i);
      for (int k = 0; k < 6; ++k)
        wrong.see(!std::isfinite(reader.now.displacement[k]) || !std::isfinite(reader.now.acceleration[k]),
                  i);
      lags.see(reader.now.lag, i);
    }
  }
  report.add("whatever comes, the command is a number", "double", wrong.error, 0, wrong.at);
  report.add("whatever comes, the lag stays below 200 ms", "double", lags.error, 0.2, lags.at);
}

// What the window reads is the parabola of least squares, here by elimination in long double.
void parabolas(Report &report) {
  Random random{6};
  Worst fits, exact;
  for (int trial = 0; trial < 200; ++trial) {
    Reader reader;
    CommandState &s = reader.state;
    const CommandOptions &o = reader.options;
    s.scale = random.between(0.5, 1.5);
    s.clock = 10;
    const bool parabola = trial % 2;
    for (int i = 0; i < CommandState::slots; ++i) {
      s.sample_time[i] = s.clock - random.between(0, 0.5);
      s.received_time[i] = s.sample_time[i] + random.between(0, 0.01);
      const double t = s.sample_time[i] - s.clock;
      for (int k = 0; k < CommandState::numbers; ++k)
        s.value[k][i] = parabola ? k + t * (1 - k * t) : random.between(-1, 1);
    }
    Slots packed[slot_packs];
    double counts[CommandState::slots], v[CommandState::numbers] = {};
    const double scaled = s.scale < 1 ? s.scale : 1;
    if (!parabola_weights(s, s.clock, o.window, o.rise, o.lag * scaled, packed))
      fits.see(1);
    std::memcpy(counts, packed, sizeof counts);
    for (int k = 0; k < CommandState::numbers; ++k)
      for (int i = 0; i < CommandState::slots; ++i)
        v[k] += counts[i] * s.value[k][i];
    const long double lag = o.lag * (s.scale < 1 ? s.scale : 1);
    for (int k = 0; k < CommandState::numbers; ++k) {
      long double a[3][4] = {};
      for (int i = 0; i < CommandState::slots; ++i) {
        const long double age = (s.clock - s.sample_time[i]) / (o.window * s.scale),
                          known = (s.clock - s.received_time[i]) / (o.rise * s.scale);
        const long double w =
            (age < 1 ? (1 - age) * (1 - age) * (1 - age) : 0) * quintic_step(double(known < 0   ? 0
                                                                                    : known > 1 ? 1
                                                                                                : known));
        const long double x = s.sample_time[i] - s.clock + lag, row[4] = {1, x, x * x, s.value[k][i]};
        for (int p = 0; p < 3; ++p)
          for (int q = 0; q < 4; ++q)
            a[p][q] += w * row[p] * row[q];
      }
      for (int p = 2; p > 0; --p)
        for (int q = 0; q < p; ++q) {
          const long double share = a[q][p] / a[p][p];
          for (int r = 0; r < 4; ++r)
            a[q][r] -= share * a[p][r];
        }
      fits.see(v[k] - a[0][3] / a[0][0]);
      if (parabola)
        exact.see(v[k] - (k - lag * (1 + k * lag)));
    }
  }
  report.add("the window is read by least squares", "double", fits.error, 1e-12, fits.at);
  report.add("a parabola is read exactly", "double", exact.error, 1e-12, exact.at);
}

// A direction is read as a rotation is: near, of length one, and at rest to the last bit.
void pointing(Report &report) {
  Worst near, lengths, rests;
  Reader reader;
  reader.options.has_direction = true;
  for (int i = 0; i < 4000; ++i) {
    auto at = [](double t) {
      const double a = t > 3 ? 3 : t, u = std::sin(a), turn = 1.2 * a;
      return Goal{std::cos(turn) * std::cos(u),
                  std::sin(turn) * std::cos(u),
                  std::sin(u),
                  7,
                  7,
                  7,
                  7,
                  7,
                  std::nan(""),
                  0,
                  0,
                  0};
    };
    const double t = i * 1e-3;
    const Goal goal = at(std::floor(t * 90) / 90);
    const Command &c = reader.step(goal, 1e-3);
    const Goal meant = at(t - c.lag);
    const Vec<double> d{c.goal[0], c.goal[1], c.goal[2]};
    lengths.see(length(d) - 1, t);
    if (t > 1 && t < 3)
      near.see(length(d - Vec<double>{meant[0], meant[1], meant[2]}), t);
    if (t > 3.6) {
      rests.see(std::memcmp(c.goal, goal.data(), 3 * sizeof(double)), t);
      rests.see(c.displacement[3], t);
    }
  }
  report.add("a direction is followed: radians", "double", near.error, 0.01, near.at);
  report.add("a direction keeps its length", "double", lengths.error, 4e-16, lengths.at);
  report.add("a direction at rest is read to the last bit", "double", rests.error, 0, rests.at);
}

// The window is entered, and left again before it has been entered quite: in a fast loop 60 samples take less
// than the blend. What is read goes on without a step.
void window_left_early(Report &report) {
  Worst steps;
  for (double rate : {300.0, 500.0, 1000.0})
    for (bool stamped : {false, true}) {
      Reader reader;
      double taken = 0, last = 0;
      for (int i = 0; i < 2 * rate; ++i) {
        const int since = i - int(rate);
        taken = since == 0 || since == 2 || since == 4 ? taken : i / rate;
        const double x = 0.3 * taken * (taken < 1 ? taken * (2 - taken) : 1);
        const Command &c =
            reader.step(Hand::goal(identity<double>(), {x, 0, 0}), 1 / rate, stamped ? taken : std::nan(""));
        const double v = c.displacement[0] * rate;
        if (since > 5)
          steps.see(v - last, i / rate);
        last = v;
      }
    }
  report.add("a window that is left early is left without a step: m/s", "double", steps.error, 0.1, steps.at);
}

// A fast device jumps and moves on; it may jump back soon, or fall silent: the place before does not come
// back.
void fast_jumps(Report &report) {
  Random random{11};
  Worst back, flags;
  for (int trial = 0; trial < 60; ++trial) {
    const double loop = trial % 2 ? 300 : 1000, rate = random.between(150, 500), jump = 1.5 + random.unit(),
                 home = jump + random.between(0.3, 1);
    Reader reader;
    int jumps = 0;
    for (int i = 0; i < 4.5 * loop; ++i) {
      const double t = i / loop, taken = std::floor(t * rate + 1e-9) / rate;
      const double x = (taken > jump && taken < home ? 0.4 : 0) + 0.05 * taken;
      const Command &c = reader.step(Hand::goal(identity<double>(), {x, 0, 0}), 1 / loop, taken);
      jumps += c.jumped;
      if (jumps > 0)
        back.see(c.goal[9] - x, t);
    }
    flags.see(jumps - 2, trial);
  }
  report.add("a fast device that has jumped: metres from it", "double", back.error, 0.02, back.at);
  report.add("a fast device jumps there and back", "double", flags.error, 0, flags.at);
}

} // namespace test

int main() {
  test::Report report;
  test::clean(report);
  test::operators(report);
  test::jumps(report);
  test::silence(report);
  test::turns(report);
  test::quick(report);
  test::swings(report);
  test::window_left_early(report);
  test::fast_jumps(report);
  test::irregular(report);
  test::smoothness(report);
  test::sparse(report);
  test::faster(report);
  test::stamps(report);
  test::nonsense(report);
  test::parabolas(report);
  test::pointing(report);
}
