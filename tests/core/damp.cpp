// Properties of the local methods and the damping schemes: they allocate nothing and stay in their scratch
// memory; ticks stay finite and keep damping and weights in range.
#define SUPPLE_CANARIES // between scratch arrays
#include "counted.h"

#include "../../bind/kernels/local.cpp"

namespace test {

constexpr int joints = 6, schemes = 7;
constexpr double alpha0 = 1e-2, least = 0.01;
#if defined(SUPPLE_PLAIN_ARRAYS)
constexpr int rounds = 2000, solves = 5; // that build is not optimised
#else
constexpr int rounds = 20000, solves = 50;
#endif

// an arm of six turns with limits, one goal of six rows, and schemes of every native kind, mended or as
// printed
struct Arm {
  ChainJoint chain_joints[joints];
  Chain chain;
  Target target{};
  double lower[joints], upper[joints], regions[joints], spared[joints] = {0, 1, 1, 0, 0, 0},
                                                        straight[1] = {0};
  DampingScheme dampers[schemes] = {};
  Problem problem;
  Method method{};

  explicit Arm(bool printed) {
    Node nodes[joints];
    for (int i = 0; i < joints; ++i) {
      const double right[9] = {1, 0, 0, 0, 0, -1, 0, 1, 0}, level[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
      nodes[i] = {{}, {i == 2 || i == 3 ? 0.4 : 0.05, 0, i ? 0 : 0.3}, 1, 0, i - 1, i, revolute};
      for (int k = 0; k < 9; ++k)
        nodes[i].rotation[k] = i == 2 || i == 3 || !i ? level[k] : right[k];
      lower[i] = -2;
      upper[i] = 2;
      regions[i] = 0.2;
    }
    make_chain(nodes, joints, chain_joints);
    chain = {chain_joints, joints, joints, joints, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {0.1, 0, 0.1}};
    target.chain = chain;
    target.rows = 6;
    for (int k = 0; k < 6; ++k)
      target.component[k] = k, target.weight[k] = k < 3 ? 3 : 1;
    set_properties(target);
    const int kinds[schemes] = {
        scheme_constant,        scheme_manipulability,    scheme_falling_manipulability,
        scheme_condition_bound, scheme_named_singularity, scheme_smallest_singular_value,
        scheme_joint_limits};
    const double edges[schemes] = {0, 0.1, 0.98, 1e5, 0.3, 0.05, 0};
    for (int i = 0; i < schemes; ++i) {
      DampingScheme &d = dampers[i];
      // the bound by factors has none as printed
      d.kind = kinds[i];
      d.as_printed = printed && d.kind != scheme_condition_bound;
      d.region = edges[i];
      d.rank = 6;
      d.alpha0 = d.kind == scheme_constant ? 1e-6 : alpha0;
      d.min_weight = least;
      d.ramp_rate = 6;
      d.ignored_speed = 0.01;
      d.joints = d.kind == scheme_joint_limits ? regions : spared;
      d.measure = by_joint_value;
      d.index = 2;
      d.gain = 1;
      d.wraps = true;
      d.values = straight;
      d.value_count = 1;
    }
    problem = {&target, 1, 6, joints, lower, upper, nullptr, 0};
    method.kind = method_damped;
    method.step_scale = 1;
    method.max_step = 1e300;
    method.has_schemes = true;
    method.preference_unweighted = printed;
    method.schemes = dampers;
    method.scheme_count = schemes;
    method.memory_size = lay_out_memory(dampers, schemes, joints);
  }
};

// scratch memory for one arm, aligned to 64 bytes
struct Scratch {
  const Arm &arm;
  std::vector<double> numbers;
  explicit Scratch(const Arm &given) : arm(given), numbers(solve_scratch(arm.problem, arm.method) / 8 + 8) {}
  void *block() {
    return reinterpret_cast<void *>((reinterpret_cast<std::uintptr_t>(numbers.data()) + 63) / 64 * 64);
  }
  bool intact() {
    SolveScratch unplaced{};
    ScratchLayout layout = ScratchLayout::check(block());
    lay_out(unplaced, layout, arm.problem, &arm.method);
    return layout.intact();
  }
};

void set_random_goal(Random &random, double *goal) {
  const Rot<double> r =
      exp_rotation(Vec<double>{random.between(-3, 3), random.between(-3, 3), random.between(-3, 3)});
  const double rows[9] = {r.x.x, r.y.x, r.z.x, r.x.y, r.y.y, r.z.y, r.x.z, r.y.z, r.z.z};
  for (int k = 0; k < 12; ++k)
    goal[k] = k < 9 ? rows[k] : random.between(-1, 1);
}

void ticks_of(Report &report, bool printed) {
  Random random{printed ? 5u : 3u};
  const Arm arm(printed);
  std::vector<double> memory(arm.method.memory_size);
  Scratch scratch(arm);
  const SolveScratch solving = place_scratch(arm.problem, &arm.method, scratch.block());
  Worst beyond, moved, overrun;
  double q[joints] = {}, goal[12], dq[joints], w[joints], alpha = 0, largest = 0, smallest = 1;
  const long before = allocations;
  for (int i = 0; i < rounds; ++i) {
    if (i % 50 == 0)
      set_random_goal(random, goal);
    if (i % 400 == 0)
      memory[0] = 0;
    const double dt = std::pow(10, random.between(-4, -1));
    damped_tick(arm.problem, arm.method, goal, q, dt, memory.data(), solving, dq, &alpha, w);
    overrun.see(scratch.intact() ? 0 : 1, i);
    beyond.see(alpha < 1e-6 || !(alpha <= alpha0 * (1 + 1e-12)) ? 1 : 0, i);
    largest = larger(largest, alpha);
    for (int l = 0; l < joints; ++l) {
      beyond.see(!(w[l] >= least - 1e-12 && w[l] <= 1) ? 1 : 0, i);
      moved.see(dq[l], i); // a step of an error of 10 by a damping of 1e-6 cannot be longer
      smallest = lesser(smallest, w[l]);
      q[l] = clip(q[l] + clip(dq[l], -2 * dt, 2 * dt), arm.lower[l], arm.upper[l]);
    }
  }
  const char *type = printed ? "as printed" : "mended";
  report.add("allocations in damped ticks", type, double(allocations - before), 0);
  report.add("a damped tick stays in its scratch arrays", type, overrun.error, 0, overrun.at);
  report.add("damping and joint weights within their range", type, beyond.error, 0, beyond.at);
  report.add("a step is no longer than its damping lets it", type, moved.error, 10 / (2 * std::sqrt(1e-6)),
             moved.at);
  report.add("the whole range is seen", type, (alpha0 - largest) / alpha0 + (smallest - least), 1e-3);
}

// every method, from random joint values to random goals, with and without schemes
void solves_of_every_method(Report &report) {
  Random random{7};
  Worst overrun;
  double unseen = 0; // overruns that no canary saw
  long made = 0;
  for (int round = 0; round < 12 * solves; ++round) {
    Arm arm(false);
    arm.method.kind = round % 6;
    arm.method.has_schemes = round / 6 % 2 && arm.method.kind == method_damped;
    arm.method.clamp = true;
    arm.method.damping = alpha0;
    arm.method.max_halvings = 4;
    arm.method.limit_escapes = 2;
    arm.method.joint_order = round / 6 % 4;
    double start[joints], goal[12], q[joints], dq[joints];
    for (double &x : start)
      x = random.between(-2, 2);
    set_random_goal(random, goal);
    Scratch scratch(arm);
    supple::Report found{};
    const SolveJob job{&arm.problem, &arm.method, {30, 10, 1e-6, 1e-6}, goal, start, q, &found};
    const long before = allocations;
    local_kernels.solve(job, 0, 1, scratch.block());
    overrun.see(scratch.intact() ? 0 : 1, round);
    local_kernels.refine(job, 0, 1, scratch.block());
    overrun.see(scratch.intact() ? 0 : 1, round);
    local_kernels.step(arm.problem, arm.method, goal, start, dq, scratch.block());
    overrun.see(scratch.intact() ? 0 : 1, round);
    made += allocations - before;
    place_scratch(arm.problem, &arm.method, scratch.block()).best[8] = 1; // six numbers take 64 bytes
    unseen += scratch.intact();
  }
  report.add("allocations in solves by every method", "double", double(made), 0);
  report.add("a solve stays in its scratch arrays", "double", overrun.error, 0, overrun.at);
  report.add("a number written past an array is seen", "double", unseen, 0);
}

} // namespace test

int main() {
  test::Report report;
  test::ticks_of(report, false);
  test::ticks_of(report, true);
  test::solves_of_every_method(report);
}
