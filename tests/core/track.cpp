// Laws of the tracker's parts: the box, curvature, directions and factors, and ticks that allocate nothing.
#define SUPPLE_CANARIES // between all arrays of memory and scratch, checked after every tick
#include "counted.h"

#include "../../bind/kernels/tracking.cpp"
#include "supple/tracking/setup.h"

#include <algorithm>

namespace test {

constexpr int most = 21, room = 3 * most, largest = 20; // joints, joint values, size of a matrix
constexpr int axis_room = room + mass_scratch * most + 1;
#if defined(SUPPLE_PLAIN_ARRAYS)
constexpr int rounds = 1; // that build is not optimised
#else
constexpr int rounds = 10;
#endif

double log_between(Random &random, double low, double high) {
  return std::exp(random.between(std::log(low), std::log(high)));
}

// the box

void random_matrix(Random &random, int n, double least, double *M) { // symmetric, eigenvalues above `least`
  double A[largest * largest];
  for (int i = 0; i < n * n; ++i)
    A[i] = random.between(-1, 1);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      M[i * n + j] = i == j ? least : 0;
      for (int k = 0; k < n; ++k)
        M[i * n + j] += A[k * n + i] * A[k * n + j];
    }
}

struct BoxProblem {
  int n;
  double M[largest * largest], wanted[largest], low[largest], high[largest], x[largest];

  BoxProblem(Random &random, int n_) : n(n_) {
    random_matrix(random, n, log_between(random, 1e-6, 1), M);
    const double size = log_between(random, 1e-6, 1e3);
    for (int i = 0; i < n; ++i) {
      const int style = random.below(8);
      wanted[i] = size * random.between(-1, 1);
      low[i] = size * random.between(-1, 0.5), high[i] = low[i] + size * random.between(0, 1);
      if (style == 0)
        high[i] = low[i]; // a joint that cannot but go there
      if (style == 1)
        high[i] = low[i] + size * log_between(random, 1e-15, 1e-6);
      if (style == 2)
        low[i] = -1e300;
      if (style == 3)
        high[i] = 1e300;
      if (style == 4)
        wanted[i] = random.below(2) ? low[i] : high[i];
      if (!(std::fabs(wanted[i]) < 1e299))
        wanted[i] = 0;
    }
  }
  void solve() {
    double A[largest * largest], p[largest];
    int free[largest];
    signed char side[largest];
    nearest_in_box(M, n, wanted, low, high, BoxScratch{A, p, free, side}, x);
  }
  // how far x is from being the nearest: the slope where it is free, and its outward part where it is not
  double away() const {
    double worst = 0, size = 0;
    for (int i = 0; i < n; ++i)
      size = larger(size, std::fabs(wanted[i] - x[i]));
    for (int i = 0; i < n; ++i) {
      double slope = 0, norm = 0;
      for (int k = 0; k < n; ++k)
        slope += M[i * n + k] * (x[k] - wanted[k]), norm += std::fabs(M[i * n + k]);
      if (x[i] == low[i] && x[i] == high[i])
        continue;
      if (x[i] <= low[i])
        slope = lesser(slope, 0.0);
      if (x[i] >= high[i])
        slope = larger(slope, 0.0);
      worst = larger(worst, std::fabs(slope) / larger(norm * size, 1e-300));
    }
    return worst;
  }
};

void boxes(Report &report) {
  Random random{31};
  Worst optimal, inside;
  long made = 0;
  for (int round = 0; round < 800 * rounds; ++round) {
    BoxProblem p(random, 1 + random.below(12));
    const long before = allocations;
    p.solve();
    made += allocations - before;
    optimal.see(p.away(), p.n);
    for (int i = 0; i < p.n; ++i)
      inside.see(p.x[i] >= p.low[i] && p.x[i] <= p.high[i] ? 0 : 1, p.n);
  }
  report.add("the nearest step in a box fulfils the conditions of one", "double", optimal.error, 1e-9,
             optimal.at);
  report.add("the nearest step in a box is in the box", "double", inside.error, 0, inside.at);
  report.add("the nearest step in a box allocates nothing", "double", double(made), 0);
}

