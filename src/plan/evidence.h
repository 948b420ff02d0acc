#pragma once
// What was found out about a plan; it stands beside the plan.
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "plan/plan.h"

namespace millrace::plan {

/// Something for each phase of each replica of each stage: by stage, then by replica, as
/// schedule::Schedule has its actors, and then by phase.
template <class T>
class ByPhase {
 public:
  using Phases = std::vector<T>;
  ByPhase() = default;
  ByPhase(std::initializer_list<Phases> actors) : actors_(actors) {}
  /// The same for each phase.
  explicit ByPhase(const Plan& plan, const T& value = {}) {
    for (const Stage& stage : plan.stages)
      actors_.insert(actors_.end(), stage.processors.size(), Phases(stage.phases.size(), value));
  }
  /// Whether the plan has these phases.
  bool fits(const Plan& plan) const {
    const ByPhase wanted(plan);
    bool fits = size() == wanted.size();
    for (std::size_t a = 0; fits && a < size(); ++a) fits = actors_[a].size() == wanted[a].size();
    return fits;
  }

  void add(Phases actor) { actors_.push_back(std::move(actor)); }
  bool empty() const { return actors_.empty(); }
  /// The number of replicas.
  std::size_t size() const { return actors_.size(); }
  Phases& operator[](std::size_t actor) { return actors_[actor]; }
  const Phases& operator[](std::size_t actor) const { return actors_[actor]; }
  const Phases& at(std::size_t actor) const { return actors_.at(actor); }
  auto begin() { return actors_.begin(); }
  auto end() { return actors_.end(); }
  auto begin() const { return actors_.begin(); }
  auto end() const { return actors_.end(); }
  bool operator==(const ByPhase&) const = default;

 private:
  std::vector<Phases> actors_;
};

/// How long phases take: empty if that is unknown.
using PhaseTimes = ByPhase<Time>;

/// In the running plan, beside others that ran interleaved with it.
struct Measured {
  Time period{};                  // between two frames, the median
  std::vector<Time> stages = {};  // of one frame, by stage, then by replica: the medians
  double doubt = 0;  // how far the period beside the shortest may be off, in shares of it: twice
                     // the standard error of the median of the rounds' ratios, or 0 where there are
                     // too few to tell
};

/// Cores launch the work of devices, and wait for it. Of a device's replica, what that takes of the
/// core of this name. Of a core's, without a name, what of its last phase's time it is: the phase
/// has it in its predicted time.
struct Feeding {
  Time time{};
  std::string core = {};
  bool operator==(const Feeding&) const = default;
};

/// What of a phase's time goes by at its borders, before and after its layers: tensors come from
/// other processors and go there, by copies, other layouts or caches.
struct BorderTimes {
  Time in{}, out{};
  bool operator==(const BorderTimes&) const = default;
};

/// What is known of one replica of a stage. All times are of one frame.
struct ReplicaEvidence {
  std::vector<std::optional<Time>> phases;  // from the profile; nothing: unknown
  Time predicted{};                         // of all phases, from the profile; 0: unknown
  Time measured{};                          // in the running plan; 0: not measured
  Feeding feeding = {};
  std::vector<BorderTimes> borders = {};  // by phase; empty: unknown, or none
  bool operator==(const ReplicaEvidence&) const = default;
};

struct Evidence {
  std::vector<ReplicaEvidence> replicas;  // by stage, then by replica
  Time period{};  // measured, between two frames, when the plan was made; 0: not measured
  /// Whether it is of this plan's replicas and phases.
  bool fits(const Plan& plan) const;
  bool operator==(const Evidence&) const = default;
};

/// A plan with what is known of it.
struct Assessed {
  Plan plan;
  Evidence evidence;
};

/// Evidence for a plan of which nothing is known.
Evidence no_evidence(const Plan& plan);
/// From predicted times of one frame.
Evidence predicted(const PhaseTimes& times);
/// InputError if it is of another plan.
void check_evidence(const Evidence& evidence, const Plan& plan);
/// The predicted times of the phases' firings, each of a whole batch; empty if one is unknown.
/// Precondition: the evidence fits the plan.
PhaseTimes predicted_times(const Plan& plan, const Evidence& evidence);

/// Border times of the phases' firings, each of a whole batch; 0 where they are unknown.
ByPhase<BorderTimes> border_times(const Plan& plan, const Evidence& evidence);

/// "gpu receives tensors for 0.15 ms of each frame, and sends them for 0.05 ms", for each processor
/// where that is a hundredth of its time.
std::vector<std::string> border_notes(const Plan& plan, const Evidence& evidence);

/// What a frame's devices take of cores without a stage that feed them, by the cores' names.
std::map<std::string, Time> feeding_of_idle_cores(const Plan& plan, const Evidence& evidence);

/// "core3 feeds gpu for 1.20 ms of each frame", for each device that is fed.
std::vector<std::string> feeding_notes(const Plan& plan, const Evidence& evidence);

/// How long a frame keeps each processor busy, by its name, cores that only feed devices included.
/// Several actors on one processor count with their mean, since their times hold what they take
/// from each other.
std::map<std::string, Time> busy_times(const Plan& plan, const Evidence& evidence);

}  // namespace millrace::plan
