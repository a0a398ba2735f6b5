// Laws of a goal's residual: its metrics agree, lanes agree with scalars, slack and cones leave what is
// beyond them, and the Jacobian of its rows is their derivative.
#include "check.h"
#include "supple/task/jacobian.h"

namespace test {

constexpr int joints = 7;

Rot<double> random_rotation(Random &random, double most) {
  return exp_rotation(
      Vec<double>{random.between(-most, most), random.between(-most, most), random.between(-most, most)});
}

// a random chain of turns and slides with one random goal: some of its components, or a direction, with or
// without slack
struct Case {
  ChainJoint chain_joints[joints];
  Target target{};
  double goal[12];
  Problem problem;
  double lower[joints], upper[joints];

  explicit Case(Random &random, bool slack) {
    Node nodes[joints];
    for (int i = 0; i < joints; ++i) {
      nodes[i] = {{},
                  {random.between(-0.4, 0.4), random.between(-0.4, 0.4), random.between(-0.4, 0.4)},
                  1,
                  0,
                  i - 1,
                  i,
                  random.below(4) ? revolute : prismatic};
      write(random_rotation(random, 2), nodes[i].rotation);
      lower[i] = -3;
      upper[i] = 3;
    }
    make_chain(nodes, joints, chain_joints);
    target.chain = {chain_joints, joints, joints, joints, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {0.1, 0, 0.1}};
    const bool direction = random.below(2) == 0;
    for (int c = along_x; c <= across_2; ++c)
      if (c < about_x ? random.below(4) > 0 : c >= across_1 ? direction : !direction && random.below(4) > 0)
        add_row(c, random.between(0.3, 3), slack && random.below(2) ? random.between(0, 0.3) : 0);
    if (target.rows == 0)
      add_row(along_x, 1, 0);
    if (direction) // a cone is of both rows
      target.slack[target.rows - 2] = target.slack[target.rows - 1];
    const Vec<double> axis = random_rotation(random, 3).x;
    store3(axis, target.axis);
    for (double &x : target.point)
      x = random.between(-0.3, 0.3);
    set_properties(target);
    write(random_rotation(random, 1.5), goal);
    for (int k = 9; k < 12; ++k)
      goal[k] = random.between(-1, 1);
    problem = {&target, 1, target.rows, joints, lower, upper, nullptr, 0};
  }

