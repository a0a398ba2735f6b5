// Laws of traversal: the tree, the chain and the Jacobian agree with each other on scalars and on lanes.
#include "check.h"
#include "supple/model/reach.h"
#include "supple/task/jacobian.h"

namespace test {

constexpr int most = 40, room = 3 * most;

// A random chain of nodes, each with its values of q; locations are of any kind, at right angles, parallel or
// nearly so.
struct Case {
  Node nodes[most];
  ChainJoint chain_joints[most];
  Chain chain;
  int count, dof;

  Case(Random &random, bool balls_too) : count(random.below(most + 1)), dof(0) {
    int single[most], singles = 0; // values that mimics can share
    for (int i = 0; i < count; ++i) {
      Node &node = nodes[i];
      place(random, node.rotation, node.position);
      node.parent = i - 1;
      node.motion = balls_too && random.below(6) == 0 ? spherical : random.below(3) ? revolute : prismatic;
      const bool mimic = node.motion != spherical && singles && random.below(4) == 0;
      node.index = mimic ? single[random.below(singles)] : dof;
      node.gain = mimic ? random.between(-1.5, 1.5) : 1;
      node.offset = mimic ? random.between(-1, 1) : 0;
      if (!mimic && node.motion != spherical)
        single[singles++] = dof;
      if (!mimic)
        dof += node.motion == spherical ? 3 : 1;
    }
    make_chain(nodes, count, chain_joints);
    bool seen[room] = {};
    int axes = 0;
    for (int i = 0; i < count; ++i) {
      chain_joints[i].shared = seen[chain_joints[i].index];
      seen[chain_joints[i].index] = true;
      axes += chain_joints[i].motion == spherical ? 3 : 1;
    }
    chain = {chain_joints, count, axes, dof, {}, {}};
    place(random, chain.rotation, chain.position);
  }