// Joints that do the worst their box allows, tick after tick, in ticks of any length.
void journeys(Report &report) {
  using W = Pack<double, native_width>;
  Random random{32};
  Worst empty, speed, acceleration, limits, outward, late, brakes, lanes;
  for (int round = 0; round < 400 * rounds; ++round) {
    JointBounds joint{};
    joint.lower = random.between(-3, 1);
    joint.upper = joint.lower + log_between(random, 1e-9, 6);
    if (random.below(8) == 0)
      joint.upper = joint.lower;
    const bool endless = random.below(6) == 0;
    if (endless)
      joint.lower = random.below(2) ? -INFINITY : joint.lower, joint.upper = INFINITY;
    joint.speed = random.below(8) ? log_between(random, 1e-2, 1e2) : INFINITY;
    joint.acceleration = log_between(random, 1e-1, 1e3),
    joint.jerk = joint.acceleration / log_between(random, 1e-4, 1e-1);
    const double landing = log_between(random, 10, 1000);
    const double end_rate = random.below(2) ? 1e9 : log_between(random, 30, 1000);
    const bool astray = random.below(3) == 0 && joint.upper < INFINITY;
    double q = astray    ? (random.below(2) ? joint.upper + log_between(random, 1e-9, 2)
                                            : joint.lower - log_between(random, 1e-9, 2))
               : endless ? random.between(-1, 1) + (joint.lower > -INFINITY ? joint.lower + 1 : 0)
                         : random.between(joint.lower, joint.upper);
    const double first = larger(q - joint.upper, joint.lower - q),
                 inside = 1e-3 * lesser(1.0, joint.upper - joint.lower) + 1e-12;
    // along the way of a landing, then cruising, speeding up, and gathering the acceleration for it; twice
    // that, to be fair
    const double patience =
        first <= 0 ? 0
                   : 2 * (std::log((first + inside) / inside) / landing +
                          4 * std::sqrt((first + inside) / joint.acceleration) + first / joint.speed +
                          2 * joint.acceleration / joint.jerk + std::cbrt(6 * first / joint.jerk)) +
                         2;
    const int habit = random.below(5);
    const double usual = log_between(random, 1e-4, 1e-1);
    double v = 0, a = 0, time = 0, back = -1;
    for (int tick = 0; tick < 300 || (first > 0 && time <= patience && tick < 30000); ++tick) {
      const double dt = random.below(2) ? usual : log_between(random, 1e-4, 1e-1);
      double low, high;
      step_bounds(joint, q, v, a, dt, landing, landing_share, end_rate, low, high);
      W low_lane, high_lane;
      step_bounds(W(joint.lower), W(joint.upper), W(joint.speed), W(joint.acceleration), W(joint.jerk), W(q),
                  W(v), W(a), W(dt), W(landing), W(landing_share), W(end_rate), low_lane, high_lane);
      const double wide = larger(std::fabs(low), std::fabs(high)) + 1e-300;
      lanes.see(larger(std::fabs(get(low_lane, 0) - low), std::fabs(get(high_lane, 0) - high)) / wide, round);
      empty.see(low <= high && high - low < 1e9 ? 0 : 1, round);
      const double part = habit == 0   ? 1
                          : habit == 1 ? 0
                          : habit == 2 ? random.unit()
                          : habit == 3 ? random.below(2)
                                       : (tick / 20) % 2;
      const double x = low + part * (high - low), v_now = x / dt,
                   out = larger(q - joint.upper, joint.lower - q);
      const double changed = std::fabs(v_now - v) - joint.acceleration * dt;
      acceleration.see(larger(changed, 0.0) / (joint.acceleration * dt + 1e-3 * std::fabs(v)), round);
      speed.see(larger(std::fabs(v_now) - joint.speed, 0.0) / (joint.speed < INFINITY ? joint.speed : 1),
                round);
      a = (v_now - v) / dt, v = v_now, q += x, time += dt;
      const double still_out = larger(q - joint.upper, joint.lower - q), size = larger(1.0, std::fabs(q));
      if (first <= 0)
        limits.see(larger(still_out, 0.0) / size, round);
      else
        outward.see(larger(still_out - larger(out, 0.0), 0.0) / size, round);
      if (back < 0 && still_out <= 1e-12 * size)
        back = time;
    }
    if (first > 0)
      late.see(back >= 0 && back <= patience ? 0 : 1, round);
  }
  for (int round = 0; round < 200 * rounds; ++round) {
    const double D = log_between(random, 1e-15, 1e6), a = log_between(random, 1e-3, 1e4),
                 dt = log_between(random, 1e-4, 1e-1), x = braking_step(D, a, dt);
    brakes.see((x + x * x / (2 * a * dt * dt) - D) / D, D);
  }
  report.add("a joint always has somewhere to go", "double", empty.error, 0, empty.at);
  report.add("no joint outruns its speed", "double", speed.error, 1e-12, speed.at);
  report.add("no joint exceeds its acceleration", "double", acceleration.error, 1e-12, acceleration.at);
  report.add("no joint passes its limits", "double", limits.error, 1e-12, limits.at);
  report.add("no joint that starts outside goes further out", "double", outward.error, 1e-15, outward.at);
  report.add("a joint that starts outside is back in bounded time", "double", late.error, 0, late.at);
  report.add("lanes are bounded as scalars are", "double", lanes.error, 1e-12, lanes.at);
  report.add("braking ends at the limit", "double", brakes.error, 1e-14, brakes.at);
}

// A ball strays on its way just where samples of the way do; the samples tell by another route.
void cones(Report &report) {
  Random random{38};
  Worst unseen, unmeant;
  for (int round = 0; round < 60 * rounds; ++round) {
    auto any = [&](double size) {
      return Vec<double>{random.between(-size, size), random.between(-size, size),
                         random.between(-size, size)};
    };
    Vec<double> axis = any(1);
    axis = (1 / root(dot(axis, axis))) * axis;
    const bool narrow = random.below(4) == 0; // a hinge, or a gap in the twist that a step could jump
    const Ball ball{0,
                    {axis.x, axis.y, axis.z},
                    narrow ? 0 : random.between(0, 3.1),
                    narrow ? -2.9 : random.between(-3.1, 0),
                    narrow ? 2.9 : random.between(0, 3.1)};
    auto out = [&](Vec<double> r) {
      const Vec<double> d = between(r, clamp_ball(r, axis, ball.swing, ball.low, ball.high));
      return root(dot(d, d));
    };
    const Vec<double> q = clamp_ball(any(1.8), axis, ball.swing, ball.low, ball.high),
                      way = narrow ? random.between(-7, 7) * axis : any(round % 3 ? 1.5 : 0.1);
    double most_out = 0;
    for (int i = 0; i <= 200; ++i)
      most_out = larger(most_out, out(turned(q, (i / 200.0) * way)));
    const BallExcess excess = largest_excess(ball, q, way);
    const double outside = larger(excess.swing, excess.twist);
    if (outside < 1e-9)
      unseen.see(most_out > 1e-7 ? most_out : 0, round);
    // between two samples it may stray a little more than they show
    else
      unmeant.see(most_out < 1e-9 && outside > 1e-3 ? outside : 0, round);
  }
  report.add("a ball that leaves its limits on the way is seen to", "double", unseen.error, 0, unseen.at);
  report.add("a ball that keeps its limits on the way is not stopped", "double", unmeant.error, 0,
             unmeant.at);
}

// arms

// A random tree of chains that share a trunk, with a goal at the end of each: every kind of joint, mimics
// too.
struct Arm {
  Node nodes[most];
  std::vector<ChainJoint> chain_joints[3];
  std::vector<MassNode> mass_nodes;
  std::vector<Target> targets;
  std::vector<Ball> ball_list;
  std::vector<JointBounds> bounds;
  std::vector<double> reach, lower, upper, size, goals, rows; // rows: all bounds, a stride apart
  std::vector<CommandOptions> options;
  Tracking tracking{};
  std::vector<int> row_level, level_rank;
  int n = 0;

