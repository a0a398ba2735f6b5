// Frames of links in time: rotations and positions filtered, and points of feet that touch the ground.
#pragma once
#include "supple/motion/bridge.h"
#include "supple/motion/filter.h"

namespace supple {
inline namespace SUPPLE_ISA {

// A quaternion of a rotation with the sign that makes it near another.
SUPPLE_FN Quat<double> near_quaternion(const Rot<double> &r, const double *before) {
  const Quat<double> q = quaternion(r);
  const bool same = !before || q.w * before[0] + q.x * before[1] + q.y * before[2] + q.z * before[3] >= 0;
  return same ? q : Quat<double>{-q.w, -q.x, -q.y, -q.z};
}

// The rotation of four numbers, which need not be a unit quaternion.
SUPPLE_FN Rot<double> mean_rotation(const double *q) {
  const double scale = 1 / root(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  return rotation(Quat<double>{scale * q[0], scale * q[1], scale * q[2], scale * q[3]});
}

// The speed of a point (count x 3) in a frame, in metres a frame: by the frames before and after.
SUPPLE_FN double point_speed(const double *points, long long count, long long i) {
  const long long before = i > 0 ? i - 1 : 0, after = i + 1 < count ? i + 1 : count - 1;
  const Vec<double> way = load3(points + 3 * after) - load3(points + 3 * before);
  return root(dot(way, way)) / double(after - before);
}

struct ContactRule {
  double height, speed; // a point that is lower and slower touches the ground; m, and m a frame
  long long short_gap;  // frames: contacts that are lost for no longer go on, if the point stays low
};

// Whether a point (count x 3) touches the ground in each frame.
SUPPLE_FN void find_contacts(const double *points, long long count, const ContactRule &rule, bool *low,
                             bool *touches) {
  for (long long i = 0; i < count; ++i) {
    low[i] = points[3 * i + 2] < rule.height;
    touches[i] = low[i] && (count < 2 || point_speed(points, count, i) < rule.speed);
  }
  for (long long begin = 0; begin < count;) {
    const FrameRun on = next_run(touches, count, begin);
    const FrameRun next = next_run(touches, count, on.end);
    const bool between = on.end > on.begin && next.end > next.begin;
    bool stays_low = between && next.begin - on.end <= rule.short_gap;
    for (long long i = on.end; stays_low && i < next.begin; ++i)
      stays_low = low[i];
    for (long long i = on.end; stays_low && i < next.begin; ++i)
      touches[i] = true;
    begin = between ? next.begin : count;
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