  static void place(Random &random, double *rotation, double *position) {
    double v[3] = {random.between(-2, 2), random.between(-2, 2), random.between(-2, 2)};
    const int style = random.below(8), axis = random.below(3);
    if (style == 0)
      v[0] = v[1] = v[2] = 0;
    if (style == 1 || style == 2)
      for (int k = 0; k < 3; ++k)
        v[k] = k == axis ? (random.below(4) - 1) * 1.5707963267948966 : 0;
    if (style == 3) // nearly parallel
      for (double &x : v)
        x *= std::pow(10, random.between(-17, -3));
    if (style == 4) {
      v[0] = 3.141592653589793 + random.below(2) * std::pow(10, random.between(-15, -3));
      v[1] = v[2] = 0;
    }
    if (style == 5)
      v[0] = v[1] = 0; // parallel
    const Rot<double> r = exp_rotation(Vec<double>{v[0], v[1], v[2]});
    const double rows[9] = {r.x.x, r.y.x, r.z.x, r.x.y, r.y.y, r.z.y, r.x.z, r.y.z, r.z.z};
    for (int k = 0; k < 9; ++k) // right angles are sometimes exact
      rotation[k] =
          (style == 1 && std::fabs(rows[k] - std::round(rows[k])) < 1e-9) ? std::round(rows[k]) : rows[k];
    for (int k = 0; k < 3; ++k)
      position[k] = random.below(3) ? random.between(-0.5, 0.5) : 0;
  }
};

template <class T>
Vec<double> lane(Vec<T> v, int i) {
  return {double(get(v.x, i)), double(get(v.y, i)), double(get(v.z, i))};
}
inline double distance(Vec<double> a, Vec<double> b) { return root(dot(a - b, a - b)); }

template <class T>
void see(Worst &worst, const Frame<T> &a, int i, const Frame<double> &b, double size, double at) {
  worst.see(distance(lane(a.r.x, i), b.r.x), at);
  worst.see(distance(lane(a.r.y, i), b.r.y), at);
  worst.see(distance(lane(a.r.z, i), b.r.z), at), worst.see(distance(lane(a.p, i), b.p) / size, at);
}

// frames and Jacobian of one case at given values, by the tree and by the chain
template <class T>
struct Looked {
  Frame<T> by_tree, by_chain;
  T J[6 * room], turned[6 * room];
};
template <class T>
void look(const Case &given, const T *q, Looked<T> &out) {
  Frame<T> world[most + 1];
  Axis<T> axes[room + 1];
  traverse<T>(given.nodes, given.count, q, world);
  const Frame<T> tip = constant<T>(given.chain.rotation, given.chain.position);
  out.by_tree = given.count ? world[given.count - 1] * tip : tip;
  out.by_chain = frame<T>(traverse_chain<T>(given.chain, q, axes));
  for (int i = 0; i < 6 * given.dof; ++i)
    out.J[i] = out.turned[i] = T(Scalar<T>(0));
  geometric_jacobian(given.chain, axes, out.by_chain.p, false, out.by_chain.r, out.J);
  geometric_jacobian(given.chain, axes, out.by_chain.p, true, out.by_chain.r, out.turned);
}

template <class T>
void traversals(Report &report) {
  using S = Scalar<T>;
  constexpr int W = Lane<T>::width;
  Random random{21};
  Worst both, scalars, jacobians, turned;
  static Looked<T> wide;
  static Looked<double> one;
  long made = 0;
  for (int round = 0; round < 400; ++round) {
    const Case given(random, round % 3 != 0);
    T q[room];
    for (int k = 0; k < given.dof; ++k)
      for (int i = 0; i < W; ++i)
        put(q[k], i, S(random.between(-3, 3)));
    const long before = allocations;
    look(given, q, wide);
    made += allocations - before;
    for (int i = 0; i < W; ++i) {
      double values[room];
      for (int k = 0; k < given.dof; ++k)
        values[k] = double(get(q[k], i));
      look(given, values, one);
      const Vec<double> p = one.by_tree.p;
      const double size = larger(1.0, root(dot(p, p)));
      const Frame<double> by_tree{
          {lane(wide.by_tree.r.x, i), lane(wide.by_tree.r.y, i), lane(wide.by_tree.r.z, i)},
          lane(wide.by_tree.p, i)};
      see(both, wide.by_chain, i, by_tree, size, given.count);
      see(scalars, wide.by_tree, i, one.by_tree, size, given.count);
      see(scalars, wide.by_chain, i, one.by_tree, size, given.count);
      for (int k = 0; k < 6 * given.dof; ++k)
        jacobians.see((get(wide.J[k], i) - one.J[k]) / size / 10, given.count);
      const Rot<double> r = one.by_chain.r;
      for (int k = 0; k < given.dof; ++k)
        for (int half = 0; half < 2; ++half) {
          const double *j = one.J + 3 * half * given.dof + k;
          const T *t = wide.turned + 3 * half * given.dof + k;
          const Vec<double> own = transpose(r) * Vec<double>{j[0], j[given.dof], j[2 * given.dof]};
          turned.see(distance(own, {double(get(t[0], i)), double(get(t[given.dof], i)),
                                    double(get(t[2 * given.dof], i))}) /
                     size / 10);
        }
    }
  }
  const double allowed = 100 * epsilon<T>; // some tens of joints, each a rounding or two
  const std::string type = name_of<T>();
  report.add("the chain ends where the tree does", type, both.error, allowed, both.at);
  report.add("lanes traverse like double scalars", type, scalars.error, allowed, scalars.at);
  report.add("Jacobians on lanes are those on double scalars", type, jacobians.error, allowed, jacobians.at);
  report.add("a turned Jacobian is the same in other axes", type, turned.error, allowed);
  report.add("traversal allocates nothing", type, double(made), 0);
}

// a ball's values: one turn after another, and the turn between two
template <class T>
void steps(Report &report) {
  using S = Scalar<T>;
  Random random{22};
  Worst there;
  for (int round = 0; round < 4000; ++round) {
    auto any = [&](double size) {
      return Vec<T>{T(S(random.between(-size, size))), T(S(random.between(-size, size))),
                    T(S(random.between(-size, size)))};
    };
    const Vec<T> start = any(1.8), step = any(round % 2 ? 1.8 : 1e-6), end = turned(start, step),
                 back = between(start, end);
    for (int i = 0; i < Lane<T>::width; ++i)
      if (dot(lane(step, i), lane(step, i)) < 9)
        there.see(distance(lane(back, i), lane(step, i)));
  }
  report.add("the turn between is the turn that was made", name_of<T>(), there.error, 32 * epsilon<T>);
}

// no start of the climb may allocate, and an outstretched arm is as long as its links together
void reaches(Report &report) {
  Node nodes[3];
  ChainJoint chain_joints[3];
  for (int i = 0; i < 3; ++i)
    nodes[i] = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {i ? 20.0 - 5 * i : 0, 0, 0}, 1, 0, i - 1, i, revolute};
  make_chain(nodes, 3, chain_joints);
  const Chain chain{chain_joints, 3, 3, 3, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {5, 0, 0}};
  const double low[3] = {-1, -1, -1}, high[3] = {1, 1, 1};
  double q[3];
  Axis<double> axes[4];
  Vec<double> base;
  const long before = allocations;
  const double found = reach(chain, low, high, q, axes, base);
  const long made = allocations - before;
  report.add("reach of 15, 10 and 5", "double", std::fabs(found - 30) + root(dot(base, base)), 1e-13);
  report.add("reach allocates nothing", "double", double(made), 0);
}

template <class T>
void all_laws(Report &report) {
  traversals<T>(report);
  steps<T>(report);
}

template <bool scalars>
void all_types(Report &report) {
  all_laws<Pack<double, native_width>>(report);
  all_laws<Pack<float, 2 * native_width>>(report);
  if constexpr (scalars)
    all_laws<double>(report);
  if constexpr (scalars && every_width)
    all_laws<float>(report);
}

} // namespace test

int main() {
  test::Report report;
  test::all_types<test::scalars_too>(report);
  test::reaches(report);
}
