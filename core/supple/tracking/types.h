// What a tracker needs to know and to remember: plain data that every instruction set reads alike.
#pragma once
#include "supple/task/types.h"

namespace supple {

// Constants of the law, in weighted units (position times pi/reach, so that singular values run from 0 to
// about 4), radians and seconds. docs/tracking.md tells what each is for and what it trades.
struct Law {
  double gain = 240;           // of what is left of the error, per second
  double landing = 148;        // at a limit, per second
  double free_gain = 53.1;     // of motion that no goal sees, per second
  double learn = 0.557;        // how fast the posture is remembered, per second
  double weak = 0.131;         // singular values below are weak
  double damping = 0.00231;    // along weak directions
  double feedback = 16.9;      // times more for what is left than for what is fed forward
  double fold_damping = 0.028; // more of it by curvature
  double fold = 0.118;         // curvature that tells a fold
  double pull = 0.000555;      // towards the remembered posture
  double fold_pull = 0.0221;   // more of it in a fold
  double rest = 0.000484;      // towards rest, in motion that no goal sees
  double climb = 5.17;         // away from singularities, in motion that no goal sees
  double climb_below = 0.383;  // singular values below which it climbs
  double look_ahead = 0.324;   // seconds, out of a fold
  double press_time = 0.603;   // seconds that pressing outward is remembered
  double press = 0.0281;       // how hard counts as pressing
  double fold_below = 0.131;   // singular values below which a fold is left by its root
  double active = 0.0851;      // speed of the command that counts as motion, per second
  double braking = 0.901;      // of the acceleration, when approaching what is left
  double smooth = 0.0146;      // seconds, of the acceleration that is fed forward
  double touch = 1e-4;         // nearer to a limit is at it, radians
  double astray = 0.005;       // a larger weighted error does not follow
  double lost = 0.0277;        // a larger one has lost the command
  double stuck = 0.12;         // seconds in a corner after which the arm goes home
  double leash = 0.35;         // how far a joint may be ahead of the real one, radians
};

// What bounds one joint, in its natural unit (radians, or a part of the reach for slides) and seconds.
struct Bounds {
  double lower, upper, speed, acceleration, jerk;
};

struct Tracking {
  Problem problem;
  const Bounds *bounds; // n
  const double
      *rows;  // the same as five rows, each of `stride` numbers: lower, upper, speed, acceleration, jerk
  int stride; // n rounded up to eight: rows are read eight at a time
  const double *size; // n: the natural unit of each joint in its own: 1 for turns, reach/pi for slides
  double unit;        // factor on all weights
  int rank;           // the most that the goals and the linkage can have together
  bool plain;         // one target of six rows, no ball, one column for every joint
  Law law;
};

// what is wanted of one target in this tick: twelve numbers as ever, and how far it moved since the last
// (linear, then angular, in world axes)
struct Wanted {
  double goal[12], moved[6];
};

// What is remembered of the way home: where the arm last followed well, joint values that seek the command
// from there and those of the tick before, and: whether it seeks, steps taken, which start, and for how long
// the arm is in a corner.
struct Home {
  double *anchor, *q, *was; // n
  double *state;            // 4
};

// working memory of a step home; axes and tips are the core's own
struct HomeDesk {
  double *goals; // 12 a target
  double *e, *J, *full, *distance, *angle, *A, *V, *b, *c, *free, *v, *dq;
  int *order;
  void *tips, *axes;
};

// What a tracker remembers: rows of n numbers, a square matrix and a number. Velocities are in natural units.
struct LawMemory {
  double *q, *velocity, *acceleration;
  double *posture, *rest; // what it remembers of how it stood, and where it began
  double *ahead, *pace;   // joint velocities that were fed forward, and how they change
  double *held;           // 1 and -1: at the upper and lower limit, 0: free
  double *basis;          // twice n x n, rows: the directions of the last tick, to start from in this one
  double *basis_held;     // the joints that were held (as in `held`) when the second basis was made
  double *null;           // n: the direction that no goal sees, where there is one
  double *scalars; // pressed: how hard it pressed against a fold lately; turned: ticks since each basis was
                   // made anew
  Home home;
};

// a step that another scheme chose: in the joints' own units, with the damping and the joint weights it took
struct Steering {
  const double *step, *weights; // n; weights may be null
  double alpha;
  bool boxed;
};

// what a tracker says of a tick
enum State : int { following, yielding, lagging, at_rest };

// what came of a tick
struct Tick {
  double damping;     // the largest along any direction
  double least;       // the smallest singular value that counts, or above where it need not be known
  double fold;        // of the weakest direction: 0 passes through, 1 folds
  double way[6];      // of the weakest direction: how it moves a target (unit length, linear times pi/reach)
  int target;         // and which target that is
  double reducible;   // how much of the squared error a step would take away, were there no box: 0 to about 1
  bool weak, bounded; // some direction is damped; the wanted step was outside the box
  bool quick;         // it took the short way
  double *weights; // n: 1 for a free joint, less where it swings in a weak direction, 0 for one at its limit
  double *
      sides; // n: 1 and -1 at the upper and lower limit, 2 and -2 as fast as it may, 3 and -3 accelerating so
};

} // namespace supple
