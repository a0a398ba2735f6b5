// Laws of rotations, frames and small matrices: what rigid.h and small.h promise, measured against long
// double.
#include "check.h"
#include "supple/math/dense.h"
#include "supple/math/se3.h"

namespace test {

using Real = long double;
constexpr Real pi = 3.14159265358979323846L;

// the reference: plain numbers, one at a time

struct Three {
  Real x, y, z;
  Three operator+(Three o) const { return {x + o.x, y + o.y, z + o.z}; }
  Three operator*(Real s) const { return {s * x, s * y, s * z}; }
  Three cross(Three o) const { return {y * o.z - z * o.y, z * o.x - x * o.z, x * o.y - y * o.x}; }
  Real dot(Three o) const { return x * o.x + y * o.y + z * o.z; }
  Real length() const { return std::sqrt(dot(*this)); }
};

// what a twist does to a vector in one unit of time, by the closed forms of Rodrigues; series where angles
// vanish
struct Turn {
  Three w;
  Real a, s, b, d; // angle, sin(a)/a, (1 - cos(a))/a^2, (a - sin(a))/a^3
  explicit Turn(Three v) : w(v), a(v.length()) {
    const Real q = a * a;
    s = a < 0.1L ? 1 - q / 6 * (1 - q / 20 * (1 - q / 42 * (1 - q / 72))) : std::sin(a) / a;
    b = a < 0.1L ? 0.5L - q / 24 * (1 - q / 30 * (1 - q / 56 * (1 - q / 90)))
                 : 2 * std::sin(a / 2) * std::sin(a / 2) / q;
    d = a < 0.1L ? 1 / 6.0L - q / 120 * (1 - q / 42 * (1 - q / 72 * (1 - q / 110))) : (1 - s) / q;
  }
  Three turned(Three p) const { return p + w.cross(p) * s + w.cross(w.cross(p)) * b; }
  Three moved(Three p) const { return p + w.cross(p) * b + w.cross(w.cross(p)) * d; }
};

// many of them

// rotation vectors of every size: any, tiny, and close to half a turn
template <class S>
std::vector<Vec<S>> vectors(Real longest) {
  Random random{11};
  std::vector<Vec<S>> out;
  for (int i = 0; i < 24000; ++i) {
    Three v{random.between(-1, 1), random.between(-1, 1), random.between(-1, 1)};
    if (i % 7 == 0)
      v = {i % 3 == 0 ? v.x : 0, i % 3 == 1 ? v.y : 0, i % 3 == 2 ? v.z : 0};
    const Real length = v.length(), tiny = std::pow(10.0L, (Real)random.between(-30, 0));
    const Real size = i % 4 == 0 ? tiny : i % 4 == 1 ? longest - tiny / 10 : random.unit() * longest;
    if (length == 0)
      continue;
    v = v * (size / length);
    out.push_back({S(v.x), S(v.y), S(v.z)});
  }
  out.push_back({S(0), S(0), S(0)});
  while (out.size() % 16)
    out.push_back({S(1), S(0), S(0)});
  return out;
}

template <class T>
Vec<T> gather(const Vec<Scalar<T>> *v) {
  Vec<T> r;
  for (int i = 0; i < Lane<T>::width; ++i)
    put(r.x, i, v[i].x), put(r.y, i, v[i].y), put(r.z, i, v[i].z);
  return r;
}
template <class T>
Three lane(const Vec<T> &v, int i) {
  return {get(v.x, i), get(v.y, i), get(v.z, i)};
}
Real distance(Three a, Three b) { return (a + b * -1).length(); }

template <class T>
void rotations(Report &report) {
  using S = Scalar<T>;
  constexpr int W = Lane<T>::width;
  const double unit = epsilon<T>;
  const std::vector<Vec<S>> vs = vectors<S>(pi), ps = vectors<S>(1);
  Worst exps, logs, small, signs, lengths, again, frames, twists, back, products;
  const long before = allocations;
  for (std::size_t n = 0; n < vs.size(); n += W) {
    const Vec<T> v = gather<T>(&vs[n]), p = gather<T>(&ps[(n * 5) % (ps.size() - 16)]);
    const Rot<T> r = exp_rotation(v);
    const Vec<T> l = log_rotation(r);
    const Quat<T> q = quaternion(r), product = q * conjugate(q);
    const Rot<T> same = rotation(q), inverse = transpose(r) * r;
    const Frame<T> f = exp_frame(p, v);
    Vec<T> linear, angular;
    log_frame(f, linear, angular);
    const Frame<T> there = exp_frame(linear, angular);
    for (int i = 0; i < W; ++i) {
      const Three given = lane(v, i), point = lane(p, i);
      const Turn turn(given);
      exps.see(distance(lane(r.x, i), turn.turned({1, 0, 0})), turn.a);
      exps.see(distance(lane(r.y, i), turn.turned({0, 1, 0})), turn.a);
      exps.see(distance(lane(r.z, i), turn.turned({0, 0, 1})), turn.a);
      // at half a turn the axis may point either way
      const Three got = lane(l, i);
      const Real off = distance(got, given),
                 other = turn.a > 3 ? distance(got, given * (1 - 2 * pi / turn.a)) : off;
      logs.see(std::fmin(off, other), turn.a);
      if (turn.a > 0 && turn.a < 1e-3L)
        small.see(off / turn.a, turn.a);
      if (turn.a == 0)
        small.see(got.length());
      signs.see(get(q.w, i) < 0);
      lengths.see(std::fmax(0, got.length() - pi), turn.a);
      const Real size = Real(get(q.w, i)) * get(q.w, i) + Real(get(q.x, i)) * get(q.x, i) +
                        Real(get(q.y, i)) * get(q.y, i) + Real(get(q.z, i)) * get(q.z, i);
      products.see(size - 1), products.see(get(product.w, i) - 1), products.see(get(product.x, i));
      again.see(distance(lane(same.x, i), lane(r.x, i)), turn.a),
          again.see(distance(lane(same.y, i), lane(r.y, i)), turn.a);
      again.see(distance(lane(inverse.x, i), {1, 0, 0})), again.see(distance(lane(inverse.z, i), {0, 0, 1}));
      frames.see(distance(lane(f.p, i), turn.moved(point)), turn.a);
      // the twist is known as well as its rotation vector is: its way must lead to the same place
      twists.see(distance(lane(there.p, i), lane(f.p, i)), turn.a);
      if (turn.a < 3)
        back.see(distance(lane(linear, i), point), turn.a);
    }
  }
  const long made = allocations - before;
  const std::string type = name_of<T>();
  report.add("exponential of a rotation", type, exps.error, 8 * unit, exps.at);
  report.add("logarithm of a rotation", type, logs.error, 8 * unit, logs.at);
  report.add("logarithm of a small rotation, relative", type, small.error, 4 * unit, small.at);
  report.add("logarithms are at most half a turn long", type, lengths.error, 4 * pi * unit, lengths.at);
  report.add("quaternions have w not negative", type, signs.error, 0);
  report.add("quaternions have unit length", type, products.error, 4 * unit);
  report.add("quaternion to rotation and back", type, again.error, 16 * unit, again.at);
  report.add("exponential of a twist", type, frames.error, 8 * unit, frames.at);
  report.add("the logarithm of a frame leads there", type, twists.error, 12 * unit, twists.at);
  report.add("logarithm of a frame", type, back.error, 12 * unit, back.at);
  report.add("rotations allocate nothing", type, double(made), 0);
}

// the 24 turns that take axes to axes, where quaternions are read in each of their four ways, with ties
template <class T>
void right_angles(Report &report) {
  const double s[2] = {1, -1};
  Worst worst;
  for (int code = 0; code < 48; ++code) {
    const int first = code % 3, second = (first + 1 + code / 3 % 2) % 3;
    double x[3] = {0, 0, 0}, y[3] = {0, 0, 0};
    x[first] = s[code / 6 % 2];
    y[second] = s[code / 12 % 2];
    const double z[3] = {x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]};
    auto vec = [](const double *v) { return Vec<T>{spread<T>(v[0]), spread<T>(v[1]), spread<T>(v[2])}; };
    const Rot<T> r{vec(x), vec(y), vec(z)}, same = rotation(quaternion(r)),
                                            turned = exp_rotation(log_rotation(r));
    for (int i = 0; i < Lane<T>::width; ++i) {
      worst.see(distance(lane(same.x, i), lane(r.x, i)));
      worst.see(distance(lane(same.y, i), lane(r.y, i)));
      worst.see(distance(lane(turned.x, i), lane(r.x, i))),
          worst.see(distance(lane(turned.y, i), lane(r.y, i)));
    }
  }
  report.add("right angles", name_of<T>(), worst.error, 6 * epsilon<T>);
}