  // plain: as many turns with one frame to reach, and no more
  Arm(Random &random, int count, bool plain) {
    const int goals_wanted = plain ? 1 : 1 + random.below(3),
              trunk = goals_wanted == 1 ? count : 1 + random.below(count);
    int single[most], singles = 0, branch[3][most], lengths[3] = {};
    for (int i = 0; i < count; ++i) {
      Node &node = nodes[i];
      place(random, node.rotation, node.position);
      node.motion = plain                  ? revolute
                    : random.below(7) == 0 ? spherical
                    : random.below(3)      ? revolute
                                           : prismatic;
      const bool mimic = !plain && node.motion != spherical && singles && random.below(5) == 0;
      node.index = mimic ? single[random.below(singles)] : n;
      node.gain = mimic ? random.between(-1.5, 1.5) : 1;
      node.offset = mimic ? random.between(-1, 1) : 0;
      if (!mimic && node.motion != spherical)
        single[singles++] = n;
      if (mimic && (node.motion == prismatic) != is_slide(node.index))
        node.motion = is_slide(node.index) ? prismatic : revolute;
      if (!mimic) {
        const int wide = node.motion == spherical ? 3 : 1;
        const double pi = 3.14159265358979323846;
        const bool coned = random.below(2);
        if (wide == 3)
          ball_list.push_back({n,
                               {0, 0, 1},
                               coned ? random.between(0.2, 3) : pi,
                               coned ? random.between(-3, 0) : -pi,
                               coned ? random.between(0, 3) : pi});
        for (int k = 0; k < wide; ++k)
          add_value(random, node.motion);
      }
      const int whose = i < trunk ? -1 : random.below(goals_wanted);
      for (int k = 0; k < goals_wanted; ++k)
        if (whose < 0 || whose == k)
          branch[k][lengths[k]++] = i;
    }
    int asked = 0;
    for (int k = 0; k < goals_wanted; ++k) {
      Node path[most];
      for (int i = 0; i < lengths[k]; ++i)
        path[i] = nodes[branch[k][i]];
      Target target{};
      const bool weighs = !plain && k == goals_wanted - 1 && random.below(3) == 0;
      if (weighs)
        lengths[k] = weigh(random, trunk, branch, lengths, goals_wanted, path);
      chain_joints[k].resize(lengths[k]);
      place(random, target.chain.rotation, target.chain.position);
      if (!plain && !weighs && random.below(3) == 0)
        seen_from_a_link(random, path, lengths[k], target.chain);
      make_chain(path, lengths[k], chain_joints[k].data());
      bool seen[room] = {};
      int axes = 0;
      for (ChainJoint &joint : chain_joints[k]) {
        joint.shared = seen[joint.index];
        seen[joint.index] = true;
        axes += joint.motion == spherical ? 3 : 1;
      }
      target.chain.joints = chain_joints[k].data();
      target.chain.count = lengths[k];
      target.chain.axes = axes;
      target.chain.dof = n;
      if (weighs) {
        target.masses = {mass_nodes.data(), lengths[k], axes, {0.1, -0.05, 0.02}};
        target.chain.axes += mass_scratch * lengths[k];
      }
      const Target blank = target;
      do { // a centre of mass has a position
        target = blank;
        wish(random, plain, target);
      } while (weighs && (target.has_rotation || target.points));
      for (double &x : target.point)
        x = weighs ? 0 : x;
      target.first = asked;
      asked += target.rows;
      targets.push_back(target);
    }
    for (const Target &target : targets) {
      CommandOptions o;
      o.has_direction = target.has_direction;
      options.push_back(o);
    }
    tracking.problem = {targets.data(),   int(targets.size()),  asked, n, lower.data(), upper.data(),
                        ball_list.data(), int(ball_list.size())};
    tracking.stride = padded_length(n);
    rows.resize(bound_row_count * tracking.stride);
    fill_bound_rows(bounds.data(), n, tracking.stride, rows.data());
    tracking.status_targets = targets.data();
    tracking.bounds = bounds.data();
    tracking.bound_rows = rows.data();
    tracking.unit = size.data();
    tracking.weight_scale = 1;
    reach.assign(targets.size(), 3.14159265358979323846);
    tracking.reach = reach.data();
    tracking.rank = n < asked ? n : asked;
    row_level.assign(asked, 0);
    level_rank.assign(1, tracking.rank);
    tracking.row_level = row_level.data();
    tracking.level_rank = level_rank.data();
    tracking.level_count = tracking.first_levels = 1;
    tracking.one_pose = is_one_pose(tracking.problem);
    goals.resize(12 * targets.size());
  }
  Arm(const Arm &) = delete;

  // All joints as the nodes of a tree with masses: the trunk, then one branch after another. Returns how
  // many.
  int weigh(Random &random, int trunk, const int (*branch)[most], const int *lengths, int branches,
            Node *path) {
    int count = 0;
    auto add = [&](int i, int parent) {
      mass_nodes.push_back({nodes[i], random.below(4) ? random.between(0.01, 0.2) : 0, {}, 0, count + 1});
      mass_nodes.back().joint.parent = parent;
      for (double &x : mass_nodes.back().center)
        x = random.between(-0.3, 0.3);
      path[count++] = nodes[i];
    };
    for (int i = 0; i < trunk; ++i)
      add(i, count - 1);
    for (int k = 0; k < branches; ++k) {
      int parent = trunk - 1;
      for (int i = trunk; i < lengths[k]; ++i) {
        add(branch[k][i], parent);
        parent = count - 1;
      }
    }
    for (int i = count - 1; i >= 0; --i) {
      MassNode &node = mass_nodes[i];
      if (node.carried + node.share == 0)
        node.share = 0.1; // what carries nothing is no node
      node.carried += node.share;
      if (node.joint.parent >= 0) {
        MassNode &parent = mass_nodes[node.joint.parent];
        parent.carried += node.carried;
        parent.end = parent.end > node.end ? parent.end : node.end;
      }
    }
    return count;
  }

  // As if the first joints of the path carried another link, which the end effector is seen from.
  static void seen_from_a_link(Random &random, Node *path, int count, Chain &chain) {
    Node made[most], other;
    place(random, other.rotation, other.position);
    const int up = random.below(count + 1);
    Frame<double> tip = constant<double>(chain.rotation, chain.position);
    make_relative_nodes(path, up, path + up, count - up, constant<double>(other.rotation, other.position),
                        tip, made);
    for (int i = 0; i < count; ++i)
      path[i] = made[i];
    write(tip.r, chain.rotation);
    store3(tip.p, chain.position);
  }

  bool is_slide(int index) const { return size[index] != 1; }

  void add_value(Random &random, int motion) {
    const double unit = motion == prismatic ? 0.4 : 1;
    const bool limited = motion != spherical && random.below(4);
    lower.push_back(limited ? random.between(-2.5, 0) * unit : -INFINITY);
    upper.push_back(limited ? random.between(0, 2.5) * unit : INFINITY);
    const double a = log_between(random, 1, 100);
    bounds.push_back({lower.back() / unit, upper.back() / unit,
                      random.below(4) ? log_between(random, 0.1, 10) : INFINITY, a, a / 6e-3});
    size.push_back(unit);
    ++n;
  }

  static void place(Random &random, double *rotation, double *position) {
    Vec<double> v{random.between(-2, 2), random.between(-2, 2), random.between(-2, 2)};
    if (random.below(4) == 0)
      v = {0, 0, 0};
    write(exp_rotation(v), rotation);
    for (int k = 0; k < 3; ++k)
      position[k] = random.below(3) ? random.between(-0.5, 0.5) : 0;
  }
  static void write(const Rot<double> &r, double *rotation) {
    const double rows[9] = {r.x.x, r.y.x, r.z.x, r.x.y, r.y.y, r.z.y, r.x.z, r.y.z, r.z.z};
    for (int k = 0; k < 9; ++k)
      rotation[k] = rows[k];
  }

