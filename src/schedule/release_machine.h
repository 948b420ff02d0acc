#pragma once
// The one semantics of releases: scenarios, levels and overload. Events and the time come in,
// decisions go out; it knows no clock, no thread and no processor.
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/units.h"
#include "deployment/deployment.h"
#include "deployment/script.h"
#include "schedule/arrivals.h"
#include "schedule/budget_server.h"

namespace millrace::schedule {

/// So long nothing is late before the policy lower_rate raises the level again.
inline constexpr Time calm = std::chrono::seconds(1);

struct Decision {
  enum class Kind {
    release,       // of a frame, when it is due
    skip,          // a frame that is due is passed over: its group is busy
    wait,          // a frame that is due waits until its group is not busy
    release_late,  // of the frame that waited
    hold,          // a frame that is due waits until its group's budget has enough for it
    release_held,  // of a frame that was held
    drop,          // a frame that waited or was held does not come any more
    enter,         // all processors are idle: from now on `at` holds
  };
  Kind kind = Kind::release;
  system::GroupId group{0};    // of all but enter
  Time due{}, deadline{};      // the deadline counts from `due`
  Time held{};                 // of release_held: so long it was
  deployment::Wanted at = {};  // the scenario and level in which it was decided
  /// For enter: how long the transition took, and the most that its frames could take.
  Time lasted{}, bound{};
  bool is_release() const {
    return kind == Kind::release || kind == Kind::release_late || kind == Kind::release_held;
  }
  bool operator==(const Decision&) const = default;
};

/// Each frame that was due is released or skipped, and each that was released is done or lost.
struct FrameCounts {
  std::int64_t due = 0;
  std::int64_t released = 0;
  std::int64_t skipped = 0;    // by policy: the frames before it were on their way
  std::int64_t stretched = 0;  // of those released: later than they were due, by policy
  std::int64_t held = 0;       // of those released: later than they came, by their budget
  Time longest_held{};
  std::int64_t done = 0;
  std::int64_t missed = 0;  // of those done: after their deadlines

  std::int64_t lost() const { return released - done; }
  /// What the decision makes of a frame.
  void count(const Decision& decision);
  FrameCounts& operator+=(const FrameCounts& other);
  bool operator==(const FrameCounts&) const = default;
};

/// A transition lasts from the wish until the first frame of the new scenario can be released.
struct TransitionCounts {
  std::int64_t wished = 0, done = 0;
  std::int64_t replaced = 0;       // by a later wish, before they were done
  std::int64_t level_changes = 0;  // by the policy lower_rate
  std::int64_t heat_changes = 0;   // of levels, as processors were slowed down or no more
  std::int64_t extensions = 0;     // for groups that were added
  Time longest{};
  Time longest_bound{};  // the largest time that was left to the frames on their way
  /// Recorded releases that came in a transition, or while their group was not active.
  std::int64_t passed_over = 0;
};

/// When frames come.
struct ReleaseOptions {
  std::uint64_t seed = 1;  // of what event models leave open
  /// Times from the begin, by GroupId, ascending; borrowed. Null, or of a group none: as its event
  /// model allows.
  const std::vector<std::vector<Time>>* recorded = nullptr;
};

/// One group's releases.
struct ReleaseState {
  bool active = false, waiting = false;  // waiting: a frame is, by the policy stretch
  Time next{}, deadline{};
  Arrivals arrivals = {};
  std::optional<Time> last = {};   // release
  Time last_deadline{};            // of the last frame
  std::int64_t on_the_way = 0;     // frames that were released and are not done
  std::int64_t most_on_the_way = 1;

  BudgetServer budget = {};
  bool is_aperiodic = false;
  bool waits_for_end = false;  // of another frame, what is held

