// A linkage in the binding: its tree, and the chain of each link.
#pragma once
#include "fields.h"
#include "supple/model/center_of_mass.h"

#include <algorithm>
#include <vector>

using namespace supple;

inline void split(const double *m, double *rotation, double *position) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j)
      rotation[3 * i + j] = m[4 * i + j];
    position[i] = m[4 * i + 3];
  }
}

inline nb::object integers(nb::handle given, npy_intp size) {
  PyObject *made = PyArray_FROM_OTF(given.ptr(), NPY_INT, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST);
  if (!made)
    refuse_conversion("the parts of a tree must be numbers");
  if (PyArray_SIZE((PyArrayObject *)made) != size)
    bad_input("the parts of a tree differ in size");
  return nb::steal(made);
}

// what is known of one link: the joints that move it, in the world or relative to another link
struct Path {
  std::vector<ChainJoint> joints;
  std::vector<int> columns;
  Chain chain;

  Path() = default;
  // `tip` is the frame of the link on the last node
  Path(const std::vector<Node> &way, const Frame<double> &tip, int dof) {
    for (const Node &node : way)
      for (int k = 0; k < (node.motion == spherical ? 3 : 1); ++k)
        columns.push_back(node.index + k);
    const int axes = int(columns.size());
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    joints.resize(way.size());
    make_chain(way.data(), int(way.size()), joints.data());
    std::vector<char> seen(dof);
    for (ChainJoint &joint : joints)
      joint.shared = seen[joint.index], seen[joint.index] = 1;
    chain = {joints.data(), int(way.size()), axes, dof, {}, {}};
    const Rot<double> &r = tip.r;
    const double rows[9] = {r.x.x, r.y.x, r.z.x, r.x.y, r.y.y, r.z.y, r.x.z, r.y.z, r.z.z};
    std::copy_n(rows, 9, chain.rotation);
    store3(tip.p, chain.position);
  }
};

struct Tree {
  int dof;
  std::vector<Node> nodes;
  std::vector<Tip> tips;
  std::vector<int> balls_at;
  std::vector<Path> paths;
  std::vector<char> path_known;
  nb::dict index; // link name -> place among the tips

  Tree(nb::handle motion, nb::handle parent, nb::handle q, nb::handle gain, nb::handle offset,
       nb::handle location, nb::handle names_of_links, nb::handle link_node, nb::handle link_frame, int dof_)
      : dof(dof_) {
    const Fields names(names_of_links, "names");
    const Rows at(location, "location", 4, 4), post(link_frame, "link_frame", 4, 4);
    constexpr int most = 1 << 24;
    if (dof < 0 || dof > most || at.n > most || post.n > most)
      bad_input("a tree has at most " + std::to_string(most) + " joints, links and values");
    const int n = int(at.n), links = int(post.n);
    const Rows g(gain, "gain", n), o(offset, "offset", n);
    const nb::object m = integers(motion, n), p = integers(parent, n), k = integers(q, n),
                     l = integers(link_node, links);
    auto ints = [](const nb::object &a) { return (const int *)PyArray_DATA((PyArrayObject *)a.ptr()); };
    if (names.size() != links)
      bad_input("the parts of a tree differ in size");
    for (int i = 0; i < n; ++i) {
      Node node{{}, {}, g.data[i], o.data[i], ints(p)[i], ints(k)[i], ints(m)[i]};
      split(at.data + 16 * i, node.rotation, node.position);
      if (node.parent < -1 || node.parent >= i || node.motion < revolute || node.motion > spherical ||
          node.index < 0 || node.index + (node.motion == spherical ? 3 : 1) > dof)
        bad_input("node " + std::to_string(i) + " of a tree is out of range");
      if (node.motion == spherical)
        balls_at.push_back(node.index);
      nodes.push_back(node);
    }
    for (int i = 0; i < links; ++i) {
      Tip tip{{}, {}, ints(l)[i]};
      split(post.data + 16 * i, tip.rotation, tip.position);
      if (tip.node < -1 || tip.node >= n)
        bad_input("link " + std::to_string(i) + " of a tree is out of range");
      tips.push_back(tip);
      index[names[i]] = i;
    }
    paths.resize(links);
    path_known.resize(links);
  }