  // what is asked: a frame, a position, a turn, a direction to point along, a point to look at or a distance;
  // turns with one weight
  static void wish(Random &random, bool frame_only, Target &target) {
    const int kind = frame_only ? 0 : random.below(8);
    const bool position = kind < 2 || kind == 4, turn = kind == 0 || kind == 2,
               points = kind >= 3 && kind < 6, radial = kind > 5;
    target.looks = kind == 5;
    const double weight = frame_only ? 1 : log_between(random, 0.3, 3);
    for (int c = 0; c < 3 && position; ++c)
      if (frame_only || target.rows == 0 || random.below(6))
        target.component[target.rows] = c,
        target.weight[target.rows++] = frame_only ? 1.5 : log_between(random, 0.3, 3);
    if (radial) {
      const Vec<double> line = exp_rotation(Vec<double>{random.between(-2, 2), random.between(-2, 2), 1}).x;
      if (random.below(2))
        store3(line, target.line);
      const bool on_line = target.line[0] != 0 && random.below(2);
      target.distance = on_line ? 0 : random.between(0.1, 1);
      const double far = log_between(random, 0.3, 3);
      for (int c = radial_1; c <= (on_line ? radial_2 : radial_1); ++c)
        target.component[target.rows] = c, target.weight[target.rows++] = far;
    }
    for (int c = about_x; c <= about_z && turn; ++c)
      target.component[target.rows] = c, target.weight[target.rows++] = weight;
    for (int c = across_1; c <= across_2 && points; ++c)
      target.component[target.rows] = c, target.weight[target.rows++] = weight;
    Vec<double> axis{random.between(-1, 1), random.between(-1, 1), random.between(0.1, 1)};
    axis = (1 / root(dot(axis, axis))) * axis;
    target.axis[0] = axis.x, target.axis[1] = axis.y, target.axis[2] = axis.z;
    for (double &x : target.point)
      x = frame_only || random.below(2) ? 0 : random.between(-0.3, 0.3);
    set_properties(target);
  }

  void random_q(Random &random, double *q) const {
    for (int i = 0; i < n; ++i)
      q[i] = random.between(larger(lower[i], -2.0 * size[i]), lesser(upper[i], 2.0 * size[i]));
  }
  // joint values after a step in natural units
  void moved(const double *q, const double *x, double *out) const {
    for (int i = 0; i < n; ++i)
      out[i] = q[i] + size[i] * x[i];
    for (const Ball &ball : ball_list) {
      const int k = ball.index;
      const Vec<double> r =
          turned(Vec<double>{q[k], q[k + 1], q[k + 2]}, Vec<double>{x[k], x[k + 1], x[k + 2]});
      out[k] = r.x;
      out[k + 1] = r.y;
      out[k + 2] = r.z;
    }
  }
  Frame<double> tip(const Target &target, const double *q) const {
    Axis<double> axes[axis_room];
    return end_effector(target, q, axes);
  }
  double half_squared_error(const double *q) const {
    Frame<double> tips[3];
    for (std::size_t k = 0; k < targets.size(); ++k)
      tips[k] = tip(targets[k], q);
    return 0.5 * squared_error(tracking.problem, goals.data(), tips);
  }
  // goals at the end effectors' frames at q
  void goals_at(const double *q) {
    for (std::size_t k = 0; k < targets.size(); ++k) {
      const Frame<double> f = tip(targets[k], q);
      double *goal = goals.data() + 12 * k;
      write_goal(f, goal);
      if (targets[k].looks || targets[k].has_radial) // not far from what it asks
        store3(f.p + 0.7 * (f.r * load3(targets[k].axis)), goal + 9);
      if (options[k].has_direction) {
        const Vec<double> a = f.r * Vec<double>{targets[k].axis[0], targets[k].axis[1], targets[k].axis[2]};
        goal[0] = a.x;
        goal[1] = a.y;
        goal[2] = a.z;
      }
    }
  }
};

// curvature

double size_of(Vec<double> v) { return root(dot(v, v)); }

// The second derivative of the end effector alone, without the turning of the goal's rows.
void second_along_any(const Target &target, const Mover *m, int count, const double *d, Vec<double> &linear,
                      Vec<double> &angular) {
  Target plain = target;
  plain.looks = plain.has_radial = false;
  target_second_along(plain, {}, m, count, d, linear, angular);
}

// How the rows of a distance change along d, and the turn that a point to look at asks, by differences.
void turning_rows(const Arm &arm, const Target &target, const Command &command, const double *q,
                  const double *d, Worst &worst, int round) {
  if (!target.looks && !target.has_radial)
    return;
  const Vec<double> goal = load3(command.goal + 9);
  double near[room], x[room] = {};
  Mover m[room];
  Axis<double> axes[axis_room];
  // what d asks of the rows at a step along d: a distance's rate, or the turn of a look
  auto rate = [&](double along, double &bend) {
    for (int i = 0; i < arm.n; ++i)
      x[i] = along * d[i];
    arm.moved(q, x, near);
    const Frame<double> tip = end_effector(target, near, axes);
    const int count = movers(target, axes, tip.p, arm.size.data(), m);
    const Residual<double> r = residual<Angle>(target, tip, goal_frame(command.goal));
    Vec<double> linear{0, 0, 0}, angular{0, 0, 0};
    for (int i = 0; i < count; ++i) {
      linear = linear + d[m[i].index] * m[i].j;
      angular = angular + d[m[i].index] * m[i].z;
    }
    bend = 1 / larger(size_of(goal - tip.p), 1e-9) + r.rows.bend;
    if (target.looks)
      return r.rows.fade * angular + cross(r.rows.look, linear);
    return radial_part(target, r.rows, linear);
  };
  const double h = 1e-5;
  double bend;
  const Vec<double> slope = (0.5 / h) * (rate(h, bend) - rate(-h, bend));
  rate(0, bend);
  if (bend > 8)
    return; // too near for differences
  const Frame<double> tip = end_effector(target, q, axes);
  const int count = movers(target, axes, tip.p, arm.size.data(), m);
  const Residual<double> r = residual<Angle>(target, tip, goal_frame(command.goal));
  Vec<double> linear, angular;
  target_second_along(target, r.rows, m, count, d, linear, angular);
  const Vec<double> v = velocity_along(m, count, d);
  const double scale = (1 + bend * bend) * (1 + dot(v, v)) * arm.n * arm.n;
  if (target.looks)
    worst.see(size_of(angular + cross(r.rows.look, linear) - slope) / scale, round);
  else // the row itself turns with its unit vector
    worst.see(dot(r.rows.radial[0], linear - slope) / scale, round);
}