  bool is_busy() const {
    if (is_aperiodic) return budget.is_full();
    return on_the_way + static_cast<std::int64_t>(budget.held()) >= most_on_the_way;
  }
  /// When the next frame that is there can begin; Time::max(): when another one is done.
  Time can_begin() const {
    if (on_the_way >= most_on_the_way) return Time::max();
    return budget.is_on() ? budget.ready() : Time{};
  }
};

/// Releases of the groups of a scenario, when Arrivals says that their frames come. A group of
/// which as many frames are on their way as its deadline allows is busy; the system's policy says
/// what happens to its next frame. A transition begins at once, and ends when no frame is on its
/// way. The policy lower_rate goes a level down when a frame was late or skipped, and up again
/// after `calm`. A frame for which its group's budget has too little left is held until it has; of
/// an aperiodic group it is due then. Allocates no memory after it was made. Times ascend from call
/// to call.
class ReleaseMachine {
 public:
  /// Borrowed.
  explicit ReleaseMachine(const deployment::Deployment& deployment,
                          const ReleaseOptions& options = {});

  // Events.
  /// The first one: it enters `first` with its first decision.
  void begin(const deployment::Wanted& first);
  /// The system is to be there. `asked`: when it was; `newer`: the last of so many wishes.
  void wish(const deployment::Wanted& wanted, Time asked, Time now, std::int64_t newer = 1);
  /// So many frames of the group are done, so many of them were late.
  void end_frames(system::GroupId group, std::int64_t frames, std::int64_t late);
  /// Frames of a group with a budget took so much more than it gives them.
  void overrun(system::GroupId group, Time time, Time now);
  /// Processors are slowed down by heat, or no more: a level down at once, and one more after each
  /// `calm` with heat; a level up after `calm` without.
  void set_hot(bool is_hot, Time now);
  /// Groups are to be added: a transition to where it is. Precondition: not in_transition().
  void begin_extension(Time now);
  /// Between `enter` and the next decision: of these groups, of which those that there are stay the
  /// first ones. `states` is of states_of(), and becomes what was used before.
  void extend(const deployment::Deployment& deployment, std::vector<ReleaseState>& states);
  static std::vector<ReleaseState> states_of(const system::System& system,
                                             const ReleaseOptions& options = {});

  // Decisions.
  /// What is to be done now, one after the other until there is nothing.
  std::optional<Decision> decide(Time now);
  /// The frames that wait do not come any more: nothing is released after that.
  std::optional<Decision> drop_waiting();

  // What to wait for.
  /// When the next frame is due, if nothing happens before; Time::max() in a transition.
  Time next_due() const;
  /// Whether the ends of the group's frames may lead to a decision.
  bool waits_for(system::GroupId group) const;
  /// Whether decide() has something to decide before the next frame is due.
  bool is_ready() const;

  bool in_transition() const { return in_transition_; }
  std::int64_t on_the_way() const;
  std::int64_t on_the_way(system::GroupId group) const { return states_[group.index].on_the_way; }
  const TransitionCounts& transitions() const { return transitions_; }

 private:
  const system::System& system() const { return deployment_->system; }
  void begin_transition(const deployment::Wanted& to, Time asked, Time now);
  std::optional<Decision> end_transition(Time now);
  void enter(Time now);
  Time first_release(system::GroupId group, Time now);
  std::optional<Decision> decide_due(system::GroupId group, Time now);
  std::optional<Decision> decide_held(system::GroupId group, Time now);
  Decision come(system::GroupId group, Time now);
  Decision release(system::GroupId group, Decision::Kind kind, Time now);
  std::optional<Decision> drop_held();
  void follow_overload(Time now);
  void follow_heat(Time now);
  /// At most at the level that heat allows.
  deployment::Wanted cooled(deployment::Wanted wanted) const;

  const deployment::Deployment* deployment_;
  std::vector<ReleaseState> states_;  // by GroupId
  deployment::Wanted wish_;           // the newest
  deployment::Wanted here_;           // where it is, or comes from
  deployment::Wanted target_;         // of a transition
  bool begins_ = false, in_transition_ = false;
  std::optional<Time> begun_ = {};  // when the first scenario was entered
  bool enters_ = false;    // with the next decision
  bool overload_ = false;  // since it was last looked at
  Time asked_{}, has_to_end_{};
  Time calm_since_{};  // for lower_rate
  bool hot_ = false;
  std::int64_t ceiling_ = std::numeric_limits<std::int64_t>::max();  // of levels, by heat
  Time cool_since_{};
  std::optional<Time> lowered_ = {};  // when heat last lowered the ceiling
  TransitionCounts transitions_;
};

}  // namespace millrace::schedule