  int place(nb::handle link) const {
    PyObject *found = PyDict_GetItemWithError(index.ptr(), link.ptr());
    if (found)
      return int(PyLong_AsLong(found));
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError) &&
        !PyErr_ExceptionMatches(PyExc_ValueError))
      throw nb::python_error();
    PyErr_Clear(); // what cannot be a key is unknown too
    nb::object error = nb::module_::import_("supple.errors").attr("unknown")("link", link, index);
    PyErr_SetObject((PyObject *)Py_TYPE(error.ptr()), error.ptr());
    throw nb::python_error();
  }

  const Path &path(int link) {
    Path &path = paths[link];
    if (path_known[link])
      return path;
    std::vector<Node> way;
    for (int i : nodes_to(link))
      way.push_back(nodes[i]);
    path = Path(way, constant<double>(tips[link].rotation, tips[link].position), dof);
    path_known[link] = 1;
    return path;
  }

  // the nodes from the root to a link
  std::vector<int> nodes_to(int link) const {
    std::vector<int> way;
    for (int i = tips[link].node; i >= 0; i = nodes[i].parent)
      way.push_back(i);
    std::reverse(way.begin(), way.end());
    return way;
  }

  // the joints between two links; those that move both alike take no part
  Path relative_path(int link, int other) const {
    const std::vector<int> to = nodes_to(link), from = nodes_to(other);
    std::size_t common = 0;
    while (common < to.size() && common < from.size() && to[common] == from[common])
      ++common;
    std::vector<Node> up, down;
    for (std::size_t i = common; i < from.size(); ++i)
      up.push_back(nodes[from[i]]);
    for (std::size_t i = common; i < to.size(); ++i)
      down.push_back(nodes[to[i]]);
    std::vector<Node> way(up.size() + down.size());
    Frame<double> tip = constant<double>(tips[link].rotation, tips[link].position);
    make_relative_nodes(up.data(), int(up.size()), down.data(), int(down.size()),
                        constant<double>(tips[other].rotation, tips[other].position), tip, way.data());
    return Path(way, tip, dof);
  }

  // The joints that move the centre of mass, in an order in which what hangs on a joint follows it. `masses`
  // has four numbers for each link: its part of the mass, and its centre in link axes.
  Path mass_path(const double *masses, std::vector<MassNode> &made, MassTree &tree) const {
    const int n = int(nodes.size());
    std::vector<double> share(n + 1), carried(n);
    std::vector<Vec<double>> moment(n + 1, Vec<double>{0, 0, 0}); // the last: of what no joint moves
    for (std::size_t i = 0; i < tips.size(); ++i) {
      const double part = masses[4 * i];
      const int node = tips[i].node < 0 ? n : tips[i].node;
      share[node] += part;
      moment[node] = moment[node] + part * (constant<double>(tips[i].rotation, tips[i].position) *
                                            load3(masses + 4 * i + 1));
    }
    for (int i = n - 1; i >= 0; --i) {
      carried[i] += share[i];
      if (nodes[i].parent >= 0)
        carried[nodes[i].parent] += carried[i];
    }
    std::vector<Node> way;
    add_masses(share, carried, moment, made, way);
    Path path(way, {identity<double>(), {0, 0, 0}}, dof);
    tree.count = int(made.size());
    tree.axes = path.chain.axes;
    store3(moment[n], tree.fixed);
    path.chain.axes += mass_scratch * tree.count;
    return path;
  }

  // the nodes that carry mass, each before what hangs on it
  void add_masses(const std::vector<double> &share, const std::vector<double> &carried,
                  const std::vector<Vec<double>> &moment, std::vector<MassNode> &made,
                  std::vector<Node> &way) const {
    const int n = int(nodes.size());
    std::vector<int> first(n + 1, -1), next(n, -1),
        waiting; // children of a node, and of the world (the last)
    for (int i = n - 1; i >= 0; --i) {
      int &eldest = first[nodes[i].parent < 0 ? n : nodes[i].parent];
      next[i] = eldest;
      eldest = i;
    }
    std::vector<int> place(n, -1); // among those made
    auto wait = [&](int child) {
      const std::size_t from = waiting.size();
      for (; child >= 0; child = next[child])
        if (carried[child] > 0)
          waiting.push_back(child);
      std::reverse(waiting.begin() + from, waiting.end());
    };
    for (wait(first[n]); !waiting.empty();) {
      const int i = waiting.back();
      waiting.pop_back();
      place[i] = int(made.size());
      MassNode node{nodes[i], share[i], {}, carried[i], place[i] + 1};
      node.joint.parent = nodes[i].parent < 0 ? -1 : place[nodes[i].parent];
      store3(share[i] > 0 ? (1 / share[i]) * moment[i] : Vec<double>{0, 0, 0}, node.center);
      made.push_back(node);
      way.push_back(nodes[i]);
      wait(first[i]);
    }
    for (int i = int(made.size()) - 1; i >= 0; --i)
      if (made[i].joint.parent >= 0)
        made[made[i].joint.parent].end = std::max<int>(made[made[i].joint.parent].end, made[i].end);
  }

  // joint values, checked
  Rows values(nb::handle q, const char *what = "q") const {
    Rows rows(q, what, dof);
    const npy_intp at = rows.not_finite();
    if (at >= 0) {
      const char *number = std::isnan(rows.data[at]) ? "nan" : rows.data[at] > 0 ? "inf" : "-inf";
      const std::string row = rows.lead ? " of row " + std::to_string(at / dof) : "";
      bad_input(std::string(what) + " must be finite; value " + std::to_string(at % dof) + row + " is " +
                number);
    }
    return rows;
  }
};