void curvature(Report &report) {
  Random random{33};
  Worst hessian, second, derivative, second_rows;
  for (int round = 0; round < 12 * rounds; ++round) {
    Arm arm(random, 1 + random.below(9), false);
    const int n = arm.n;
    double q[room], there[room], x[room] = {}, near[room];
    arm.random_q(random, q), arm.random_q(random, there);
    for (int i = 0; i < n; ++i)
      there[i] = q[i] + 0.4 * (there[i] - q[i]); // half a turn away the error has a corner
    arm.goals_at(there);
    std::vector<double> H(n * n), J(6 * n);
    double reach = 1;
    bool cornered = false;
    for (std::size_t k = 0; k < arm.targets.size(); ++k) {
      const Target &target = arm.targets[k];
      Axis<double> axes[axis_room];
      Mover moving[room];
      const Frame<double> tip = end_effector(target, q, axes);
      const int count = movers(target, axes, tip.p, arm.size.data(), moving);
      Command command{};
      std::memcpy(command.goal, arm.goals.data() + 12 * k, sizeof command.goal);
      const CommandResidual r = command_residual(target, tip, command, arm.tracking);
      cornered = cornered || root(dot(r.error.rotation, r.error.rotation)) > 2.5;
      add_residual_curvature(target, r, moving, count, n, H.data());
      if (target.has_radial ||
          target.looks) // at its centre a distance has a corner, and a look is of any way
        cornered = cornered || size_of(load3(command.goal + 9) - tip.p) < 0.15 || r.error.rows.bend > 8;
      std::vector<double> rows(target.rows * n);
      for (int i = 0; i < count; ++i) {
        double column[6];
        weighted_rows<false>(target, r.rows, moving[i].j, moving[i].z, column);
        for (int l = 0; l < target.rows; ++l)
          rows[l * n + moving[i].index] += column[l];
      }
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
          for (int l = 0; l < target.rows; ++l)
            H[i * n + j] += rows[l * n + i] * rows[l * n + j];
      // how J d changes along d, and along each joint
      double d[room];
      for (int i = 0; i < n; ++i)
        d[i] = random.between(-1, 1);
      auto velocity = [&](double *at, Vec<double> &linear, Vec<double> &angular) {
        const Frame<double> f = end_effector(target, at, axes);
        Mover m[room];
        const int c = movers(target, axes, f.p, arm.size.data(), m);
        linear = angular = {0, 0, 0};
        for (int i = 0; i < c; ++i)
          linear = linear + d[m[i].index] * m[i].j, angular = angular + d[m[i].index] * m[i].z;
      };
      const double h = 1e-5;
      auto slope = [&](const double *along, Vec<double> &linear, Vec<double> &angular) {
        Vec<double> l[2], w[2];
        for (int side = 0; side < 2; ++side) {
          for (int i = 0; i < n; ++i)
            x[i] = (side ? h : -h) * along[i];
          arm.moved(q, x, near);
          velocity(near, l[side], w[side]);
        }
        linear = (0.5 / h) * (l[1] - l[0]);
        angular = (0.5 / h) * (w[1] - w[0]);
      };
      auto apart = [](Vec<double> a, Vec<double> b, Vec<double> c, Vec<double> e) {
        return root(dot(a - b, a - b) + dot(c - e, c - e));
      };
      Vec<double> linear, angular, by_hand, by_turn;
      const bool tree = target.masses.count > 0; // its axes turn, but no orientation
      second_along_any(target, moving, count, d, linear, angular);
      slope(d, by_hand, by_turn);
      for (int i = 0; i < count; ++i)
        reach = larger(reach, root(dot(moving[i].j, moving[i].j)));
      second.see(apart(linear, by_hand, tree ? by_turn : angular, by_turn) / (n * n * reach), round);
      turning_rows(arm, target, command, q, d, second_rows, round);
      std::vector<Vec<double>> sums(2 * n, Vec<double>{0, 0, 0});
      auto add_up = [&](const Mover &mover, Vec<double> l, Vec<double> w) {
        sums[2 * mover.index] = sums[2 * mover.index] + l;
        sums[2 * mover.index + 1] = sums[2 * mover.index + 1] + w;
      };
      if (tree)
        tree_derivative_along_each(moving, count, d, add_up);
      else
        derivative_along_each(moving, count, d, add_up);
      for (int i = 0; i < n; ++i) {
        bool ball = false; // turning a ball also turns the axes that its own rates are about
        for (const Ball &b : arm.ball_list)
          ball = ball || (i >= b.index && i < b.index + 3);
        if (ball)
          continue;
        double one[room] = {};
        one[i] = 1;
        slope(one, by_hand, by_turn);
        derivative.see(apart(sums[2 * i], by_hand, tree ? by_turn : sums[2 * i + 1], by_turn) / (n * reach),
                       round);
      }
    }
    if (cornered)
      continue;
    // the Hessian itself, by differences
    double scale = 1e-3;
    for (double h : H)
      scale = larger(scale, std::fabs(h));
    const double h = 1e-4;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) {
        double sum = 0;
        for (int sides = 0; sides < 4; ++sides) {
          for (int k = 0; k < n; ++k)
            x[k] = 0;
          x[i] += sides & 1 ? h : -h;
          x[j] += sides & 2 ? h : -h;
          arm.moved(q, x, near);
          sum += (sides == 0 || sides == 3 ? 1 : -1) * arm.half_squared_error(near);
        }
        hessian.see((sum / (4 * h * h) - H[i * n + j]) / scale, round);
        hessian.see((H[i * n + j] - H[j * n + i]) / scale, round);
      }
  }
  report.add("J'J and curvature are the Hessian of half the squared error", "double", hessian.error, 1e-5,
             hessian.at);
  report.add("the second derivative is how J d changes along d", "double", second.error, 1e-7, second.at);
  report.add("the second derivative of rows that turn is how J d changes along d", "double",
             second_rows.error, 1e-6, second_rows.at);
  report.add("the derivative along each joint is how J d changes with it", "double", derivative.error, 1e-7,
             derivative.at);
}

// directions and factors

// orthonormal rows, any or near to those of the identity
void random_basis(Random &random, int n, double near, double *V) {
  for (int i = 0; i < n; ++i)
    for (int turn = 0; turn < 2; ++turn) { // twice is enough for orthonormal to rounding
      for (int k = 0; k < n && turn == 0; ++k)
        V[i * n + k] = random.between(-1, 1) * near + (i == k);
      for (int j = 0; j < i; ++j) {
        double along = 0;
        for (int k = 0; k < n; ++k)
          along += V[i * n + k] * V[j * n + k];
        for (int k = 0; k < n; ++k)
          V[i * n + k] -= along * V[j * n + k];
      }
      double length = 0;
      for (int k = 0; k < n; ++k)
        length += V[i * n + k] * V[i * n + k];
      for (int k = 0; k < n; ++k)
        V[i * n + k] /= std::sqrt(length);
    }
}

