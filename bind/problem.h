// A problem from Python values: the links with goals, their rows, and the joints that move them.
#pragma once
#include "linkage.h"
#include "supple/task/goal.h"

struct EncodedProblem {
  nb::object tree_owner;
  int dof;
  std::vector<int> columns; // the values of q that some goal needs
  std::vector<int> place;   // of each value of q, its place among them or -1
  std::vector<std::vector<ChainJoint>> chain_joints;
  std::vector<std::vector<MassNode>> mass_nodes; // of goals for the centre of mass
  std::vector<Target> targets;
  std::vector<Ball> balls;
  std::vector<Ball> other_balls; // those that no goal needs; their index is that in q
  std::vector<double> lower, upper;
  Problem problem;

  // targets: (link, components, weights, point, axis, slacks, other link or None, shape, masses or None,
  // links whose joints are the shoulder and the elbow of a pole, or None);
  // balls: (index, axis, swing, low, high)
  EncodedProblem(nb::object tree, nb::handle given_targets, nb::handle low, nb::handle high,
                 nb::handle given_balls)
      : tree_owner(tree) {
    Tree &t = native<Tree>(tree, "a Tree");
    dof = t.dof;
    const Rows lows(low, "lower", dof), highs(high, "upper", dof);
    if (lows.n != 1 || highs.n != 1)
      bad_input("lower and upper must be one row each");
    const std::vector<Fields> wanted = rows_of(given_targets, "target", 10);
    const std::vector<Fields> ball_list = rows_of(given_balls, "ball", 5);
    if (wanted.empty())
      bad_input("at least one goal is needed");
    std::vector<Path> paths;
    std::vector<MassTree> masses;
    std::vector<char> needed(dof);
    mass_nodes.reserve(wanted.size());
    for (const Fields &w : wanted) {
      mass_nodes.emplace_back();
      masses.push_back({});
      if (!w[8].is_none()) {
        const Rows parts(w[8], "masses", 4);
        if (parts.n != npy_intp(t.tips.size()))
          bad_input("masses must have a row for each link");
        paths.push_back(t.mass_path(parts.data, mass_nodes.back(), masses.back()));
      } else {
        const int link = t.place(w[0]);
        paths.push_back(w[6].is_none() ? t.path(link) : t.relative_path(link, t.place(w[6])));
      }
      for (int c : paths.back().columns)
        needed[c] = 1;
    }
    place.assign(dof, -1);
    for (int i = 0; i < dof; ++i)
      if (needed[i]) {
        place[i] = int(columns.size());
        columns.push_back(i);
      }
    const int n = int(columns.size());
    if (!n)
      bad_input("no joint moves any of the links of the goals");
    chain_joints.reserve(paths.size());
    int rows = 0;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const Fields &w = wanted[i];
      chain_joints.push_back(paths[i].joints);
      for (ChainJoint &joint : chain_joints.back())
        joint.index = place[joint.index];
      Target target{};
      target.chain = paths[i].chain;
      target.chain.joints = chain_joints.back().data();
      target.chain.dof = n;
      for (MassNode &node : mass_nodes[i])
        node.joint.index = place[node.joint.index];
      target.masses = masses[i];
      target.masses.nodes = mass_nodes[i].data();
      target.first = rows;
      const Fields components(w[1], "components");
      if (components.size() < 1 || components.size() > 6)
        bad_input("a goal has between 1 and 6 rows");
      target.rows = int(components.size());
      for (int k = 0; k < target.rows; ++k)
        target.component[k] = whole(components[k], "a component", 0, component_count - 1);
      const Fields shape(w[7], "shape", 5);
      numbers(w[2], "weights", target.rows, target.weight);
      numbers(w[5], "slacks", target.rows, target.slack);
      numbers(w[3], "point", 3, target.point);
      numbers(w[4], "axis", 3, target.axis);
      target.looks = truth(shape[0]);
      target.distance = number(shape[1]);
      for (int k = 0; k < 3; ++k)
        target.line[k] = number(shape[2 + k]);
      if (!w[9].is_none())
        set_limb(t, Fields(w[9], "limb", 2), w[0], w[6], target);
      set_properties(target);
      rows += target.rows;
      targets.push_back(target);
    }
    for (int c : columns) {
      lower.push_back(lows.data[c]);
      upper.push_back(highs.data[c]);
    }
    for (const Fields &b : ball_list) {
      const int column = ball_index(t, b), index = place[column];
      Ball ball{index >= 0 ? index : column, {}, number(b[2]), number(b[3]), number(b[4])};
      numbers(b[1], "axis of a ball", 3, ball.axis);
      (index >= 0 ? balls : other_balls).push_back(ball);
    }
    problem = {targets.data(), int(targets.size()), rows,         n,
               lower.data(),   upper.data(),        balls.data(), int(balls.size())};
  }
  EncodedProblem(const EncodedProblem &) = delete;

  // the axes of a chain at whose origins the shoulder and the elbow of a pole are
  static void set_limb(const Tree &tree, const Fields &limb, nb::handle link, nb::handle other,
                       Target &target) {
    std::vector<int> way = tree.nodes_to(tree.place(link)), up;
    if (!other.is_none())
      up = tree.nodes_to(tree.place(other));
    std::size_t common = 0;
    while (common < way.size() && common < up.size() && way[common] == up[common])
      ++common;
    up.erase(up.begin(), up.begin() + common);
    std::reverse(up.begin(), up.end());
    up.insert(up.end(), way.begin() + common, way.end());
    for (int k = 0; k < 2; ++k) {
      const auto at = std::find(up.begin(), up.end(), tree.tips[tree.place(limb[k])].node);
      if (at == up.end())
        bad_input("a limb's links must be moved by joints between its base and its end");
      target.limb[k] = 0;
      for (auto i = up.begin(); i != at; ++i)
        target.limb[k] += tree.nodes[*i].motion == supple::spherical ? 3 : 1;
    }
    if (target.rows != 1 || target.component[0] != about_x)
      bad_input("a pole has one row");
    target.has_pole = true;
  }

  static std::vector<Fields> rows_of(nb::handle given, const char *what, int fields) {
    const Fields items(given, what);
    std::vector<Fields> rows;
    for (Py_ssize_t i = 0; i < items.size(); ++i)
      rows.emplace_back(items[i], what, fields);
    return rows;
  }
  // the first value of a ball joint, among those of q
  static int ball_index(const Tree &tree, const Fields &ball) {
    const int index = whole(ball[0], "the index of a ball", 0, tree.dof - 1);
    const std::vector<int> &known = tree.balls_at;
    if (std::find(known.begin(), known.end(), index) == known.end())
      bad_input("value " + std::to_string(index) + " of q is not that of a ball joint");
    return index;
  }

  void gather(const double *full, double *part) const {
    for (int c : columns)
      *part++ = full[c];
  }
  void scatter(const double *part, double *full) const {
    for (int c : columns)
      full[c] = *part++;
  }
};
