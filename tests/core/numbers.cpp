// Laws of numbers: what lane.h and pack.h promise of every number type.
#include "check.h"

namespace test {

// sine and cosine

template <class S>
std::vector<S> angles(S limit, bool beyond) {
  Random random{1};
  std::vector<S> xs;
  const S huge = std::numeric_limits<S>::max();
  if (beyond) {
    for (int i = 0; i < 20000; ++i) {
      const double size = std::exp(random.between(std::log(double(limit)), std::log(double(huge)) - 1));
      xs.push_back(S(i % 2 ? size : -size));
    }
    for (S x : {huge, -huge, std::nextafter(limit, huge)})
      xs.push_back(x);
  } else {
    for (int i = 0; i < 150000; ++i)
      xs.push_back(S(random.between(-double(limit), double(limit))));
    for (int i = 0; i < 75000; ++i)
      xs.push_back(S(random.between(-8, 8)));
    for (int i = 0; i < 25000; ++i)
      xs.push_back(S(std::exp(random.between(-40, 0))) * S(i % 2 ? 1 : -1));
    // multiples of an eighth of a turn, and their neighbours
    const int last = int(double(limit) / 0.7853981633974483), step = last > 25000 ? last / 12500 : 1;
    for (int k = -last; k <= last; k += k > -2000 && k < 2000 ? 1 : step) {
      const S x = S(k * 0.785398163397448309616L);
      for (S near : {x, std::nextafter(x, -huge), std::nextafter(x, huge)})
        xs.push_back(near);
    }
    for (S x :
         {S(0), -S(0), std::numeric_limits<S>::denorm_min(), std::numeric_limits<S>::min(), limit, -limit})
      xs.push_back(x);
  }
  while (xs.size() % 16)
    xs.push_back(S(1));
  return xs;
}

// numbers with their sine and cosine, of a longer type
template <class S>
struct Known {
  using Longer = std::conditional_t<sizeof(S) == 4, double, long double>;
  std::vector<S> x;
  std::vector<Longer> s, c;
  explicit Known(std::vector<S> xs) : x(std::move(xs)) {
    for (S v : x)
      s.push_back(std::sin(Longer(v))), c.push_back(std::cos(Longer(v)));
  }
};

template <class T>
void sincos_is_near(Report &report, const char *law, const Known<Scalar<T>> &known, double allowed) {
  Worst worst;
  constexpr int W = Lane<T>::width;
  for (std::size_t i = 0; i < known.x.size(); i += W) {
    T s, c;
    sincos(fill<T>(&known.x[i]), s, c);
    for (int k = 0; k < W; ++k) {
      worst.see(get(s, k) - known.s[i + k], known.x[i + k]);
      worst.see(get(c, k) - known.c[i + k], known.x[i + k]);
    }
  }
  report.add(law, name_of<T>(), worst.error - doubt, allowed, worst.at);
}

template <class T>
void sincos_of_no_number_is_none(Report &report) {
  using S = Scalar<T>;
  const S inf = std::numeric_limits<S>::infinity(), nan = std::numeric_limits<S>::quiet_NaN();
  int bad = 0;
  for (S x : {inf, -inf, nan})
    for (int k = 0; k < Lane<T>::width; ++k) {
      T v = spread<T>(0.5), s, c;
      put(v, k, x);
      sincos(v, s, c);
      for (int i = 0; i < Lane<T>::width; ++i) {
        const bool none = get(s, i) != get(s, i) && get(c, i) != get(c, i);
        bad += none != (i == k);
      }
    }
  report.add("sine and cosine of what is no number are none, in that lane alone", name_of<T>(), bad, 0);
}

template <class T>
void sincos_of_tiny_numbers(Report &report) {
  using S = Scalar<T>;
  int bad = 0;
  for (S x = std::numeric_limits<S>::denorm_min(); x < epsilon<T>; x *= 16) {
    T s, c;
    sincos(T(x), s, c);
    for (int i = 0; i < Lane<T>::width; ++i)
      bad += get(s, i) != x || get(c, i) != 1;
  }
  report.add("a tiny number is its own sine", name_of<T>(), bad, 0);
}

template <class T>
void sincos_run_is_sincos(Report &report) {
  Random random{4};
  T x[16], s[16], c[16];
  for (T &v : x)
    for (int i = 0; i < Lane<T>::width; ++i)
      put(v, i, Scalar<T>(random.between(-4, 4)));
  sincos_run(16, s, c, [&](int i) { return x[i]; });
  Worst worst;
  for (int k = 0; k < 16; ++k) {
    T sk, ck;
    sincos(x[k], sk, ck);
    for (int i = 0; i < Lane<T>::width; ++i)
      worst.see(get(s[k], i) - get(sk, i)), worst.see(get(c[k], i) - get(ck, i));
  }
  report.add("many sines at once are the same as one by one", name_of<T>(), worst.error, epsilon<T>);
}

// angle of a point

template <class S>
void points(std::vector<S> &x, std::vector<S> &y) {
  Random random{2};
  auto add = [&](double a, double b) {
    x.push_back(S(a));
    y.push_back(S(b));
  };
  const double far = sizeof(S) == 8 ? 300 : 37;
  for (int i = 0; i < 100000; ++i)
    add(random.between(-1, 1), random.between(-1, 1));
  for (int i = 0; i < 50000; ++i) { // of any size, close to an axis, close to a diagonal
    const double size = std::pow(10, random.between(-far, far)),
                 ratio = std::pow(10, random.between(-20, 20));
    const double sx = i & 1 ? 1 : -1, sy = i & 2 ? 1 : -1, near = 1 + random.between(-1e-3, 1e-3);
    add(sx * size, sy * size * (i & 4 ? near : std::fmin(ratio, std::pow(10, far) / size)));
  }
  for (int i = 0; i < 25000; ++i) { // around the joint of the two pieces of the polynomial
    const double t = 0.66 + random.between(-1e-6, 1e-6);
    add(i & 1 ? 1 : -1, i & 2 ? t : -t), add(i & 2 ? t : -t, i & 1 ? 1 : -1);
  }
  const double tiny = std::numeric_limits<S>::denorm_min(), huge = std::numeric_limits<S>::max();
  for (double a : {0.0, 1.0, -1.0, tiny, -tiny, huge, -huge})
    for (double b : {0.0, 1.0, -1.0, tiny, -tiny, huge, -huge})
      add(a, b);
  while (x.size() % 16)
    add(1, 1);
}

template <class T>
void atan2_is_near(Report &report, const std::vector<Scalar<T>> &xs, const std::vector<Scalar<T>> &ys,
                   double allowed) {
  Worst worst;
  constexpr int W = Lane<T>::width;
  for (std::size_t i = 0; i < xs.size(); i += W) {
    const T angle = supple::atan2(fill<T>(&ys[i]), fill<T>(&xs[i]));
    for (int k = 0; k < W; ++k) {
      using Longer = typename Known<Scalar<T>>::Longer;
      const Longer y = Longer(ys[i + k]) + 0, x = Longer(xs[i + k]) + 0; // a zero has no sign here
      worst.see(get(angle, k) - std::atan2(y, x), double(y / x));
    }
  }
  report.add("angle of the point", name_of<T>(), worst.error - 2 * doubt, allowed, worst.at);
}

template <class T>
void atan2_of_no_number_is_none(Report &report) {
  using S = Scalar<T>;
  const S nan = std::numeric_limits<S>::quiet_NaN();
  int bad = 0;
  for (S other : {S(0), S(1), S(-2), nan}) {
    const T a = supple::atan2(T(nan), T(other)), b = supple::atan2(T(other), T(nan));
    for (int k = 0; k < Lane<T>::width; ++k)
      bad += get(a, k) == get(a, k), bad += get(b, k) == get(b, k);
  }
  report.add("the angle of what is no number is none", name_of<T>(), bad, 0);
}

// lanes

template <class T>
void lanes_are_scalars(Report &report) {
  using S = Scalar<T>;
  constexpr int W = Lane<T>::width;
  Random random{3};
  int bad = 0;
  for (int round = 0; round < 2000; ++round) {
    T a, b, c;
    for (int i = 0; i < W; ++i) { // few values, so that many are equal
      put(a, i, S(random.below(7) - 3));
      put(b, i, S(random.below(7) - 3));
      put(c, i, S(random.unit()));
    }
    const Mask<T> less = a<b, more = a> b, same = a == b;
    bool some = false, every = true;
    for (int i = 0; i < W; ++i) {
      const S x = get(a, i), y = get(b, i), z = get(c, i);
      auto is = [&](T lanes, S wanted) { bad += !same_bits(get(lanes, i), wanted); };
      is(select(less, a, c), x < y ? x : z);
      is(select(more, a, c), x > y ? x : z);
      is(select(same, a, c), x == y ? x : z);
      is(select(a <= b, a, c), x <= y ? x : z);
      is(select(a >= b, a, c), x >= y ? x : z);
      is(select(less | more, a, c), x != y ? x : z);
      is(select((a <= b) & (a >= b), a, c), x == y ? x : z);
      is(select(!less, a, c), !(x < y) ? x : z);
      is(larger(a, b), x > y ? x : y);
      is(lesser(a, b), x < y ? x : y);
      is(clip(a, spread<T>(-1), spread<T>(1)), x < -1 ? S(-1) : x > 1 ? S(1) : x);
      is(a + c, x + z), is(a - c, x - z), is(a * c, x * z), is(a / (c + spread<T>(1)), x / (z + 1)),
          is(-c, -z);
      is(root(c), std::sqrt(z));
      bad += get(magnitude(a), i) != std::fabs(x);
      some = some || x < y, every = every && x < y;
    }
    bad += any(less) != some;
    bad += all(less) != every;
  }
  report.add("every lane is a scalar", name_of<T>(), bad, 0);
}

template <class T>
void transpose_swaps_lanes(Report &report) {
  using S = Scalar<T>;
  constexpr int W = Lane<T>::width;
  T tile[W];
  for (int i = 0; i < W; ++i)
    for (int k = 0; k < W; ++k)
      put(tile[i], k, S(100 * i + k));
  transpose(tile);
  int bad = 0;
  for (int i = 0; i < W; ++i)
    for (int k = 0; k < W; ++k)
      bad += get(tile[i], k) != S(100 * k + i);
  report.add("transposing swaps lanes and rows", name_of<T>(), bad, 0);
}

template <class T>
void all_laws(Report &report, const Known<Scalar<T>> &near, const Known<Scalar<T>> &beyond,
              const std::vector<Scalar<T>> &x, const std::vector<Scalar<T>> &y) {
  const bool wide = sizeof(Scalar<T>) == 8;
  const double bound = wide ? 2.3e-16 : 9.5e-8;
  const long before = allocations;
  sincos_is_near<T>(report, "sine and cosine", near, bound);
  sincos_is_near<T>(report, "sine and cosine far away", beyond, bound);
  atan2_is_near<T>(report, x, y, wide ? 5e-16 : 3e-7);
  sincos_of_no_number_is_none<T>(report);
  sincos_of_tiny_numbers<T>(report);
  sincos_run_is_sincos<T>(report);
  atan2_of_no_number_is_none<T>(report);
  lanes_are_scalars<T>(report);
  if constexpr (Lane<T>::width > 1)
    transpose_swaps_lanes<T>(report);
  report.add("nothing is allocated", name_of<T>(), double(allocations - before), 0);
}

template <class S>
void scalar_laws(Report &report) {
  const Known<S> near(angles(Trig<S>::limit, false)), beyond(angles(Trig<S>::limit, true));
  std::vector<S> x, y;
  points(x, y);
  all_laws<Pack<S, native_width * 8 / sizeof(S)>>(report, near, beyond, x, y);
  if constexpr (scalars_too)
    all_laws<S>(report, near, beyond, x, y);
  if constexpr (every_width) {
    all_laws<Pack<S, 32 / sizeof(S)>>(report, near, beyond, x, y);
    all_laws<Pack<S, 64 / sizeof(S)>>(report, near, beyond, x, y);
  }
}

} // namespace test

int main() {
  test::Report report;
  test::scalar_laws<double>(report);
  test::scalar_laws<float>(report);
}
