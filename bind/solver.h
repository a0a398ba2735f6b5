// What the wall keeps of a plan: linkage, goals and method compiled together, and the functions it may ask.
#pragma once
#include "dispatch.h"
#include "problem.h"
#include "supple/local/damping.h"

#include <exception>

struct Plan {
  Posed posed;
  std::vector<std::vector<double>> rows; // one number for each of the joints that some goal needs
  std::vector<std::vector<Link>> links;  // of chains that damping schemes look at
  std::vector<Preference> preferences;
  std::vector<DampingScheme> dampers;
  Method method;
  Stop stop;

  Plan(nb::object tree, nb::list wanted, nb::handle low, nb::handle high, nb::list balls, nb::tuple how,
       nb::list wishes, nb::tuple end, nb::object schemes);
  Plan(const Plan &) = delete;

private:
  Chain chain_of(Tree &tree, nb::handle link);
  const double *row_of(nb::handle full, const char *what);
  void read_schemes(nb::list schemes);
};

// Python functions that wish, and that damp, asked from within the loop: full rows of q in, full rows out.
struct Asked {
  const Posed &posed;
  nb::object wishing, damping;
  std::vector<double> full; // the values that no goal needs stay as they were at the start
  std::exception_ptr error = nullptr;

  Asked(const Posed &p, nb::object wish, nb::object damp, const double *q)
      : posed(p), wishing(wish), damping(damp), full(q, q + p.dof) {}
  // has a method ask these functions
  void join(Method &method) {
    if (!wishing.is_none())
      method.preference_callback = ask_wish, method.preference_data = this;
    if (!damping.is_none())
      method.damping_callback = ask_damping, method.damping_data = this;
  }
  void raise() const {
    if (error)
      std::rethrow_exception(error);
  }
  static void ask_wish(void *self, const double *q, double *v);
  static void ask_damping(void *self, int which, const double *q, const double *e, const double *J, double dt,
                          double *alpha, double *w);
};

// what damping schemes remember from one tick to the next
struct Memory {
  std::vector<double> numbers;
};
