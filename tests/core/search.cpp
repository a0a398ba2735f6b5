// Laws of the search on random trees: it allocates nothing, keeps limits, and says the same alone and in
// company.
#include "counted.h"

#include "../../bind/kernels/search.cpp"

namespace test {

constexpr int most = 12, room = 3 * most; // joints, joint values
#if defined(SUPPLE_PLAIN_ARRAYS)
constexpr int rounds = 2, company = 7; // that build is not optimised
#else
constexpr int rounds = 60, company = 24; // trees, and goals at once for each
#endif
constexpr double pi = 3.14159265358979323846;

// A random chain, or two that share a trunk, with a goal at the end of each: turns, slides and balls within
// limits.
struct Tree {
  Node nodes[most];
  std::vector<Link> links[2];
  std::vector<Target> targets;
  std::vector<Ball> ball_list;
  std::vector<double> lower, upper, natural, low, high, from, span, spread, middle, period;
  std::vector<int> columns, column_first, slots, parent;
  Problem problem{};
  Search search{};
  Stop stop{0, 0, 1e-6, 1e-6};
  int n = 0;

  Tree(Random &random, int count, int ends, bool plain) {
    const int trunk = ends == 1 ? count : 1 + random.below(count - 1);
    std::vector<int> path[2];
    int value[most];
    for (int i = 0; i < count; ++i) {
      Node &node = nodes[i];
      node = {};
      place(random, node.rotation, node.position);
      node.motion = plain ? turns : random.below(7) == 0 ? balls : random.below(3) ? turns : slides;
      node.index = value[i] = n;
      node.gain = 1;
      const int whose = i < trunk ? -1 : i % ends;
      const std::vector<int> &way = path[whose < 0 ? 0 : whose];
      int last = way.empty() ? -1 : value[way.back()] + (nodes[way.back()].motion == balls ? 2 : 0);
      for (int k = 0; k < ends; ++k)
        if (whose < 0 || whose == k)
          path[k].push_back(i);
      if (node.motion == balls)
        ball_list.push_back(
            {n, {0, 0, 1}, random.between(0.5, 3), random.between(-3, -0.5), random.between(0.5, 3)});
      for (int k = 0; k < (node.motion == balls ? 3 : 1); ++k)
        add(random, node.motion), parent.push_back(last), last = n - 1;
    }
    int asked = 0;
    for (int k = 0; k < ends; ++k) {
      Node on_way[most];
      const int length = int(path[k].size());
      for (int i = 0; i < length; ++i)
        on_way[i] = nodes[path[k][i]];
      links[k].resize(length);
      make_chain(on_way, length, links[k].data());
      Target target{};
      column_first.push_back(int(columns.size()));
      for (const Link &link : links[k])
        for (int b = 0; b < (link.motion == balls ? 3 : 1); ++b, ++target.chain.axes)
          slots.push_back(int(columns.size()) - column_first.back()), columns.push_back(link.index + b);
      target.chain.links = links[k].data(), target.chain.count = length, target.chain.dof = n;
      place(random, target.chain.rotation, target.chain.position);
      wish(random, plain, target);
      target.first = asked, asked += target.rows;
      targets.push_back(target);
    }
    column_first.push_back(int(columns.size()));
    problem = {targets.data(),       ends, asked, n, lower.data(), upper.data(), ball_list.data(),
               int(ball_list.size())};
    double root = 1.5;
    for (int i = 0; i < 60; ++i)
      root = std::pow(1 + root, 1.0 / (n + 1));
    for (int l = 0; l < n; ++l)
      spread.push_back(std::pow(root, -(l + 1)));
    search.natural = search.unit = natural.data();
    search.low = low.data();
    search.high = high.data();
    search.from = from.data();
    search.span = span.data();
    search.spread = spread.data();
    search.middle = middle.data();
    search.period = period.data();
    search.columns = columns.data();
    search.column_first = column_first.data();
    search.slots = slots.data();
    search.parent = parent.data();
    search.frame =
        ends == 1 && ball_list.empty() && targets[0].rows == 6 && targets[0].component[5] == about_z;
    for (int k = 0; k < asked && ends == 1; ++k)
      search.frame = search.frame && targets[0].slack[k] == 0;
    search.starts = 64;
    search.iterations = 20000;
    search.longest = 1;
    search.near = 0.5;
    search.farthest = 1e301;
  }
  Tree(const Tree &) = delete;