// ball joints

// how far the axis leans, and the twist about it that comes first
void swing_and_twist(Three v, Three axis, Real &swing, Real &twist) {
  const Turn turn(v);
  const Three leant = turn.turned(axis);
  swing = std::atan2(axis.cross(leant).length(), axis.dot(leant));
  const Real along = turn.a ? std::sin(turn.a / 2) / turn.a * v.dot(axis) : 0;
  twist = 2 * std::atan2(along, std::cos(turn.a / 2));
  twist -= 2 * pi * std::round(twist / (2 * pi));
}

template <class T>
void balls_are_held(Report &report) {
  using S = Scalar<T>;
  constexpr int W = Lane<T>::width;
  const double unit = epsilon<T>;
  const std::vector<Vec<S>> vs = vectors<S>(2 * pi);
  Random random{5};
  Worst outside, moved, kept, again;
  const long before = allocations;
  for (std::size_t n = 0; n < vs.size(); n += W) {
    Three axis{random.between(-1, 1), random.between(-1, 1), random.between(-1, 1)};
    axis = axis * (1 / axis.length());
    const S swing = S(random.between(0.01, 3.1)), low = S(random.between(-3, 0)),
            high = S(random.between(0, 3));
    const Vec<T> about{spread<T>(axis.x), spread<T>(axis.y), spread<T>(axis.z)}, v = gather<T>(&vs[n]);
    const Vec<T> held = clamp_ball(v, about, T(swing), T(low), T(high));
    const Vec<T> twice = clamp_ball(held, about, T(swing), T(low), T(high));
    for (int i = 0; i < W; ++i) {
      Real lean, twist, now, turn;
      swing_and_twist(lane(v, i), axis, lean, twist);
      swing_and_twist(lane(held, i), axis, now, turn);
      // where the axis points straight down its twist means nothing; near there it means little
      const Real sure = std::cos(std::fmin(now, pi) / 2), was_sure = std::cos(std::fmin(lean, pi) / 2);
      outside.see(std::fmax(0, now - swing) * sure, lean);
      outside.see(std::fmax(0, std::fmax(low - turn, turn - high)) * sure * sure, lean);
      const bool inside = lean < swing && twist > low && twist < high;
      const Real margin = std::fmin(swing - lean, std::fmin(twist - low, high - twist));
      if (inside && margin * was_sure * was_sure > 20 * unit)
        kept.see(distance(lane(held, i), lane(v, i)), lean);
      if (!inside && was_sure > 0.1L)
        moved.see(now - std::fmin(lean, (Real)swing), lean);
      const Turn once(lane(held, i)), more(lane(twice, i));
      for (Three e : {Three{1, 0, 0}, Three{0, 1, 0}})
        again.see(distance(once.turned(e), more.turned(e)) * sure, lean);
    }
  }
  const long made = allocations - before;
  const std::string type = name_of<T>();
  report.add("a held ball is inside its cone and range", type, outside.error, 20 * unit, outside.at);
  report.add("a ball inside already stays as it is", type, kept.error, 0, kept.at);
  report.add("a held ball leans as it did, or as far as it may", type, moved.error, 20 * unit, moved.at);
  report.add("holding a held ball changes nothing", type, again.error, 20 * unit, again.at);
  report.add("holding a ball allocates nothing", type, double(made), 0);
}

