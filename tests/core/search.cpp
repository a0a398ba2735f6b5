// Properties of the search on random trees: it allocates nothing, stays in its scratch memory, keeps limits,
// and gives the same solutions alone, in a batch and with any number type.
#define SUPPLE_CANARIES // between scratch arrays
#include "counted.h"

#include "../../bind/kernels/search.cpp"

namespace test {

constexpr int most = 12, room = 3 * most; // joints, joint values
#if defined(SUPPLE_PLAIN_ARRAYS)
constexpr int rounds = 2, company = 7; // that build is not optimised
#else
constexpr int rounds = 60, company = 24; // trees, and goals at once for each
#endif

// A random chain, or two that share a trunk, with a goal at the end of each: revolute, slides and balls
// within limits.
struct Tree {
  Node nodes[most];
  std::vector<ChainJoint> chain_joints[2];
  std::vector<Target> targets;
  std::vector<Ball> ball_list;
  std::vector<double> lower, upper, natural, ones, rest;
  std::vector<double> search_memory, table_memory, scratch_memory; // doubles keep them aligned to 8 bytes
  Problem problem{};
  Search search{};
  double position_tolerance = 1e-6, angle_tolerance = 1e-6;
  bool nearest;
  int n = 0;

  Tree(Random &random, int count, int ends, bool plain, bool with_table, bool nearest_solution)
      : nearest(nearest_solution) {
    const int trunk = ends == 1 ? count : 1 + random.below(count - 1);
    std::vector<int> path[2];
    for (int i = 0; i < count; ++i) {
      Node &node = nodes[i];
      node = {};
      place(random, node.rotation, node.position);
      node.motion = plain                  ? revolute
                    : random.below(7) == 0 ? spherical
                    : random.below(3)      ? revolute
                                           : prismatic;
      node.index = n;
      node.gain = 1;
      const int whose = i < trunk ? -1 : i % ends;
      for (int k = 0; k < ends; ++k)
        if (whose < 0 || whose == k)
          path[k].push_back(i);
      if (node.motion == spherical)
        ball_list.push_back(
            {n, {0, 0, 1}, random.between(0.5, 3), random.between(-3, -0.5), random.between(0.5, 3)});
      for (int k = 0; k < (node.motion == spherical ? 3 : 1); ++k)
        add(random, node.motion);
    }
    int row_count = 0;
    for (int k = 0; k < ends; ++k) {
      Node on_way[most];
      const int length = int(path[k].size());
      for (int i = 0; i < length; ++i)
        on_way[i] = nodes[path[k][i]];
      chain_joints[k].resize(length);
      make_chain(on_way, length, chain_joints[k].data());
      Target target{};
      for (const ChainJoint &joint : chain_joints[k])
        target.chain.axes += axis_count(joint);
      target.chain.joints = chain_joints[k].data();
      target.chain.count = length;
      target.chain.dof = n;
      place(random, target.chain.rotation, target.chain.position);
      ask(random, plain, target);
      target.first = row_count;
      row_count += target.rows;
      targets.push_back(target);
    }
    problem = {targets.data(), ends,         row_count,        n,
               lower.data(),   upper.data(), ball_list.data(), int(ball_list.size())};
    ones.assign(n, 1.0);
    rest.assign(n, 0.0);
    set_up(with_table);
  }
  Tree(const Tree &) = delete;

  // `bytes` of zeros, aligned to 64
  static void *allocate(std::vector<double> &memory, std::size_t bytes) {
    memory.assign(bytes / 8 + 9, 0.0);
    const std::size_t off = reinterpret_cast<std::uintptr_t>(memory.data()) % 64;
    return reinterpret_cast<char *>(memory.data()) + (64 - off) % 64;
  }

