// Plain data of the tracker, which every instruction set reads alike: constants, set-up, commands, memory,
// results.
#pragma once
#include "supple/task/types.h"

namespace supple {

// Constants of the tracking law, in weighted units (position times pi/reach, so that singular values run from
// 0 to about 4), radians and seconds. The symbol of each in the formulas of this folder comes first.
// docs/tracking.md says what each is for and what a larger value does.
struct Law {
  double feedback_gain = 240;           // K, 1/s: of the residual
  double limit_gain = 148;              // K_b, 1/s: of the distance to a joint limit
  double null_space_gain = 53.1;        // K_n, 1/s: of motion in the null space
  double posture_rate = 0.557;          // K_m, 1/s: how fast the remembered posture follows q
  double singular_threshold = 0.131;    // sigma_0: directions with smaller singular values are near-singular
  double damping = 0.00231;             // alpha_0: along near-singular directions
  double feedback_damping_ratio = 16.9; // beta: damping of feedback over damping of feed-forward
  double fold_damping = 0.028;          // alpha_1: more damping by curvature squared
  double fold_curvature = 0.118;        // kappa_0: the curvature that makes a fold
  double fold_posture_pull = 0.0221;    // p_1: towards the remembered posture, in a fold
  double rest_pull = 0.000484;          // p_n: towards rest, in the null space
  double climb_gain = 4.6;              // mu: up the gradient of singular values, in the null space
  double climb_speed = 1;               // s_2, 1/s: speed of the command at which half of it counts
  double climb_threshold = 0.383;       // sigma_1: singular values below it are climbed
  double preferred_speed = 0.5;         // of the speed limits, for motion in the null space
  double limit_push = 0.3;              // away from joint limits, in the null space
  double push_margin = 0.3;             // rad: joints nearer to a limit are pushed away
  double look_ahead = 0.324;            // T_l, s: how early a fold is left
  double pressed_time = 0.603;          // T_p, s: how long pressing outward is remembered
  double pressed_scale = 0.0281;        // b_1: outward residual times curvature that counts as pressing
  double fold_threshold = 0.131;        // sigma_f: singular values below it may leave a fold by its root
  double active_speed = 0.0851;         // s_0, 1/s: speed of the command that counts as motion
  double level_acceleration = 0.1;   // of the acceleration limits: what the motion of later levels may ask of
                                     // earlier ones
  double split_acceleration = 0.4;   // the same where one goal is split into position and orientation
  double deceleration_share = 0.901; // of the acceleration limit, planned when approaching
  double level_share = 0.15;   // deceleration_share of later levels: earlier ones need the rest to compensate
  double level_change = 0.4;   // of the acceleration limits: with which later priorities change their speed
  double filter_time = 0.0146; // s: low-pass of the feed-forward's acceleration
  double limit_margin = 1e-4;  // epsilon, rad: a joint nearer to its limit is at it
  double following_error = 0.005;  // a smaller weighted residual follows the command
  double lost_error = 0.0277;      // a larger one has lost it
  double full_damping_speed = 0.8; // s_1, 1/s: speed of the command from which near-singular damping is full
  double exact_demand = 0.5;     // of joint limits, for passing a singularity exactly: then it is not damped
  double damped_demand = 1;      // the same from which damping is full
  double exact_rate = 10;        // 1/s: how fast a pass without damping begins
  double rest_rate = 20;         // 1/s: least rate of approach along any direction, command at rest
  double rest_step = 0.1;        // rad: longest displacement that this rate adds
  double rest_gain = 1e-10;      // a smaller decrease of the squared residual is none
  double distance_margin = 0.02; // weighted: growth of the distance to a command at rest that is allowed
  double rest_time = 0.4;        // s without decrease after which the arm stands still
  int rest_swings = 4;           // repeated swings without gain after which the arm stands still
  double rest_patience = 1.6;    // s: rest of the command after which small decreases count as none
  double recovery_delay = 0.12;  // s: in a local minimum before the arm recovers freely
  double return_delay = 1;       // s: rest of the command before the arm returns slowly
  double announcement = 0.25;    // s: for which a slow return is announced before it moves
  double rest_drift = 0.01;      // weighted: a command that moves less counts as at rest for a return
  double return_detour = 0.3;    // weighted: how much the residual may grow on a slow return
  double return_speed = 0.4;     // weighted 1/s: of the end effectors on a slow return
  double return_turn = 3.5;      // rad: how far a joint may go on a slow return
  double max_lead = 0.35;        // rad: how far a joint may be ahead of the measured one
};

// Bounds of one joint in its natural unit (radians, or reach/pi for a prismatic joint) and seconds.
struct JointBounds {
  double lower, upper, speed, acceleration, jerk;
};

// levels of priority that a tracker can have
constexpr int most_levels = 8;

// Bounds on the speed of one end effector: m/s and rad/s, infinite where there are none.
struct EffectorBound {
  double speed, turn_speed;
};

// rows of Tracking::bound_rows
enum BoundRow : int { lower_row, upper_row, speed_row, acceleration_row, jerk_row, bound_row_count };

// Whether an arm in a local minimum goes by itself to other joint values that reach the command.
enum RecoveryMode : int { recover_off, recover_slow, recover_free };

// What a tracker knows from its set-up.
struct Tracking {
  Problem problem;
  const JointBounds *bounds;    // n
  const double *bound_rows;     // the same as rows of `stride` numbers (BoundRow), read some at a time
  int stride;                   // n rounded up to a multiple of eight
  const double *unit;           // n: natural unit of each joint, 1 or reach/pi
  double weight_scale;          // factor on all weights of the goals
  const double *reach;          // of each target, m: the length that counts as half a turn
  int rank;                     // the largest rank that the goals' Jacobian can have
  const Target *status_targets; // the targets with their slack, which counts for the status alone
  const int *row_level;  // m: level of each row; level 0 comes first, and later ones use what it leaves free
  const int *level_rank; // of each level: the largest rank that its rows add to those of earlier levels
  int level_count;
  int first_levels; // levels of the goals with the lowest priority number: 2 where position and orientation
                    // are split
  bool one_pose; // one goal of six rows, no ball joint, each joint once: sizes known when compiling are used
  Law law;
  RecoveryMode recovery;
  double end_rate = 1e9; // 1/s: an acceleration may end within its inverse, or sooner where jerk allows
  const EffectorBound *effector_bounds = nullptr; // one a target; null where there are none
  int weight_changes = 0;                         // how often the weights of goals were changed
  int limit_changes = 0;                          // how often the limits in use were changed
};

// ---- commands

// How commands are read; times in seconds, weighted units as in the law.
struct CommandOptions {
  double position_weight = 1, rotation_weight = 1; // of a metre (pi/reach) and of a radian
  bool has_direction = false;                      // goal[0..2] is a direction, and goal[3..8] is not used
  double jump_speed = 6;                           // weighted 1/s: a faster command is a jump
  double sudden_speed = 0.6; // weighted 1/s: in a long tick, a command whose velocity changes more is sudden,
  double long_tick = 0.05;   // if it rested before; s
  double stall = 4;          // or if the tick is longer than so many of the last
  double lag = 0.0245;  // s: delay of the parabola; a longer one reduces tremor more, and 25 ms are allowed
  double window = 0.40; // s: window of the parabola; shorter lets tremor pass, longer distorts motion
  double rise = 0.38;   // s: in which a new sample gains its weight; shorter lets single samples be felt
  double narrow_share = 0.75; // second window over the first; smaller lets a lost sample be felt
  double tremor = 0.01;       // weighted: how far the two may differ; 3 mm or 0.6 degrees
  double narrow_time = 0.6;   // s: in which the square of the difference falls; shorter makes swings rough
  double narrow_rate = 40;    // 1/s: how fast it changes; faster is felt
  double line_window = 0.2; // s: window of the mean line, whose delay is half of it; shorter lets tremor pass
  double small_swing = 0.012; // weighted, rms: a swing within it, 4 mm or 0.7 degrees, is not extended
  double swing_time = 0.5;    // s: of the means about which a command swings; longer notices slower swings
  double energy_time = 0.7;   // s: of the average of energies; shorter lets the share ripple
  double swing_margin = 0.01; // of the samples' energy: how much more a swing may have
  double swing_caution = 0.9; // see swinging_share
  double swinging = 0.4, steady = 0.7; // steadiness up to which a motion swings, and from which it moves on
  double share_rate = 12;              // 1/s: how fast the share of the extension changes; faster is felt
  double longest_gap = 0.022; // s between samples, averaged over time, up to which a motion is extended
  double swing_gap = 0.014, swing_gap_end = 0.024; // s: the same, for fast swings: less, and no more
  double gap_time = 0.5;                           // s: of that average
  double rest_gap = 0.1;         // s: a later sample follows a rest, and says nothing of the sample rate
  double moving_speed = 0.1;     // weighted 1/s: a command that was faster and falls silent lost a sample
  double fast_interval = 0.0070; // s: where samples come at shorter intervals, lag and window shrink
  double slow_interval = 0.050;  // s: at longer ones the windows stretch; the mean line has 4 samples or more
  double longest_wait = 0.02;    // s: longer ticks do not wait for the next, to learn the sample rate
  double stretch_rate = 0.25;    // 1/s: how fast they shrink and stretch; times the lag, it is felt as speed
  double blend_time = 0.2;       // s: from one way of reading to the other
  double stop_time = 0.15;       // s: to rest, when a moving command falls silent
  double clock_drift = 5e-3;     // of the sender's clock against ours that is followed
  double smooth = 0;             // s: delay of the low-pass; 0 for none but where the command trembles
  double predict = 0;            // s: how far a stamped command is read ahead of its lag
  double predict_distance = 0.1; // weighted: it is never moved farther; 3 cm or 6 degrees
  double predict_speed = 0.05;   // weighted 1/s: a command that is not faster is hardly predicted
  double recent_window = 0.2;    // s: window of the newest samples, which tell whether the motion goes on
  double recent_rise = 0.06;     // s: the same as rise; shorter lets tremor of a moving hand be felt
  double tremor_memory = 1.5;    // s: how long a turn of a demand beyond limits is remembered
  int tremor_reversals = 3;      // more than so many reversals lately are tremor
  double tremor_distance = 0.06; // weighted: a command farther from its low-pass is no tremor
  double tremor_swing = 3.5;     // of the rms of a swing: the same where the command swings
  double tremor_speed = 0.2;     // weighted 1/s: a command that is faster on average is no tremor
  double tremor_average = 0.2;   // s: of that average
  double tremor_acceleration = 0.01; // weighted 1/s^2: a command that accelerates less does not tremble
  double tremor_begin = 0.85;        // of the acceleration limits: a smaller demand is no tremor
  double tremor_demand = 0.6;        // of the acceleration limits: what the low-pass of a tremor may ask
  double demand_memory = 0.3;        // s: how long the largest demand is remembered
  double filter_attack = 8;          // 1/s: how fast the low-pass slows down, for each e-fold of demand
  double filter_release = 1;         // 1/s: how fast it quickens again
  double filter_end = 8;             // 1/s: the same where the command rests or moves away
  double filter_start = 250;         // 1/s: its speed w when it begins
  double filter_slowest = 3;         // 1/s
  double filter_off = 3000;          // 1/s: where it ends
  double clock_restart = 0.25;       // s: a stamp older by less is a late sample; by more, a clock set anew
};

// The low-pass of a command (smoothing.h); zero bytes are its start.
struct CommandFilter {
  double value[7];             // what it gives
  double velocity[6];          // of it: m/s, rad/s
  double mean_velocity[6];     // of it over the last tick
  double slow_velocity[6];     // of it, averaged
  double last_acceleration[6]; // of the command, at the last reversal
  double speed;                // w, 1/s
  double demand;               // acceleration for the command over what the limits allow: the largest lately
  double rest_time;            // s: since the command rests
  double first_reversal, last_reversal; // s: of the reversals that are counted
  int reversals; // how often the direction of a demand beyond the limits was reversed lately
  bool active;
};

// How the samples of a command and what is read from them swing about their means (reading.h).
struct CommandSwing {
  double sample_mean[7], line_mean[7], extension_mean[7];
  double sample_energy, line_energy, extension_energy; // weighted squares of the distances from the means
  double product;                                      // of the distances of mean line and extension
  double extension_length;                             // weighted, averaged
  double share, share_velocity;                        // of the extension in what is read
  double steady;                                       // 1 where the command moves on, 0 where it swings
  double clock;                                        // s: when it was last followed
};

// What is remembered of a command; zero bytes are its start.
struct alignas(64) CommandState {
  static constexpr int slots = 64;  // of the window
  static constexpr int numbers = 7; // of a value: position, then a quaternion w x y z (or a direction and 0)
  double sample_time[slots];        // when the sample was taken, on our clock
  double received_time[slots];      // when it was received
  double value[numbers][slots];
  double goal[12], newest[numbers];   // the newest sample, as goal and as value
  double output[numbers];             // what was read last
  double velocity[6];                 // of what was read last, over its tick: m/s, rad/s
  double end_velocity[6];             // the same at its end, if the last tick was divided
  double blend[6], blend_velocity[6]; // a difference that fades, and its velocity when it began
  double blend_left, blend_duration;  // s: until it has faded, and from its start
  double entry[numbers];              // what the window gave when it was entered
  double held;                        // the part of the window's motion since then that fades too
  double farthest_square;             // weighted: of the two parabolas' distance, fading
  double narrow_part, narrow_slope;   // of the narrow parabola in what is read, 1/s
  double clock, since_sample;         // s: our clock; time since the newest sample
  double last_dt;                     // s: length of the last tick
  double last_change;                 // when samples last differed from the newest
  double last_sample;                 // sample_time of the newest slot
  double stamp, clock_offset;    // the newest stamp; our clock less the sender's, for the quickest sample
  double interval;               // s: mean time between samples
  double mean_gap;               // s: the same, averaged over time, so that long gaps count more
  double scale;                  // of lag and window, by the interval
  int next_slot, interval_count; // the slot to fill; how many gaps the interval is the mean of
  int ticks_since_sample;
  int every_tick_count; // how many samples in turn came at every tick, up to largest_doubt
  int doubt; // +10 for a sample after ticks without one, -1 for others; from doubt_limit on the window is
             // used
  bool started;
  bool rate_known; // whether each tick brings a sample
  bool waiting;    // for the next tick, to learn that
  bool stamped;
  bool windowed; // samples are read through the window
  bool mixing;   // from one reading to the other both are mixed
  bool direct;   // the last output was the newest sample itself
  bool stopped;  // a moving command fell silent and was brought to rest
  bool divided;  // the last tick was divided
  CommandFilter filter;
  CommandSwing swing;
};

// One command as the law reads it.
struct Command {
  double goal[12];        // rotation row by row (or a direction), then position
  double displacement[6]; // in this tick: metres and radians in world axes
  double acceleration[6]; // m/s^2, rad/s^2
  bool jumped;            // it is elsewhere without having moved
  double lag;             // s: how old it is
};

// The motion of a command within a divided tick: the cubic from its last pose to `end`, with these velocities
// at its ends.
struct CommandPath {
  Command end;                               // the command at the end of the tick
  double start_velocity[6], end_velocity[6]; // m/s, rad/s
  bool moves;
};

// ---- memory

// What a recovery does. A slow one checks its way and is announced before it moves.
enum RecoveryPhase : int {
  recovery_idle,
  recovery_searching,
  recovery_reached,
  recovery_announced,
  recovery_moving,
  recovery_refused // no way is allowed: not tried again until the command moves
};

// How the squared residual swings while the command rests.
struct Swing {
  bool falls, gains; // gains: the fall began at a peak that counts
  double extreme;    // the least of this fall, or the most of this rise
  double last_peak;  // the last that counted
  int repeats;       // rises one after another whose peak was no gain
};

// passes of a tick in which some joints are held (levels.h)
constexpr int held_passes = 3;

// The status that is reported of a measured arm (status.h).
struct ReportedStatus {
  bool known;
  int now, before;     // TrackingStatus
  double absent_time;  // s: since a tick last gave `now`
  double since_change; // s
  double flicker;      // how often the status lately went back to the one before
};

// the single numbers that an arm remembers; zero is their start
struct ArmScalars {
  double pressed;                 // 0 to 1: how hard the command lately pressed against a fold
  double recovery_time;           // s: since a slow return was announced
  double return_bound;            // weighted residual that a slow return must not exceed
  double standing_time;           // s: how long an arm that returns has stood
  double local_minimum_time;      // s: how long the arm has been in a local minimum
  double command_rest_time;       // s: how long the command has moved no farther than Law::rest_drift
  double least_cost[most_levels]; // of each level, half of its least squared residual since the command rests
  double preferred, least_preferred;   // length of the preferred displacement in the last tick, and its least
  double last_cost;                    // of all levels, in the last tick
  double last_level_cost[most_levels]; // of each level, in the last tick
  double progress;                     // fall of the cost over what counts as progress, low-passed
  double joint_travel;                 // rad: length of the path in joint space since the cost last decreased
  double no_decrease_time;             // s: since the cost last decreased
  ReportedStatus reported;
  Swing swing, cycle;    // the second counts every rise, however small
  double halved_cost;    // the cost at its last halving
  double unhalved_time;  // s: since that halving, while the command rests
  double approach_time;  // s: since the command rests, or since the last return
  double tick_time;      // s: length of the whole tick, of which this may be a piece
  double step_time;      // s: length of the last step; 0: there was none
  double rest_clock;     // s: since the command rests, without waiting for the measured arm
  double returned_clock; // s: the clock when the arm last was RETURNING
  double bounded_time;   // s: that the speed bounds of end effectors need for their way since then
  double momentum_time;  // s: in which the joints, as fast as since the last gain, can brake
  double waiting_time;   // s: how long some joint has waited for the measured one
  double measured_age;   // s: of the newest measured joints
  double exact_share, next_exact_share; // of damping that may be left out, in this tick and the next
  double lag_product, lag_square;       // of lead and measured velocity: their ratio is the lag of the arm, s
  double demand;                   // the largest acceleration of the last feed-forward over its joint's limit
  int basis_age;                   // ticks since `basis` was made orthonormal; 0: it holds none
  int reduced_basis_age;           // the same of `reduced_basis`
  RecoveryPhase recovery;          // of the search for joint values that reach the command
  int recovery_steps;              // of that search
  int weight_changes;              // Tracking::weight_changes at the last tick
  int limit_changes;               // Tracking::limit_changes at the last tick
  int recovery_count;              // returns begun since the command rests
  int recovery_searches;           // searches begun since the command rests
  int recovery_samples;            // of the way to recovery_q that are checked
  int short_waits;                 // short times of waiting since the command rests
  int pass_basis_age[held_passes]; // reduced_basis_age of each pass
  bool recovery_from_rest;         // it began at rest, not at the anchor
  bool distance_known;             // ArmMemory::least_distance is of this command
  bool reweighed;                  // the weights have changed since the command moved
  bool overdue;                    // the joints brake and stand: the deadline has come
  bool twist_active;               // the goals are those that twists move
  bool measured_known;             // the last tick had measured joints
  bool measured_within;            // the measured arm was within tolerance
};

// What one arm remembers between ticks. Rows of n are padded to Tracking::stride. Velocities and
// accelerations are in natural units.
struct ArmMemory {
  CommandState *command_states; // one a target
  double *q, *velocity, *acceleration;
  double *posture, *rest;                                  // remembered posture, and the start
  double *feedforward_velocity, *feedforward_acceleration; // of the last tick; the second is low-passed
  double *limit_side;                                      // 1, -1: held at its upper, lower limit; 0: free
  double *basis;              // n x n: eigenvectors of the last tick's Hessian, as rows
  double *reduced_basis;      // held_passes times the same over the free joints, of the last such pass
  double *reduced_limit_side; // held_passes rows of `stride`: which joints were held in that pass
  double *null_direction;     // n: of the Jacobian, where there is one joint more than rows
  double *weakest_row;        // m: left singular vector of the smallest singular value
  double *recovery_anchor;    // where the arm last followed well
  double *rest_q;             // where the arm was when the command came to rest
  double *approach_q;         // where the arm was when ArmScalars::approach_time began
  double *recovery_q, *recovery_previous_q;      // joint values that approach the command, and a tick earlier
  double *command_drift;                         // m: of the command since it rests, weighted
  double *least_distance;                        // one a target: from its command, m
  double *twist_goals;                           // 12 a target
  double *last_measured;                         // n
  double *lead_fast, *lead_slow, *velocity_fast; // low-passed: q less the measured joints, and velocity
  ArmScalars *scalars;
};

// ---- requests and results

// a step that another scheme chose, in the joints' own units, with its damping and joint weights
struct ExternalStep {
  const double *step;    // n
  const double *weights; // n, or null
  double damping;
  bool bounded; // kept in the box of the tick
};

// What is requested of one arm in one tick; null pointers are not given.
struct TickRequest {
  const double *goals;    // 12 a target
  const double *twist;    // or instead 6 a target: linear and angular velocity in world axes
  const double *measured; // n: where the real joints are
  bool stamped;
  double stamp, dt;
  const ExternalStep *external;
  const double *preferred; // n: displacement that the null space is to take, in the joints' own units
};

enum TrackingStatus : int { following, yielding, lagging, held, returning };

// The bound that a joint is at after a tick, as the magnitude of its side; a side is negative towards the
// lower bound.
enum SideMagnitude : int { not_limited, at_limit, at_speed_limit, at_acceleration_limit, ahead_of_measured };

// a singular value that need not be known, since it is far from singular
constexpr double far_from_singular = 1e300;

// What is known of near-singular directions after a tick.
struct SingularReport {
  double damping = 0;                 // the largest along any direction
  double smallest_singular_value = 0; // or far_from_singular
  double fold = 0;                    // of the weakest direction: 0 passes through, 1 folds
  bool near_singular = false;         // some direction is damped
  int target = 0;           // the one with the largest residual that regular directions cannot remove
  double direction[6] = {}; // of that residual: unit length, linear (times pi/reach) and angular
};

// What came of a tick, besides the arrays of TickResultArrays.
struct TickResult {
  TrackingStatus status = held;
  SingularReport singular;
  bool bounded = false; // the law's step was outside the box
  bool regular = false; // no near-singular direction had to be known
  double lag = 0;       // s: of the command that was followed
  double reducible = 0; // share of the squared residual that a step without box would remove, 0 to about 1
};
struct TickResultArrays {
  double
      *joint_weights; // n: 1 for a free joint, less where it takes part in a near-singular direction, 0 held
  double *sides;      // n: SideMagnitude with its sign, Step.sides in Python
  double *error;      // 6 a target: goal minus end effector after the step, in world axes
};

} // namespace supple
