// What ends a solve from outside: its time limit, and signals such as Ctrl-C.
#pragma once
#include "array.h"
#include "supple/search/types.h"

#include <chrono>

// Runs signal handlers; true if one raised, and then its exception is set. The caller does not hold the
// interpreter lock.
inline bool signal_raised() {
  const nb::gil_scoped_acquire lock;
  return PyErr_CheckSignals() != 0;
}

// raises what a signal handler raised, if it did
inline void raise_signal() {
  if (PyErr_Occurred())
    throw nb::python_error();
}

// The watch of one thread over its solves. Those of one call share `stopped`, which ends them all.
class Watch {
public:
  using Clock = std::chrono::steady_clock;
  // Who looks for signals, and whether the interpreter lock is held when the solve begins; it is then
  // released if the solve takes long.
  enum Role { holds_lock, hears_signals, only_waits };

  Watch(double microseconds, Role given, std::atomic<bool> &shared)
      : limit(std::chrono::duration_cast<Clock::duration>(
            std::chrono::duration<double, std::micro>(microseconds < longest ? microseconds : longest))),
        timed(microseconds > 0), role(given), stopped(shared) {}
  Watch(const Watch &) = delete;
  ~Watch() {
    if (state)
      PyEval_RestoreThread(state);
  }

  // for solves over n joints: steps of many joints take long, so each of them looks
  supple::Deadline deadline(int n) { return {begin, passed, this, timed, n > supple::many_joints ? 0 : 7}; }
  // for local methods, whose iterations are not limited in time
  static bool asked(void *self) { return passed(self); }

private:
  static constexpr double longest = 1e15; // microseconds: 30 years

  static void begin(void *self) {
    Watch &watch = *static_cast<Watch *>(self);
    watch.over = false;
    if (watch.timed)
      watch.end = Clock::now() + watch.limit;
  }

  // Untimed solves read the clock at every eighth call only: most end before.
  static bool passed(void *self) {
    Watch &watch = *static_cast<Watch *>(self);
    if (watch.over)
      return true;
    if (!watch.timed && ++watch.calls % 8)
      return false;
    watch.over = watch.look(Clock::now());
    return watch.over;
  }

  bool look(Clock::time_point now) {
    if (stopped.load(std::memory_order_relaxed) || (timed && now >= end))
      return true;
    if (role == only_waits)
      return false;
    if (last_look == Clock::time_point()) {
      last_look = now;
      return false;
    }
    if (role == holds_lock && !state && now - last_look > std::chrono::microseconds(500))
      state = PyEval_SaveThread();
    if (now - last_look < std::chrono::milliseconds(50))
      return false;
    last_look = now;
    if (signal_raised())
      stopped = true;
    return stopped;
  }

  const Clock::duration limit;
  const bool timed;
  const Role role;
  std::atomic<bool> &stopped;
  bool over = false;
  unsigned calls = 0;
  Clock::time_point end, last_look;
  PyThreadState *state = nullptr; // of this thread, while the lock is released
};