  void set_up(bool with_table) {
    const SearchOptions options{natural.data(),
                                ones.data(),
                                rest.data(),
                                64,
                                20000,
                                1,
                                0.5,
                                position_tolerance / SearchConstants::tolerance_fraction,
                                angle_tolerance / SearchConstants::tolerance_fraction,
                                10 * unbounded,
                                {},
                                nearest};
    void *memory = allocate(search_memory, search_bytes(problem));
    void *scratch = allocate(scratch_memory, search_kernels.scratch(problem, company));
    search_kernels.place(problem, company, scratch);
    bool table_possible;
    long before = allocations;
    search = set_up_search(problem, options, memory, table_possible);
    set_up_allocations += allocations - before;
    if (!with_table || !table_possible)
      return;
    const Table table = table_geometry(problem);
    std::vector<double> table_scratch;
    void *made = allocate(table_memory, table_bytes(table));
    void *working = allocate(table_scratch, table_scratch_bytes(problem, table));
    before = allocations;
    set_up_table(problem, table, {search_kernels.sample, search_kernels.one, scratch}, made, working, search);
    set_up_allocations += allocations - before;
  }
  long set_up_allocations = 0;

  void add(Random &random, int motion) {
    const bool endless = motion == spherical || (motion == revolute && random.below(4) == 0);
    const double size = motion == prismatic ? 0.3 : 1, a = random.between(-3, 0) * size,
                 b = random.between(0.1, 3) * size;
    lower.push_back(endless ? -INFINITY : a);
    upper.push_back(endless ? INFINITY : b);
    natural.push_back(size);
    ++n;
  }

  static void place(Random &random, double *rotation, double *position) {
    const Rot<double> r =
        exp_rotation(Vec<double>{random.between(-2, 2), random.between(-2, 2), random.between(-2, 2)});
    const double rows[9] = {r.x.x, r.y.x, r.z.x, r.x.y, r.y.y, r.z.y, r.x.z, r.y.z, r.z.z};
    for (int k = 0; k < 9; ++k)
      rotation[k] = rows[k];
    for (int k = 0; k < 3; ++k)
      position[k] = random.between(-0.5, 0.5);
  }

  // a frame, a position, a turn or a direction to point along, now and then with slack
  static void ask(Random &random, bool frame_only, Target &target) {
    const int kind = frame_only ? 0 : random.below(5);
    const bool loose = !frame_only && random.below(3) == 0;
    auto row = [&](int component, double slack) {
      target.component[target.rows] = component;
      target.weight[target.rows] = component < about_x ? 2 : 1;
      target.slack[target.rows++] = loose ? slack : 0;
    };
    for (int c = 0; c < 3 && kind != 2 && kind != 3; ++c)
      row(c, c == 1 ? 0 : 0.02);
    for (int c = about_x; c <= about_z && (kind == 0 || kind == 2); ++c)
      row(c, c == about_y ? 0 : 0.1);
    for (int c = across_1; c <= across_2 && kind >= 3; ++c)
      row(c, 0.1);
    target.axis[2] = 1;
    set_properties(target);
  }

  Frame<double> tip(const Target &target, const double *q) const {
    Axis<double> axes[room + 1];
    Frame<double> f = frame<double>(traverse_chain(target.chain, q, axes));
    f.p = f * Vec<double>{target.point[0], target.point[1], target.point[2]};
    return f;
  }

  // q within limits, and the goals that it fulfils
  void reachable(Random &random, double *q, double *goals) const {
    for (int l = 0; l < n; ++l)
      q[l] = search.joints[l].range_begin + random.unit() * search.joints[l].range_size;
    for (const Ball &ball : ball_list) {
      double *at = q + ball.index;
      const Vec<double> r =
          clamp_ball(Vec<double>{at[0], at[1], at[2]}, Vec<double>{0, 0, 1}, ball.swing, ball.low, ball.high);
      store3(r, at);
    }
    for (std::size_t k = 0; k < targets.size(); ++k) {
      const Frame<double> f = tip(targets[k], q);
      const Rot<double> &r = f.r;
      const double numbers[12] = {r.x.x, r.y.x, r.z.x, r.x.y, r.y.y, r.z.y,
                                  r.x.z, r.y.z, r.z.z, f.p.x, f.p.y, f.p.z};
      for (int i = 0; i < 12; ++i)
        goals[12 * k + i] = numbers[i];
      if (targets[k].component[targets[k].rows - 1] >= across_1)
        store3(r.z, goals + 12 * k);
    }
  }