  void add(Random &random, int motion) {
    const bool endless = motion == balls || (motion == turns && random.below(4) == 0);
    const double size = motion == slides ? 0.3 : 1, a = random.between(-3, 0) * size,
                 b = random.between(0.1, 3) * size;
    lower.push_back(endless ? -INFINITY : a), upper.push_back(endless ? INFINITY : b);
    low.push_back(endless ? -1e300 : a), high.push_back(endless ? 1e300 : b);
    from.push_back(motion == balls ? -2
                   : endless       ? -pi
                                   : a),
        span.push_back(motion == balls ? 4
                       : endless       ? 2 * pi
                                       : b - a);
    middle.push_back(endless ? 0 : (a + b) / 2), period.push_back(endless && motion == turns ? 2 * pi : 0);
    natural.push_back(size), ++n;
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
  static void wish(Random &random, bool frame_only, Target &target) {
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
      q[l] = from[l] + random.unit() * span[l];
    for (const Ball &ball : ball_list) {
      double *at = q + ball.index;
      const Vec<double> r =
          clamp_ball(Vec<double>{at[0], at[1], at[2]}, Vec<double>{0, 0, 1}, ball.swing, ball.low, ball.high);
      at[0] = r.x, at[1] = r.y, at[2] = r.z;
    }
    for (std::size_t k = 0; k < targets.size(); ++k) {
      const Frame<double> f = tip(targets[k], q);
      const Rot<double> &r = f.r;
      const double numbers[12] = {r.x.x, r.y.x, r.z.x, r.x.y, r.y.y, r.z.y,
                                  r.x.z, r.y.z, r.z.z, f.p.x, f.p.y, f.p.z};
      for (int i = 0; i < 12; ++i)
        goals[12 * k + i] = numbers[i];
      if (targets[k].component[targets[k].rows - 1] >= across_1)
        goals[12 * k] = r.z.x, goals[12 * k + 1] = r.z.y, goals[12 * k + 2] = r.z.z;
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
        lean = larger(angle - target.slack[target.rows - 1], 0.0), lean *= lean;
      worst = larger(worst, larger(std::sqrt(place) / stop.position, std::sqrt(lean) / stop.angle));
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

void searches(Report &report, bool plain) {
  Random random{plain ? 51u : 52u};
  const char *type = plain ? "one frame" : "any goals";
  Worst limits, false_words, apart, unsorted;
  long made = 0, lost = 0, all = 0;
  for (int round = 0; round < rounds; ++round) {
    Tree tree(random, plain ? 6 + random.below(3) : 2 + random.below(most - 2),
              plain ? 1 : 1 + random.below(2), plain);
    const int n = tree.n, size = 12 * int(tree.targets.size());
    std::vector<double> goals(company * size), starts(company * n), q(company * n), one(4 * n), truth(n);
    std::vector<Found> found(company);
    for (int i = 0; i < company; ++i) {
      tree.reachable(random, starts.data() + i * n, goals.data() + i * size); // these goals are not asked
      tree.reachable(random, truth.data(), goals.data() + i * size);
      if (i % 6 == 5)
        for (int k = 9; k < size; k += 12)
          goals[i * size + k] += 3; // out of reach
    }
    std::vector<char> memory(hunt_table.scratch(tree.problem, company) + 64);
    void *scratch = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64;
    for (int started = 0; started < 2; ++started) {
      const double *from = started ? starts.data() : nullptr;
      long before = allocations;
      hunt_table.many({&tree.problem, &tree.search, tree.stop, goals.data(), from, q.data(), found.data()}, 0,
                      company, scratch);
      made += allocations - before;
      for (int i = 0; i < company; ++i) {
        const double *row = q.data() + i * n, *goal = goals.data() + i * size;
        limits.see(tree.outside(row), round);
        const double away = tree.away(row, goal);
        false_words.see((found[i].outcome == arrived) == (away <= 1) || std::fabs(away - 1) < 1e-3
                            ? 0
                            : larger(away, 1.0),
                        round);
        if (i % 6 != 5) {
          ++all;
          lost += found[i].outcome != arrived;
        }
        int count = 0;
        const double *alone = started ? from + i * n : nullptr;
        before = allocations;
        hunt_table.one({&tree.problem, &tree.search, tree.stop, goal, alone, one.data(), nullptr}, 1, count,
                       scratch);
        made += allocations - before;
        apart.see(count == (found[i].outcome == arrived) ? 0 : 1, round);
        for (int l = 0; l < n; ++l)
          apart.see(same_bits(one[l], row[l]) ? 0 : 1, round);
        if (i % 8)
          continue;
        before = allocations;
        hunt_table.one({&tree.problem, &tree.search, tree.stop, goal, alone, one.data(), nullptr}, 4, count,
                       scratch);
        made += allocations - before;
        double last = 0;
        for (int k = 0; k < count; ++k) {
          limits.see(tree.outside(one.data() + k * n), round);
          false_words.see(tree.away(one.data() + k * n, goal) <= 1.001 ? 0 : 1, round);
          double far = 0;
          for (int l = 0; l < n; ++l) {
            const double d = (one[k * n + l] - (started ? alone[l] : tree.middle[l])) / tree.natural[l];
            far += d * d;
          }
          unsorted.see(larger(last - far - 1e-9 * far, 0.0), round);
          last = far;
        }
      }
    }
  }
  report.add("a search allocates nothing", type, double(made), 0);
  report.add("what a search finds is within limits", type, limits.error, 0, limits.at);
  report.add("a search arrives where it says, and says so where it arrives", type, false_words.error, 0,
             false_words.at);
  report.add("a search alone and in company gives the same bits", type, apart.error, 0, apart.at);
  report.add("answers are sorted by nearness", type, unsorted.error, 0, unsorted.at);
  report.add("what can be reached is found, but for this share", type, double(lost) / double(all), 0.01);
}

} // namespace test

int main() {
  test::Report report;
  test::searches(report, true);
  test::searches(report, false);
}