template <int N>
void directions(Random &random, Worst &rows, Worst &values, Worst &square, Worst &count, Worst &solved) {
  const int n = N ? N : 1 + random.below(largest);
  double V[largest * largest], A[largest * largest], kept[largest * largest], plain[largest * largest],
      F[largest * largest], eigenvalues[largest];
  random_basis(random, n, random.below(2) ? 1 : 0, V);
  const double size = log_between(random, 1e-8, 1e8);
  for (int i = 0; i < n; ++i) { // some alike, some zero, some of any size and sign
    const int style = random.below(4);
    eigenvalues[i] = size * (style == 0   ? 0
                             : style == 1 ? 1
                             : style == 2 ? log_between(random, 1e-9, 1)
                                          : random.between(-1, 1));
  }
  double largest_value = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k)
        sum += V[k * n + i] * eigenvalues[k] * V[k * n + j];
      A[i * n + j] = A[j * n + i] = sum;
      largest_value = larger(largest_value, std::fabs(eigenvalues[i]));
    }
  if (!(largest_value > 0))
    return;
  std::memcpy(kept, A, sizeof A);
  std::memcpy(plain, A, sizeof A);
  // a factor counts the eigenvalues below a shift, where none is near it
  const double shift = size * random.between(-0.5, 1.2);
  int below = 0;
  double gap = 1e300;
  for (int i = 0; i < n; ++i)
    below += eigenvalues[i] < shift, gap = lesser(gap, std::fabs(eigenvalues[i] - shift));
  auto solutions = [&](auto &&solve) {
    double b[largest] = {};
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        b[i] += A[i * n + j] - (i == j ? shift : 0); // the solution is all ones
    solve(b);
    for (int i = 0; i < n; ++i)
      solved.see((b[i] - 1) * gap / size, n);
  };
  if (gap > 1e-4 * size) {
    count.see(factor_shifted<N>(A, n, shift, F) - below, n);
    if (below == 0)
      solutions([&](double *b) { solve_shifted<N>(F, n, b); });
    if constexpr (N > 0) { // the same in registers
      Factored<N> factored;
      count.see(factored.factor(A, shift) - below, n);
      if (below == 0)
        solutions([&](double *b) { factored.solve(b); });
    }
  }
  // directions, from any
  const double least = random.below(2) ? 1e-9 : 1e-13;
  random_basis(random, n, random.below(2) ? 1 : 1e-3, V);
  double scratch[eigen_scratch(largest)];
  eigen_from<N>(A, n, least, V, scratch);
  eigen(plain, n, F);
  double found[largest], sorted[largest];
  for (int i = 0; i < n; ++i)
    found[i] = A[i * n + i], sorted[i] = plain[i * n + i];
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) {
      if (found[j] < found[i])
        std::swap(found[i], found[j]);
      if (sorted[j] < sorted[i])
        std::swap(sorted[i], sorted[j]);
    }
  for (int i = 0; i < n; ++i)
    values.see((found[i] - sorted[i]) / (n * largest_value), n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double product = 0, alike = 0;
      for (int k = 0; k < n; ++k) {
        alike += V[i * n + k] * V[j * n + k];
        for (int l = 0; l < n; ++l)
          product += V[i * n + k] * kept[k * n + l] * V[j * n + l];
      }
      square.see(alike - (i == j), n);
      rows.see((product - (i == j ? A[i * n + i] : 0)) / (n * largest_value * (least + 1e-14)), n);
    }
}

// A matrix that changes a little from tick to tick, and the directions that follow it.
template <int N>
void following_directions(Random &random, Worst &rows, Worst &values, Worst &square) {
  const int n = N ? N : 2 + random.below(largest - 1), m = 1 + random.below(n);
  const double least = 1e-8, rate = log_between(random, 1e-5, 1e-2);
  double J[3][largest * largest], V[largest * largest] = {}, scratch[eigen_scratch(largest)];
  for (auto &part : J)
    for (int i = 0; i < n * m; ++i)
      part[i] = random.between(-1, 1);
  for (int i = 0; i < n; ++i)
    V[i * n + i] = 1;
  for (int tick = 0; tick < 100; ++tick) {
    double A[largest * largest], kept[largest * largest], plain[largest * largest], F[largest * largest],
        now[largest * largest], size = 0;
    for (int i = 0; i < n * m; ++i) // joints that nothing depends on at first
      now[i] = (i / m < n / 3 ? std::sin(rate * (tick / 10)) : 1) * J[0][i] +
               std::sin(rate * tick) * J[1][i] + std::sin(0.6 * rate * tick) * J[2][i];
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        A[i * n + j] = dot_rows<0>(now + i * m, now + j * m, m);
    std::memcpy(kept, A, sizeof A), std::memcpy(plain, A, sizeof A);
    eigen_from<N>(A, n, least, V, scratch);
    eigen(plain, n, F);
    double found[largest], sorted[largest];
    for (int i = 0; i < n; ++i)
      found[i] = A[i * n + i], sorted[i] = plain[i * n + i], size += squared(sorted[i]);
    std::sort(found, found + n), std::sort(sorted, sorted + n);
    for (int i = 0; i < n; ++i)
      values.see((found[i] - sorted[i]) / (n * std::sqrt(size)), n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        double product = 0;
        for (int k = 0; k < n; ++k)
          for (int l = 0; l < n; ++l)
            product += V[i * n + k] * kept[k * n + l] * V[j * n + l];
        square.see(dot_rows<0>(V + i * n, V + j * n, n) - (i == j), n);
        rows.see((product - (i == j ? A[i * n + i] : 0)) / (std::sqrt(size) * least), n);
      }
  }
}

void all_directions(Report &report) {
  Random random{34};
  Worst rows, values, square, count, solved, later_rows, later_values, later_square;
  for (int round = 0; round < 4 * rounds; ++round) {
    following_directions<0>(random, later_rows, later_values, later_square);
    following_directions<6>(random, later_rows, later_values, later_square);
    following_directions<7>(random, later_rows, later_values, later_square);
  }
  for (int round = 0; round < 60 * rounds; ++round) {
    directions<0>(random, rows, values, square, count, solved);
    directions<5>(random, rows, values, square, count, solved);
    directions<6>(random, rows, values, square, count, solved);
    directions<7>(random, rows, values, square, count, solved);
  }
  report.add("directions make the matrix diagonal, as nearly as asked", "double", rows.error, 4, rows.at);
  report.add("eigenvalues are those of a plain search", "double", values.error, 1e-9, values.at);
  report.add("directions stay orthonormal", "double", square.error, 1e-13, square.at);
  report.add("directions that follow a matrix make it diagonal", "double", later_rows.error, 1,
             later_rows.at);
  report.add("their eigenvalues are those of a plain search", "double", later_values.error, 1e-8,
             later_values.at);
  report.add("they stay orthonormal, tick after tick", "double", later_square.error, 1e-13, later_square.at);
  report.add("a factor counts the eigenvalues below its shift", "double", count.error, 0, count.at);
  report.add("a factor solves", "double", solved.error, 1e-12, solved.at);
}

// ticks