  // how far q is from a goal beyond its slack, in parts of the tolerance; turns by their sines, which tells
  // small ones
  double away(const double *q, const double *goals) const {
    double worst = 0;
    for (std::size_t k = 0; k < targets.size(); ++k) {
      const Target &target = targets[k];
      const Frame<double> f = tip(target, q);
      const double *g = goals + 12 * k;
      const bool points = target.component[target.rows - 1] >= across_1;
      const Vec<double> x{g[0], g[3], g[6]}, y{g[1], g[4], g[7]}, z{g[2], g[5], g[8]}, way{g[0], g[1], g[2]};
      Vec<double> turn = 0.5 * (cross(f.r.x, x) + cross(f.r.y, y) + cross(f.r.z, z));
      if (points)
        turn = cross(f.r.z, way);
      const double size = root(dot(turn, turn)),
                   angle =
                       std::atan2(size, points ? dot(f.r.z, way)
                                               : 0.5 * (dot(f.r.x, x) + dot(f.r.y, y) + dot(f.r.z, z) - 1));
      turn = (size > 1e-12 ? angle / size : angle > 1 ? 1e12 : 1) * turn;
      if (size <= 1e-12 && angle > 1)
        worst = larger(worst, 1e12);
      const double all[6] = {g[9] - f.p.x, g[10] - f.p.y, g[11] - f.p.z, turn.x, turn.y, turn.z};
      double place = 0, lean = 0;
      for (int i = 0; i < target.rows && target.component[i] < across_1; ++i) {
        const double x = all[target.component[i]], out = larger(std::fabs(x) - target.slack[i], 0.0);
        (target.component[i] < about_x ? place : lean) += out * out;
      }
      if (points)
        lean = std::pow(larger(angle - target.slack[target.rows - 1], 0.0), 2);
      worst = larger(worst, larger(std::sqrt(place) / position_tolerance, std::sqrt(lean) / angle_tolerance));
    }
    return worst;
  }

  // how far q is outside its limits
  double outside(const double *q) const {
    double worst = 0;
    for (int l = 0; l < n; ++l) {
      if (!(std::fabs(q[l]) < 1e300))
        return INFINITY;
      worst = larger(worst, larger(q[l] - upper[l], lower[l] - q[l]));
    }
    for (const Ball &ball : ball_list) {
      const double *at = q + ball.index;
      const Vec<double> r{at[0], at[1], at[2]},
          d = r - clamp_ball(r, Vec<double>{0, 0, 1}, ball.swing, ball.low, ball.high);
      worst = larger(worst, root(dot(d, d)) - 1e-12);
    }
    return worst;
  }
};

// Goals at once for a tree: all but every sixth can be reached.
struct Cases {
  int n, size; // joint values, numbers of a goal
  std::vector<double> goals, starts;