  void add_row(int component, double weight, double slack) {
    target.component[target.rows] = component;
    target.weight[target.rows] = weight;
    target.slack[target.rows++] = slack;
  }
  static void write(const Rot<double> &r, double *rows) {
    store3(transpose(r).x, rows);
    store3(transpose(r).y, rows + 3);
    store3(transpose(r).z, rows + 6);
  }
};

double size_of(Vec<double> v) { return root(dot(v, v)); }

// Whether the rotation to the goal is less than 2.5 radians: rounding grows as 1 / (pi - a)^2.
bool far_from_half_turn(const Target &target, const Frame<double> &tip, const Frame<double> &goal) {
  if (target.has_direction)
    return dot(pointing_axis(target, tip), goal_direction(goal)) > std::cos(2.5);
  return size_of(log_rotation(goal.r * transpose(tip.r))) < 2.5;
}

void metrics_agree(Report &report) {
  Random random{31};
  Worst exact, half, across, beyond;
  long made = 0;
  for (int round = 0; round < 4000; ++round) {
    const Case given(random, false);
    double q[joints];
    for (double &x : q)
      x = random.between(-2, 2);
    Axis<double> axes[joints + 1];
    const long before = allocations;
    const Frame<double> tip = end_effector(given.target, q, axes), goal = goal_frame(given.goal);
    const Residual<double> angle = residual<Angle>(given.target, tip, goal);
    const Residual<double> full = residual<HalfSine>(given.target, tip, goal, {true});
    const Residual<double> sine = residual<HalfSine>(given.target, tip, goal);
    made += allocations - before;
    const double a = size_of(angle.rotation);
    if (far_from_half_turn(given.target, tip, goal)) {
      exact.see(size_of(full.rotation - angle.rotation), round);
      if (!given.target.needs_angle)
        half.see(size_of(sine.rotation) - 2 * std::sin(a / 2), round);
    }
    for (int i = 0; i < 2 && given.target.has_direction; ++i)
      across.see(std::fabs(dot(angle.rows.across[i], angle.pointing)) +
                     std::fabs(size_of(angle.rows.across[i]) - 1),
                 round);
    // the rotation of a residual, applied, leaves none
    if (given.target.has_direction) {
      const Vec<double> turned = exp_rotation(angle.rotation) * angle.pointing;
      beyond.see(size_of(turned - goal_direction(goal)), round);
    }
  }
  report.add("allocations in residuals", "double", double(made), 0);
  report.add("2 sin(a/2) stretched to the angle is the angle", "double", exact.error, 1e-13, exact.at);
  report.add("the length by half sines is 2 sin(a/2)", "double", half.error, 1e-13, half.at);
  report.add("the rows of a direction are unit vectors across it", "double", across.error, 1e-14, across.at);
  report.add("the rotation of a residual leads to the goal", "double", beyond.error, 1e-11, beyond.at);
}

template <class T>
void lanes_agree(Report &report) {
  constexpr int W = Lane<T>::width;
  Random random{37};
  Worst apart;
  for (int round = 0; round < 500; ++round) {
    const Case given(random, round % 2);
    T q[joints], goal[12], weight[6], rows[6];
    Axis<T> axes[joints + 1];
    for (T &x : q)
      for (int i = 0; i < W; ++i)
        put(x, i, random.between(-2, 2));
    for (int k = 0; k < 12; ++k)
      goal[k] = splat<T>(given.goal[k]);
    const Frame<T> tip = end_effector(given.target, q, axes);
    Residual<T> r = residual<HalfSine>(given.target, tip, goal_frame(goal));
    remove_slack(given.target, r);
    row_weights(given.target, r, weight);
    to_rows(given.target, r.rows, weight, r.position, r.rotation, rows);
    for (int i = 0; i < W; ++i) {
      double one_q[joints], one_weight[6], one_rows[6];
      Axis<double> one_axes[joints + 1];
      for (int k = 0; k < joints; ++k)
        one_q[k] = get(q[k], i);
      const Frame<double> at = end_effector(given.target, one_q, one_axes);
      Residual<double> one = residual<HalfSine>(given.target, at, goal_frame(given.goal));
      remove_slack(given.target, one);
      row_weights(given.target, one, one_weight);
      to_rows(given.target, one.rows, one_weight, one.position, one.rotation, one_rows);
      if (far_from_half_turn(given.target, at, goal_frame(given.goal)))
        for (int k = 0; k < given.target.rows; ++k)
          apart.see(get(rows[k], i) - one_rows[k], round);
    }
  }
  report.add("rows in lanes are those of scalars", name_of<T>(), apart.error, 1e-13, apart.at);
}

void slack_is_removed(Report &report) {
  Random random{41};
  Worst sizes, rows_inside, smaller;
  for (int round = 0; round < 4000; ++round) {
    const Case given(random, true);
    const Target &target = given.target;
    double q[joints], weight[6], e[6];
    for (double &x : q)
      x = random.between(-2, 2);
    Axis<double> axes[joints + 1];
    const Frame<double> tip = end_effector(target, q, axes);
    const Residual<double> all = residual<Angle>(target, tip, goal_frame(given.goal));
    Residual<double> r = all;
    remove_slack(target, r);
    row_weights(target, r, weight);
    to_rows(target, r.rows, weight, r.position, r.rotation, e);
    const double cone = target.has_direction ? target.slack[target.rows - 1] : 0;
    if (target.has_direction)
      sizes.see(size_of(r.rotation) - larger(size_of(all.rotation) - cone, 0.0), round);
    const double before = size_of(all.position);
    smaller.see(larger(size_of(r.position) - before, 0.0) / larger(before, 1e-300), round);
    for (int i = 0; i < target.rows; ++i)
      if (target.component[i] < across_1 && target.slack[i] > 0 && e[i] == 0)
        rows_inside.see(weight[i], round);
  }
  report.add("beyond a cone is the angle less the cone", "double", sizes.error, 1e-14, sizes.at);
  // each component is no larger; the two roots of sums of squares round apart where products and sums fuse
  report.add("slack makes no position difference larger", "double", smaller.error, 1e-15, smaller.at);
  report.add("a row inside its slack has no weight", "double", rows_inside.error, 0, rows_inside.at);
}

// For positions and directions the rows' derivative is minus the Jacobian; for rotations only where none is
// left, so those goals are where the end effector is.
void jacobian_is_the_derivative(Report &report) {
  Random random{43};
  Worst apart;
  for (int round = 0; round < 500; ++round) {
    Case given(random, false);
    double q[joints];
    for (double &x : q)
      x = random.between(-2, 2);
    Axis<double> axes[joints + 1];
    Frame<double> tip = end_effector(given.target, q, axes);
    Case::write(tip.r, given.goal);
    if (given.target.has_direction)
      store3(pointing_axis(given.target, tip), given.goal);
    double e[6], J[6 * joints], full[6 * joints], distance, angle, above[6], below[6], unused[6 * joints];
    auto at = [&](double *rows, double *jacobian) {
      evaluate(given.problem, q, given.goal, false, {rows, jacobian, full, &tip, axes, &distance, &angle});
    };
    at(e, J);
    const double h = 1e-5;
    for (int k = 0; k < joints; ++k) {
      const double here = q[k];
      q[k] = here + h;
      at(above, unused);
      q[k] = here - h;
      at(below, unused);
      q[k] = here;
      for (int i = 0; i < given.target.rows; ++i)
        apart.see(J[i * joints + k] + (above[i] - below[i]) / (2 * h), round);
    }
  }
  report.add("the Jacobian of the rows is their derivative", "double", apart.error, 1e-8, apart.at);
}

} // namespace test

int main() {
  test::Report report;
  test::metrics_agree(report);
  test::slack_is_removed(report);
  test::jacobian_is_the_derivative(report);
  test::lanes_agree<test::Pack<double, test::native_width>>(report);
}