// an arm's memory and its results
struct Ride {
  Arm &arm;
  std::vector<double> memory, scratch, result, q0;
  long long cost = 0;     // allocations
  long long overruns = 0; // ticks after which a canary was overwritten
  explicit Ride(Arm &arm_, Random &random) : arm(arm_) {
    memory.resize(tracking_kernels.memory(arm.tracking) + 8);
    scratch.resize(tracking_kernels.scratch(arm.tracking) / 8 + 8);
    result.resize(result_size(arm.n, int(arm.targets.size())));
    q0.resize(arm.n);
    arm.random_q(random, q0.data());
    tracking_kernels.begin(arm.tracking, even(memory), q0.data());
  }
  static double *even(std::vector<double> &v) {
    return reinterpret_cast<double *>((reinterpret_cast<std::uintptr_t>(v.data()) + 63) / 64 * 64);
  }
  TickJob job(const double *goals, const double *twists, const double *measured, const double *stamps,
              double dt) {
    TickJob job{};
    job.tracking = &arm.tracking, job.options = arm.options.data(), job.tolerance = Stop{0, 0, 1e-3, 1e-2},
    job.memory = even(memory);
    job.goals = goals, job.twists = twists, job.measured = measured, job.stamps = stamps, job.dt = dt,
    job.results = result.data();
    return job;
  }
  void tick(const TickJob &job) {
    const long before = allocations;
    tracking_kernels.tick(job, 0, 1, even(scratch));
    cost += allocations - before;
    overruns += !intact();
  }
  bool intact() {
    ScratchLayout memory_layout = ScratchLayout::check(even(memory));
    ScratchLayout scratch_layout = ScratchLayout::check(even(scratch));
    ArmMemory unplaced_memory;
    TickScratch unplaced_scratch;
    lay_out(unplaced_memory, memory_layout, arm.tracking);
    lay_out(unplaced_scratch, scratch_layout, arm.tracking);
    return memory_layout.intact() && scratch_layout.intact();
  }
  // writes one element past the end of an array
  void overrun() {
    place_memory(arm.tracking, even(memory)).weakest_row[8 * ((arm.tracking.problem.rows + 7) / 8)] = 1;
  }
  const ResultNumbers &numbers() {
    return *result_row(result.data(), arm.n, int(arm.targets.size())).numbers;
  }
};

void ticks_of_all_kinds(Report &report) {
  Random random{35};
  Worst finite, speed, acceleration, limits;
  long long made = 0, overruns = 0;
  double unseen = 0; // overruns that no canary saw
  enum { regular, singular, damped, boxed, free, held, follows, modes };
  bool seen[modes] = {};
  for (int round = 0; round < 20 * rounds; ++round) {
    const int plain = round % 4; // 5, 6 or 7 joints, or any
    Arm arm(random, plain == 0 ? 1 + random.below(most - 1) : 4 + plain, plain != 0);
    Ride ride(arm, random);
    std::vector<double> there(arm.n), v(arm.n), q(ride.q0), real(ride.q0), twists(6 * arm.targets.size());
    double stamp = 0;
    for (int tick = 0; tick < 150; ++tick) {
      const double dt = random.below(2) ? 1.0 / 300 : log_between(random, 1e-4, 0.1);
      if (tick % 30 == 0) { // first at rest, then one jump after another, out of reach at last
        if (tick == 0)
          there = q;
        else
          arm.random_q(random, there.data());
        arm.goals_at(there.data());
      }
      for (std::size_t k = 0; k < arm.targets.size(); ++k)
        arm.goals[12 * k + 9] += (tick > 120 ? 3 : 0.1) * dt;
      const int kind = random.below(12);
      const double kept = arm.goals[9];
      if (kind == 0)
        arm.goals[9] = random.below(2) ? NAN : 1e300;
      for (double &x : twists)
        x = random.between(-1, 1);
      stamp += dt;
      for (int i = 0; i < arm.n; ++i)
        real[i] += 0.5 * (q[i] - real[i]);
      ride.tick(ride.job(kind == 1 ? nullptr : arm.goals.data(), kind == 1 ? twists.data() : nullptr,
                         kind == 2 ? real.data() : nullptr, kind == 3 ? &stamp : nullptr,
                         kind == 4 ? 0 : dt));
      arm.goals[9] = kept;
      const ResultNumbers &numbers = ride.numbers();
      const bool stood = numbers.status == supple::held;
      seen[held] = seen[held] || stood;
      if (!stood) {
        seen[follows] = seen[follows] || numbers.status == following;
        seen[numbers.regular != 0 ? regular : singular] = true;
        seen[numbers.bounded != 0 ? boxed : free] = true;
        seen[damped] = seen[damped] || numbers.near_singular != 0;
      }
      if (kind == 4)
        continue; // no time passed
      for (int i = 0; i < arm.n; ++i) {
        const double unit = arm.size[i], now = ride.result[arm.n + i], a = arm.bounds[i].acceleration * unit,
                     top = arm.bounds[i].speed * unit;
        finite.see(ride.result[i] * 0, round), finite.see(now * 0, round);
        speed.see(larger(std::fabs(now) - top, 0.0) / lesser(top, 1e3), round);
        acceleration.see(larger(std::fabs(now - v[i]) - a * dt, 0.0) / (a * dt + 1e-3 * std::fabs(now)),
                         round);
        if (!arm.ball_list.empty() && arm.bounds[i].upper == INFINITY)
          continue;
        limits.see(larger(larger(ride.result[i] - arm.upper[i], arm.lower[i] - ride.result[i]), 0.0), round);
      }
      for (int i = 0; i < arm.n; ++i)
        q[i] = ride.result[i], v[i] = ride.result[arm.n + i];
    }
    made += ride.cost;
    overruns += ride.overruns;
    ride.overrun();
    unseen += ride.intact();
  }
  double missing = 0;
  for (bool one : seen)
    missing += !one;
  report.add("a tick allocates nothing", "double", double(made), 0);
  report.add("no tick writes past the end of an array", "double", double(overruns), 0);
  report.add("a write past the end of an array is seen", "double", unseen, 0);
  report.add("kinds of ticks that were not tried", "double", missing, 0);
  report.add("every tick ends in numbers", "double", finite.error, 0, finite.at);
  report.add("no tick outruns a joint's speed", "double", speed.error, 1e-12, speed.at);
  report.add("no tick exceeds a joint's acceleration", "double", acceleration.error, 1e-12, acceleration.at);
  report.add("no tick passes a joint's limits", "double", limits.error, 0, limits.at);
}

// passes of a tick that hold the same joints as in the last tick begin from the eigenvectors found there
// what earlier rows add to the Hessian of a later level, against how these rows bend along a direction