// small matrices

template <class T>
void matrices(Report &report) {
  using S = Scalar<T>;
  constexpr int W = Lane<T>::width;
  const double unit = epsilon<T>;
  Random random{7};
  Worst residual, exact, determinants, pivots, finite, zeros;
  const long before = allocations;
  for (int round = 0; round < 4000; ++round) {
    const int n = 1 + round % 8;
    T a[64], f[64], b[8], x[8];
    for (int i = 0; i < W; ++i) { // positive definite: B B' and a little more
      double m[64];
      for (int k = 0; k < n * n; ++k)
        m[k] = random.between(-1, 1);
      for (int r = 0; r < n; ++r)
        for (int c = 0; c < n; ++c) {
          double sum = r == c ? 1e-2 : 0;
          for (int k = 0; k < n; ++k)
            sum += m[r * n + k] * m[c * n + k];
          put(a[r * n + c], i, S(sum));
        }
      for (int k = 0; k < n; ++k)
        put(b[k], i, S(random.between(-1, 1)));
    }
    for (int k = 0; k < n * n; ++k)
      f[k] = a[k];
    for (int k = 0; k < n; ++k)
      x[k] = b[k];
    const T smallest = factor(f, n);
    solve(f, n, x);
    for (int i = 0; i < W; ++i) {
      pivots.see(!(get(smallest, i) > 0));
      for (int r = 0; r < n; ++r) {
        Real sum = -Real(get(b[r], i)), size = 0;
        for (int c = 0; c < n; ++c) {
          const Real term = Real(get(a[r * n + c], i)) * get(x[c], i);
          sum += term, size += std::fabs(term);
        }
        residual.see(sum / (size + 1) / n);
      }
    }
    // whole numbers, some pivots zero: everything is exact
    int l[8][8] = {}, d[8] = {};
    for (int r = 0; r < n; ++r) {
      d[r] = random.below(3);
      for (int c = 0; c < r; ++c)
        l[r][c] = random.below(5) - 2;
      l[r][r] = 1;
    }
    int product = 1, least = d[0];
    for (int r = 0; r < n; ++r) {
      product *= d[r];
      least = d[r] < least ? d[r] : least;
      for (int c = 0; c < n; ++c) {
        int sum = 0;
        for (int k = 0; k < n; ++k)
          sum += l[r][k] * d[k] * l[c][k];
        f[r * n + c] = a[r * n + c] = spread<T>(sum);
      }
    }
    const T low = factor(f, n), det = determinant(f, n);
    int wanted[8];
    for (int r = 0; r < n; ++r)
      wanted[r] = random.below(7) - 3;
    for (int r = 0; r < n; ++r) {
      T sum = spread<T>(0);
      for (int c = 0; c < n; ++c)
        sum = sum + a[r * n + c] * spread<T>(wanted[c]);
      x[r] = sum;
      b[r] = sum;
    }
    solve(f, n, x);
    for (int i = 0; i < W; ++i) {
      determinants.see(get(det, i) - product);
      pivots.see(get(low, i) - least);
      for (int r = 0; r < n; ++r) {
        exact.see(get(f[r * n + r], i) - d[r]);
        for (int c = 0; c < r; ++c)
          exact.see(get(f[r * n + c], i) - (d[c] ? l[r][c] : 0));
        Real sum = -Real(get(b[r], i)), size = 1;
        for (int c = 0; c < n; ++c)
          sum += Real(get(a[r * n + c], i)) * get(x[c], i),
              size += std::fabs(Real(get(a[r * n + c], i)) * get(x[c], i));
        residual.see(sum / size / n);
      }
    }
    for (int r = 0; r < n; ++r)
      x[r] = spread<T>(wanted[r]);
    solve(f, n, x);
    for (int r = 0; r < n; ++r)
      for (int i = 0; i < W; ++i)
        zeros.see(d[r] ? 0 : get(x[r], i));
    // no square of anything: still finite, and it says so
    for (int k = 0; k < n * n; ++k)
      f[k] = spread<T>(k % (n + 1) ? 0.5 : -1.0);
    for (int k = 0; k < n; ++k)
      x[k] = spread<T>(1);
    const T negative = factor(f, n);
    solve(f, n, x);
    for (int i = 0; i < W; ++i) {
      pivots.see(!(get(negative, i) < 0));
      for (int k = 0; k < n; ++k)
        finite.see(get(x[k], i) - get(x[k], i));
    }
  }
  const long made = allocations - before;
  const std::string type = name_of<T>();
  report.add("what is solved solves", type, residual.error, 4 * unit);
  report.add("factors of whole numbers are exact, zero pivots too", type, exact.error, 0);
  report.add("where a pivot is zero so is the answer", type, zeros.error, 0);
  report.add("the smallest pivot tells", type, pivots.error, 0);
  report.add("the determinant is the product of pivots", type, determinants.error, 0);
  report.add("a matrix that is no square gives finite numbers", type, finite.error, 0);
  report.add("solving allocates nothing", type, double(made), 0);
}

template <class T>
void all_laws(Report &report) {
  rotations<T>(report);
  right_angles<T>(report);
  balls_are_held<T>(report);
  matrices<T>(report);
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
}
