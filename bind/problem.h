// A problem from Python values: the links with goals, their rows, and the joints that move them.
#pragma once
#include "linkage.h"
#include "supple/task/goal.h"

inline double number(nb::handle h) { return nb::cast<double>(h); }
inline int whole(nb::handle h) { return nb::cast<int>(h); }

struct EncodedProblem {
  nb::object tree_owner;
  int dof;
  std::vector<int> columns; // the values of q that some goal needs
  std::vector<int> place;   // of each value of q, its place among them or -1
  std::vector<std::vector<ChainJoint>> chain_joints;
  std::vector<std::vector<MassNode>> mass_nodes; // of goals for the centre of mass
  std::vector<Target> targets;
  std::vector<Ball> balls;
  std::vector<double> lower, upper;
  Problem problem;

  // targets: (link, components, weights, point, axis, slacks, other link or None, shape, masses or None);
  // balls: (index, axis, swing, low, high)
  EncodedProblem(nb::object tree, nb::list wanted, nb::handle low, nb::handle high, nb::list ball_list)
      : tree_owner(tree) {
    Tree &t = nb::cast<Tree &>(tree);
    dof = t.dof;
    const Rows lows(low, "lower", dof), highs(high, "upper", dof);
    std::vector<Path> paths;
    std::vector<MassTree> masses;
    std::vector<char> needed(dof);
    mass_nodes.reserve(nb::len(wanted));
    for (nb::handle w : wanted) {
      mass_nodes.emplace_back();
      masses.push_back({});
      if (!nb::object(w[8]).is_none()) {
        const Rows parts(w[8], "masses", 4);
        if (parts.n != npy_intp(t.tips.size()))
          bad_input("masses must have a row for each link");
        paths.push_back(t.mass_path(parts.data, mass_nodes.back(), masses.back()));
      } else {
        const int link = t.place(w[0]);
        paths.push_back(nb::object(w[6]).is_none() ? t.path(link) : t.relative_path(link, t.place(w[6])));
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
    chain_joints.reserve(paths.size());
    int rows = 0;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      nb::handle w = wanted[i];
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
      target.rows = int(nb::len(nb::object(w[1])));
      if (target.rows < 1 || target.rows > 6)
        bad_input("a goal has between 1 and 6 rows");
      for (int k = 0; k < target.rows; ++k) {
        target.component[k] = whole(w[1][k]);
        target.weight[k] = number(w[2][k]);
        target.slack[k] = number(w[5][k]);
      }
      target.looks = nb::cast<bool>(w[7][0]);
      target.distance = number(w[7][1]);
      for (int k = 0; k < 3; ++k) {
        target.line[k] = number(w[7][2 + k]);
        target.point[k] = number(w[3][k]);
        target.axis[k] = number(w[4][k]);
      }
      set_properties(target);
      rows += target.rows;
      targets.push_back(target);
    }
    for (int c : columns) {
      lower.push_back(lows.data[c]);
      upper.push_back(highs.data[c]);
    }
    for (nb::handle b : ball_list) {
      const int index = place[whole(b[0])];
      if (index >= 0)
        balls.push_back({index,
                         {number(b[1][0]), number(b[1][1]), number(b[1][2])},
                         number(b[2]),
                         number(b[3]),
                         number(b[4])});
    }
    problem = {targets.data(), int(targets.size()), rows,         n,
               lower.data(),   upper.data(),        balls.data(), int(balls.size())};
  }
  EncodedProblem(const EncodedProblem &) = delete;

  void gather(const double *full, double *part) const {
    for (int c : columns)
      *part++ = full[c];
  }
  void scatter(const double *part, double *full) const {
    for (int c : columns)
      full[c] = *part++;
  }
};
