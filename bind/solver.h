// A local solver in the binding: linkage, goals and method compiled together, and the Python functions it
// calls.
#pragma once
#include "dispatch.h"
#include "problem.h"
#include "supple/local/damping.h"

#include <exception>

struct LocalSolver {
  EncodedProblem encoded;
  std::vector<std::vector<double>> rows;             // one number for each of the joints that some goal needs
  std::vector<std::vector<ChainJoint>> chain_joints; // of chains of schemes and preferences
  std::vector<Preference> preferences;
  std::vector<DampingScheme> dampers;
  Method method;
  Stop stop;

  LocalSolver(nb::object tree, nb::handle targets, nb::handle low, nb::handle high, nb::handle balls,
              nb::handle given_method, nb::handle given_preferences, nb::handle given_stop,
              nb::object schemes);
  LocalSolver(const LocalSolver &) = delete;

private:
  Chain chain_of(Tree &tree, nb::handle link, const std::string &refusal);
  const double *row_of(nb::handle full, const char *what);
  void read_preferences(nb::handle given);
  void read_schemes(nb::handle given);
};

// Python functions of a preference and of a damping scheme, called from within the loop with full rows of q.
struct Callbacks {
  const EncodedProblem &encoded;
  nb::object preference, damping;
  std::vector<double> full; // the values that no goal needs stay as they were at the start
  std::exception_ptr error = nullptr;

  Callbacks(const EncodedProblem &p, nb::object preference_, nb::object damp, const double *q)
      : encoded(p), preference(preference_), damping(damp), full(q, q + p.dof) {}
  // has a method ask these functions
  void join(Method &method) {
    if (!preference.is_none())
      method.preference_callback = call_preference, method.preference_data = this;
    if (!damping.is_none())
      method.damping_callback = call_damping, method.damping_data = this;
  }
  void raise() const {
    if (error)
      std::rethrow_exception(error);
  }
  static void call_preference(void *self, const double *q, double *v);
  static void call_damping(void *self, int which, const double *q, const double *e, const double *J,
                           double dt, double *alpha, double *w);
};

// what damping schemes remember from one tick to the next
struct Memory {
  std::vector<double> numbers;
};
