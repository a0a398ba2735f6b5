// A tracker: the memories of many arms, moved one tick at a time.
#pragma once
#include "dispatch.h"
#include "kernels/tracking.h"
#include "problem.h"
#include "supple/tracking/idle.h"
#include "supple/tracking/setup.h"
#include "threads.h"

#include <atomic>

// A tracker changes with every call, so that calls take turns. Python that runs while arguments are converted
// may call the tracker again: a turn begins when all are converted.
class Turn {
public:
  explicit Turn(std::atomic<bool> &tracker_is_busy) : busy(tracker_is_busy) {
    if (!busy.exchange(true, std::memory_order_acquire))
      return;
    PyErr_SetString(PyExc_RuntimeError, "this tracker is in use by another thread; give each thread its own");
    throw nb::python_error();
  }
  Turn(const Turn &) = delete;
  ~Turn() { busy.store(false, std::memory_order_release); }

private:
  std::atomic<bool> &busy;
};

struct Tracker {
  std::atomic<bool> busy{false};
  EncodedProblem encoded;
  std::vector<JointBounds> bounds;
  std::vector<double> unit, bound_rows;
  std::vector<CommandOptions> options;
  std::vector<EffectorBound> effector_bounds;
  Tracking tracking;
  Stop tolerance;
  npy_intp arms;
  bool many;
  const TrackingKernels &kernels = *instruction_set().tracking; // those that the scratch is for
  Scratch memory, scratch;
  std::vector<double> full; // arms x dof: q of the joints that no goal needs
  std::vector<IdleJoint> idle_joints;
  std::vector<IdleMotion> idle_motions; // arms x idle joints
  std::vector<double> results; // arms x result_size: over the joints that goals need, before `spread`
  std::vector<double> measured, preferred;
  std::vector<int> row_level, level_rank;
  std::vector<double> reach;
  std::vector<Target> status_targets;

  // ---- set-up and limits: tracker_setup.cpp

  // joint_bounds: (speed, acceleration, jerk, unit), each (dof), then the rate at which accelerations end;
  // tolerances: (position, angle); levels: (level of each row, rank of each level, levels of the first
  // goals); slacks: of each target's rows, for the status; reaches: of each target; start: (dof) or (arms,
  // dof); smooth: delay of the low-pass of commands in s, or 0; predict: prediction of stamped commands in s
  Tracker(nb::object tree, nb::handle targets, nb::handle low, nb::handle high, nb::handle balls,
          nb::handle joint_bounds, int rank, double weight_scale, nb::handle tolerances, int recovery,
          nb::handle levels, nb::handle slacks, nb::handle reaches, nb::handle start, double smooth,
          double predict);
  Tracker(const Tracker &) = delete;

  // New limits: lower, upper, speed (dof); swing, low and high of each ball joint, in the order of the
  // constructor; speed and turn speed of each end effector (targets, 2), infinite where there is no bound.
  void limit(nb::handle lower, nb::handle upper, nb::handle speed, nb::handle balls, nb::handle effectors);
  // new weights of a target's rows
  void weigh(int target, const std::vector<double> &weights);
  // the step (dof) that the null space is to take from now on, of a single arm
  void prefer(nb::handle step);
  // begins anew at start, at rest
  void reset(nb::handle start);

  // ---- ticks: tracker_ticks.cpp

  // What one tick of all arms is given; null pointers are not.
  struct Given {
    const double *goals = nullptr;  // arms x targets x 12
    const double *frames = nullptr; // or instead, of a single target, arms x 16
    const double *twists = nullptr; // or instead, arms x targets x 6
    const double *stamps = nullptr; // one an arm
    const ExternalStep *external = nullptr;
  };
  // one tick; measured is (arms, dof) or None
  nb::object run(const Given &given, nb::handle measured, double dt);
  // the ticks of a recorded command, of a single arm: goals (ticks, targets, 12), stamps (ticks) or None
  nb::object replay(nb::handle goals, double dt, nb::handle stamps);
  // where the joints are
  nb::object values();

private:
  void set_bounds(const Fields &given, nb::handle low, nb::handle high);
  void set_idle_joints(const Fields &given, nb::handle low, nb::handle high);
  void set_levels(const Fields &levels);
  void set_targets(const Fields &slacks, nb::handle reaches, double weight_scale, double smooth,
                   double predict);
  std::vector<char> is_ball() const;
  void begin(const Rows &from);
  double *row(npy_intp i) { return static_cast<double *>(memory.data) + i * kernels.memory(tracking); }
  npy_intp result_width() const { return result_size(encoded.dof, encoded.problem.target_count); }
  void bring_in(long long arm, double dt, double *velocity);
  void spread(long long begin, long long end, double dt, bool keep_limits, double *out);
  TickJob job(const Given &given, const double *real, double dt, double *out);
  void tick(const Given &given, const double *real, double dt, double *out);
};