  Cases(Random &random, const Tree &tree) : n(tree.n), size(12 * tree.problem.target_count) {
    goals.resize(company * size);
    starts.resize(company * n);
    std::vector<double> q(n);
    for (int i = 0; i < company; ++i) {
      tree.reachable(random, starts.data() + i * n, goals.data() + i * size); // only the start is used
      tree.reachable(random, q.data(), goals.data() + i * size);
      for (int k = 9; k < size && out_of_reach(i); k += 12)
        goals[i * size + k] += 3;
    }
  }
  static bool out_of_reach(int i) { return i % 6 == 5; }
  Request request(int i, bool started, int wanted) const {
    return {goals.data() + i * size, started ? starts.data() + i * n : nullptr, wanted, {}};
  }
};

// The tree of a round: a chain with a frame for its goal, or any; every other one has a table if it can, and
// two of three look for the solution nearest to a start.
Tree random_tree(Random &random, bool plain, int round) {
  const int count = plain ? 6 + random.below(3) : 2 + random.below(most - 2);
  return Tree(random, count, plain ? 1 : 1 + random.below(2), plain, round % 2, round % 3 > 0);
}

struct Laws {
  Worst limits, wrong_outcome, apart, unsorted, overrun;
  long made = 0, lost = 0, all = 0, tables = 0;
};

// whether nothing was written past the end of a scratch array
bool is_intact(const Tree &tree, void *scratch) {
  ScratchLayout layout = ScratchLayout::check(scratch);
  SearchScratch arrays;
  lay_out(arrays, layout, tree.problem, company);
  return layout.intact();
}

void check_several(const Tree &tree, const Request &request, void *scratch, int round, Laws &laws) {
  const int n = tree.n;
  std::vector<double> q(request.wanted * n);
  int count = 0;
  const long before = allocations;
  search_kernels.one(tree.problem, tree.search, request, q.data(), count, scratch);
  laws.made += allocations - before;
  double last = 0;
  for (int k = 0; k < count; ++k) {
    const double *solution = q.data() + k * n;
    laws.limits.see(tree.outside(solution), round);
    laws.wrong_outcome.see(tree.away(solution, request.goals) <= 1.001 ? 0 : 1, round);
    double distance = 0;
    for (int l = 0; l < n; ++l) {
      const double d = (solution[l] - reference(tree.search, request, l)) / tree.natural[l];
      distance += d * d;
    }
    laws.unsorted.see(larger(last - distance - 1e-9 * distance, 0.0), round);
    last = distance;
  }
}

void check_round(const Tree &tree, const Cases &cases, bool started, int round, Laws &laws) {
  const int n = tree.n;
  std::vector<double> q(company * n), alone(n);
  std::vector<Found> found(company);
  std::vector<double> memory;
  void *scratch = Tree::allocate(memory, search_kernels.scratch(tree.problem, company));
  search_kernels.place(tree.problem, company, scratch);
  const SearchBatch batch{company, cases.goals.data(), started ? cases.starts.data() : nullptr,
                          {},      q.data(),           found.data()};
  long before = allocations;
  search_kernels.many(tree.problem, tree.search, batch, scratch);
  laws.made += allocations - before;
  for (int i = 0; i < company; ++i) {
    const Request request = cases.request(i, started, 1);
    const double *row = q.data() + i * n;
    const bool solved = found[i].outcome == arrived;
    const double away = tree.away(row, request.goals);
    laws.limits.see(tree.outside(row), round);
    if (solved != (away <= 1) && !(std::fabs(away - 1) < 1e-3))
      laws.wrong_outcome.see(larger(away, 1.0), round);
    laws.all += !Cases::out_of_reach(i);
    laws.lost += !Cases::out_of_reach(i) && !solved;
    int count = 0;
    before = allocations;
    search_kernels.one(tree.problem, tree.search, request, alone.data(), count, scratch);
    laws.made += allocations - before;
    laws.apart.see(count == solved ? 0 : 1, round);
    for (int l = 0; l < n; ++l)
      laws.apart.see(same_bits(alone[l], row[l]) ? 0 : 1, round);
    if (i % 8 == 0)
      check_several(tree, cases.request(i, started, 4), scratch, round, laws);
  }
  laws.overrun.see(is_intact(tree, scratch) ? 0 : 1, round);
}

void searches(Report &report, bool plain) {
  Random random{plain ? 51u : 52u};
  const char *type = plain ? "one frame" : "any goals";
  Laws laws;
  for (int round = 0; round < rounds; ++round) {
    const Tree tree = random_tree(random, plain, round);
    const Cases cases(random, tree);
    laws.made += tree.set_up_allocations;
    laws.tables += tree.search.has_table;
    for (int started = 0; started < 2; ++started)
      check_round(tree, cases, started, round, laws);
  }
  report.add("a search allocates nothing", type, double(laws.made), 0);
  report.add("a search stays in its scratch arrays", type, laws.overrun.error, 0, laws.overrun.at);
  report.add("what a search finds is within limits", type, laws.limits.error, 0, laws.limits.at);
  report.add("a search arrives where it says, and says so where it arrives", type, laws.wrong_outcome.error,
             0, laws.wrong_outcome.at);
  report.add("a search alone and in a batch gives the same bits", type, laws.apart.error, 0, laws.apart.at);
  report.add("solutions are sorted by nearness", type, laws.unsorted.error, 0, laws.unsorted.at);
  report.add("what can be reached is found, but for this share", type, double(laws.lost) / double(laws.all),
             0.01);
  if (plain)
    report.add("of chains that may have a table, some have one", type, laws.tables > 0 ? 0 : 1, 0);
}

// Scratch arrays of a search in T.
template <class T>
struct Placed {
  std::vector<double> memory;
  RestartScratch<T> scratch;
  explicit Placed(const Problem &problem) {
    ScratchLayout count = ScratchLayout::count();
    lay_out(scratch, count, problem);
    ScratchLayout place = ScratchLayout::place(Tree::allocate(memory, count.bytes()));
    lay_out(scratch, place, problem);
  }
};

// The whole search for plain doubles: arrives where lanes do, at the same joint values if one of the first
// restarts arrives there and each restart is on its own.
void scalar_search(Report &report, bool plain) {
  Random random{plain ? 53u : 54u};
  const char *type = plain ? "double, one frame" : "double, any goals";
  Worst apart;
  long differ = 0, all = 0;
  for (int round = 0; round < rounds; ++round) {
    const Tree tree = random_tree(random, plain, round);
    const Cases cases(random, tree);
    const int n = tree.n;
    Placed<double> many(tree.problem), one(tree.problem);
    Placed<Wide> wide(tree.problem);
    Placed<Narrow> narrow(tree.problem);
    std::vector<double> q(company * n), lane_q(company * n), alone(n);
    std::vector<Found> found(company), lane_found(company);
    int left[company];
    const bool started = round % 4 > 1;
    SearchBatch batch{company, cases.goals.data(), started ? cases.starts.data() : nullptr,
                      {},      lane_q.data(),      lane_found.data()};
    search_many(tree.problem, tree.search, batch, wide.scratch, narrow.scratch, left);
    batch.q = q.data();
    batch.found = found.data();
    search_many(tree.problem, tree.search, batch, many.scratch, one.scratch, left);
    for (int i = 0; i < company; ++i) {
      int solutions = 0;
      search_one(tree.problem, tree.search, cases.request(i, started, 1), one.scratch, alone.data(),
                 solutions);
      bool same = found[i].outcome == lane_found[i].outcome;
      for (int l = 0; l < n; ++l)
        apart.see(same_bits(alone[l], q[i * n + l]) ? 0 : 1, round);
      if (tree.problem.target_count == 1 && lane_found[i].outcome == arrived &&
          lane_found[i].restarts <= SearchConstants::first_batch)
        for (int l = 0; l < n; ++l)
          same = same && std::fabs(q[i * n + l] - lane_q[i * n + l]) < 1e-6;
      ++all;
      differ += !same;
    }
  }
  report.add("a search alone and in a batch gives the same bits", type, apart.error, 0, apart.at);
  report.add("a search of doubles solutions as lanes do, but for this share", type,
             double(differ) / double(all), 0.01);
}

// The whole search in float, finished in double: the laws of a search, and as many goals reached.
template <class T, class Alone>
void float_search(Report &report, bool plain) {
  Random random{plain ? 56u : 57u};
  const std::string type = name_of<T>() + (plain ? ", one frame" : ", any goals");
  Worst apart, limits, wrong_outcome;
  long lost = 0, lost_in_double = 0, all = 0;
  for (int round = 0; round < rounds; ++round) {
    const Tree tree = random_tree(random, plain, round);
    const Cases cases(random, tree);
    const int n = tree.n;
    Placed<T> many(tree.problem);
    Placed<Alone> one(tree.problem);
    Placed<Wide> wide(tree.problem);
    Placed<Narrow> narrow(tree.problem);
    std::vector<double> q(company * n), alone(n);
    std::vector<Found> found(company), double_found(company);
    int left[company];
    const bool started = round % 4 > 1;
    SearchBatch batch{company, cases.goals.data(), started ? cases.starts.data() : nullptr,
                      {},      q.data(),           double_found.data()};
    search_many(tree.problem, tree.search, batch, wide.scratch, narrow.scratch, left);
    batch.found = found.data();
    search_many(tree.problem, tree.search, batch, many.scratch, one.scratch, left);
    for (int i = 0; i < company; ++i) {
      const Request request = cases.request(i, started, 1);
      const double *row = q.data() + i * n, away = tree.away(row, request.goals);
      const bool solved = found[i].outcome == arrived;
      limits.see(tree.outside(row), round);
      if (solved != (away <= 1) && !(std::fabs(away - 1) < 1e-3))
        wrong_outcome.see(larger(away, 1.0), round);
      int solutions = 0;
      search_one(tree.problem, tree.search, request, one.scratch, alone.data(), solutions);
      apart.see(solutions == solved ? 0 : 1, round);
      for (int l = 0; l < n; ++l)
        apart.see(same_bits(alone[l], row[l]) ? 0 : 1, round);
      all += !Cases::out_of_reach(i);
      lost += !Cases::out_of_reach(i) && !solved;
      lost_in_double += !Cases::out_of_reach(i) && double_found[i].outcome != arrived;
    }
  }
  report.add("what a search in float finds is within limits", type, limits.error, 0, limits.at);
  report.add("a search in float arrives where it says, and says so where it arrives", type,
             wrong_outcome.error, 0, wrong_outcome.at);
  report.add("a search in float, alone and in a batch, gives the same bits", type, apart.error, 0, apart.at);
  report.add("a search in float reaches what one in double does, but for this share", type,
             double(lost - lost_in_double) / double(all), 0.002);
}

// The step for one frame against that for any goals, from random joint values; some are at their limits.
template <class T>
void steps_agree(Report &report) {
  constexpr int W = Lane<T>::width;
  Random random{55};
  Worst direction, error, next, outcome;
  for (int round = 0; round < rounds; ++round) {
    const Tree tree = random_tree(random, true, 0);
    const int n = tree.n;
    SearchStepScratch<T> one, any;
    std::vector<double> memory, q(n);
    ScratchLayout count = ScratchLayout::count();
    lay_out(one, count, tree.problem);
    lay_out(any, count, tree.problem);
    ScratchLayout place = ScratchLayout::place(Tree::allocate(memory, count.bytes()));
    lay_out(one, place, tree.problem);
    lay_out(any, place, tree.problem);
    for (int lane = 0; lane < W; ++lane) {
      double goal[12];
      tree.reachable(random, q.data(), goal);
      set_goals(tree.problem, lane, goal, one);
      set_goals(tree.problem, lane, goal, any);
      const bool there = random.below(4) == 0; // else from other joint values
      std::vector<double> from(n);
      double ignored[12];
      tree.reachable(random, from.data(), ignored);
      for (int l = 0; l < n; ++l) {
        const SearchJoint &joint = tree.search.joints[l];
        double x = there ? q[l] : from[l];
        if (!there && joint.period == 0 && random.below(3) == 0)
          x = random.below(2) ? joint.lower : joint.upper;
        put(one.q[l], lane, x);
        put(any.q[l], lane, x);
      }
    }
    const bool exact = round % 2;
    const T damping = splat<T>(SearchConstants::damping);
    const SearchStepResult<T> a = frame_step(tree.problem, tree.search, damping, exact, one);
    const SearchStepResult<T> b = general_step(tree.problem, tree.search, damping, exact, any);
    outcome.see(bits_of(a.arrived) ^ bits_of(b.arrived), round);
    for (int lane = 0; lane < W; ++lane) {
      double size = 1e-12, difference = 0; // of a step: the damping of none is 1e-12
      for (int l = 0; l < n; ++l) {
        size = larger(size, std::fabs(get(any.change[l], lane)));
        difference = larger(difference, std::fabs(get(one.change[l], lane) - get(any.change[l], lane)));
        next.see(get(one.next[l], lane) - get(any.next[l], lane), round);
      }
      const double expected = get(b.squared_error, lane);
      error.see((get(a.squared_error, lane) - expected) / larger(expected, 1e-20), round);
      if (expected > 1e-20)
        direction.see(difference / size, round);
    }
  }
  const std::string type = name_of<T>();
  report.add("the step for one frame has the error of the general step", type, error.error, 1e-12, error.at);
  report.add("the step for one frame has the direction of the general step", type, direction.error, 1e-12,
             direction.at);
  report.add("the step for one frame ends where the general step does", type, next.error, 1e-12, next.at);
  report.add("the step for one frame arrives where the general step does", type, outcome.error, 0,
             outcome.at);
}

} // namespace test

int main() {
  test::Report report;
  test::searches(report, true);
  test::searches(report, false);
  test::scalar_search(report, true);
  test::scalar_search(report, false);
  for (const bool plain : {true, false}) {
    test::float_search<supple::Pack<float, 2 * supple::native_width>, supple::Pack<float, 4>>(report, plain);
    test::float_search<float, float>(report, plain);
  }
  test::steps_agree<supple::Wide>(report);
  test::steps_agree<double>(report);
}