void earlier_rows(Report &report) {
  Random random{39};
  Worst worst;
  for (int round = 0; round < 40 * rounds; ++round) {
    Arm arm(random, 2 + random.below(9), false);
    const int n = arm.n, m = arm.tracking.problem.rows, split = 1 + random.below(m);
    for (int k = 0; k < m; ++k)
      arm.row_level[k] = k >= split;
    arm.tracking.level_count = 2;
    ScratchLayout memory_size = ScratchLayout::count(), scratch_size = ScratchLayout::count();
    ArmMemory memory;
    TickScratch scratch;
    lay_out(memory, memory_size, arm.tracking), lay_out(scratch, scratch_size, arm.tracking);
    std::vector<double> memory_block(memory_size.bytes() / 8 + 8),
        scratch_block(scratch_size.bytes() / 8 + 8);
    ScratchLayout memory_place = ScratchLayout::place(Ride::even(memory_block)),
                  scratch_place = ScratchLayout::place(Ride::even(scratch_block));
    lay_out(memory, memory_place, arm.tracking), lay_out(scratch, scratch_place, arm.tracking);
    double q[room], there[room], z[room], rows[room];
    arm.random_q(random, q), arm.random_q(random, there);
    arm.goals_at(there);
    begin_arm(arm.tracking, memory, q);
    bool points = false; // the error of a direction bends otherwise than the rates of its rows
    for (std::size_t k = 0; k < arm.targets.size(); ++k) {
      scratch.commands[k] = {};
      std::memcpy(scratch.commands[k].goal, arm.goals.data() + 12 * k, sizeof scratch.commands[k].goal);
      points = points || arm.targets[k].points;
    }
    const TickSetup<0, 0> setup{arm.tracking, arm.tracking.law, 1.0 / 300};
    const TickEvaluation &at = scratch.evaluation;
    evaluate_tick(setup, memory, scratch.commands, at);
    const LevelScratch &level = scratch.levels;
    for (int i = 0; i < n; ++i)
      level.feedback_gradient[i] = random.between(-1, 1), z[i] = random.between(-1, 1);
    for (int i = 0; i < n * n; ++i)
      level.hessian[i] = 0;
    add_earlier_curvature(setup, at, 1, level);
    second_derivative(setup, at, z, rows);
    double expected = 0, found = 0, scale = 1e-3;
    for (int k = 0; k < m; ++k)
      expected += level.rows[k] * rows[k], scale += std::fabs(level.rows[k] * rows[k]);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        found += z[i] * level.hessian[i * n + j] * z[j];
    if (!points)
      worst.see((found - expected) / scale, round);
  }
  report.add("earlier rows add their second derivative to a later level", "double", worst.error, 1e-4,
             worst.at);
}

void passes(Report &report) {
  Random random{38};
  double cold = 0;
  bool seen[held_passes] = {};
  for (int round = 0; round < 4 * rounds; ++round) {
    Arm arm(random, 8 + random.below(most - 8), false);
    Ride ride(arm, random);
    const ArmMemory memory = place_memory(arm.tracking, Ride::even(ride.memory));
    const int n = arm.n, stride = arm.tracking.stride;
    std::vector<double> there(n);
    arm.random_q(random, there.data());
    arm.goals_at(there.data());
    for (std::size_t k = 0; k < arm.targets.size(); ++k)
      arm.goals[12 * k + 9] += 5; // out of reach: joints come to their limits
    for (int tick = 0; tick < 300; ++tick) {
      const std::vector<double> bases(memory.reduced_basis, memory.reduced_basis + held_passes * n * n),
          sides(memory.reduced_limit_side, memory.reduced_limit_side + held_passes * stride);
      int ages[held_passes];
      std::memcpy(ages, memory.scalars->pass_basis_age, sizeof ages);
      ride.tick(ride.job(arm.goals.data(), nullptr, nullptr, nullptr, 1.0 / 300));
      for (int pass = 0; pass < held_passes; ++pass) {
        const double *basis = memory.reduced_basis + pass * n * n;
        const bool ran = !std::equal(basis, basis + n * n, bases.data() + pass * n * n);
        const bool same = std::equal(sides.data() + pass * stride, sides.data() + pass * stride + n,
                                     memory.reduced_limit_side + pass * stride);
        if (!ran || !same || !(ages[pass] > 0 && ages[pass] < 1000))
          continue;
        seen[pass] = true;
        cold += memory.scalars->pass_basis_age[pass] != ages[pass] + 1;
      }
    }
  }
  report.add("a pass begins from its own eigenvectors", "double", cold, 0);
  report.add("passes that were not tried", "double", !seen[0] + !seen[1], 0);
}

// what is known when compiling changes nothing but time
void sizes(Report &report) {
  Random random{36};
  Worst apart;
  for (int round = 0; round < 2 * rounds; ++round) {
    Arm arm(random, 5 + round % 3, true);
    Ride known(arm, random), unknown(arm, random);
    tracking_kernels.begin(arm.tracking, Ride::even(unknown.memory), known.q0.data());
    arm.goals_at(known.q0.data());
    for (int tick = 0; tick < 60; ++tick) {
      for (int k = 0; k < 3; ++k)
        arm.goals[9 + k] += (k == tick / 20 ? 1 : 0.2) * 1e-3;
      known.tick(known.job(arm.goals.data(), nullptr, nullptr, nullptr, 1.0 / 300));
      tick_rows<0, 0>(unknown.job(arm.goals.data(), nullptr, nullptr, nullptr, 1.0 / 300), 0, 1,
                      Ride::even(unknown.scratch));
      for (int i = 0; i < arm.n; ++i)
        apart.see(known.result[i] - unknown.result[i], round);
    }
  }
  report.add("a size known when compiling changes nothing", "double", apart.error, 1e-9, apart.at);
}

// box problems and their solutions as JSON, for a slow search to check
void print_boxes() {
  Random random{37};
  std::printf("[");
  for (int round = 0; round < 300; ++round) {
    BoxProblem p(random, 1 + random.below(5));
    p.solve();
    auto row = [&](const char *name, const double *x, int count, const char *end) {
      std::printf("\"%s\": [", name);
      for (int i = 0; i < count; ++i)
        std::printf("%s%.17g", i ? ", " : "", x[i]);
      std::printf("]%s", end);
    };
    std::printf("%s{", round ? ",\n" : "");
    row("M", p.M, p.n * p.n, ", "), row("wanted", p.wanted, p.n, ", "), row("low", p.low, p.n, ", ");
    row("high", p.high, p.n, ", "), row("x", p.x, p.n, "}");
  }
  std::printf("]\n");
}

} // namespace test

int main(int count, char **) {
  if (count > 1)
    return test::print_boxes(), 0;
  test::Report report;
  test::boxes(report);
  test::journeys(report);
  test::cones(report);
  test::curvature(report);
  test::all_directions(report);
  test::ticks_of_all_kinds(report);
  test::earlier_rows(report);
  test::passes(report);
  test::sizes(report);
}
