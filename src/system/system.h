#pragma once
// What the user asks of a board: groups, how often each, and which of them at once.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "board/variant.h"
#include "formats/model_source.h"
#include "system/budget.h"
#include "system/events.h"
#include "system/task_graph.h"

namespace millrace::system {

using GroupId = Id<struct GroupTag>;        // System::groups
using ScenarioId = Id<struct ScenarioTag>;  // System::scenarios

/// Activations per second: `least` at the lowest level, `most` at the highest.
struct Rates {
  double least_fps = 0, most_fps = 0;
  bool operator==(const Rates&) const = default;
};

/// What a whole network takes on a processor, as a user knows it: for `admit`.
struct KnownTime {
  std::string processor;  // one of the configurations that `admit` names, or a kind of them
  board::Precision precision = board::Precision::f32;
  Time worst{}, in{}, out{};  // of a job; of its transfers before and after it
  std::string place = {};
  bool operator==(const KnownTime&) const = default;
};

/// Tasks with one period, one deadline and one priority: a network with what stands before and
/// behind it, which the papers call an application, or a graph of tasks, or a network in a graph.
struct Group {
  std::string name;
  formats::ModelSource model;
  std::string application = {};  // the file whose network, pre- and post-processing it is; or empty
  Rates rates;  // of single frames, also of those in bursts
  Events events = {};
  std::optional<Budget> budget = {};  // of all its frames together
  /// From when a frame comes; none: the period, or that of bursts, or of an aperiodic group's
  /// budget.
  std::optional<Time> deadline = {};
  std::optional<std::int64_t> priority = {};  // a higher number is a higher priority; none: chosen
  /// The worst times on a core at its highest clock; none: measured, or there is no such step.
  std::optional<Time> preprocess = {}, postprocess = {};
  std::vector<board::Precision> precisions = {board::Precision::f32};  // that layers may have
  std::string place = {};                                              // in the file
  TaskGraph graph = {};                                                // beside the network
  /// For `admit`, which alone reads these three: in place of modelled or measured times; groups
  /// whose results it reads; from the first activation on the way through these to its end.
  std::vector<KnownTime> times = {};
  std::vector<std::string> after = {};
  std::optional<Time> end_to_end = {};
  bool has_network() const { return !model.file.empty() || !application.empty(); }
  bool operator==(const Group&) const = default;
};

/// A state of the system.
struct Scenario {
  std::string name;
  std::vector<GroupId> groups;       // active in it, ascending
  std::optional<double> share = {};  // of the time; none: see shares()
  std::string place = {};
  bool operator==(const Scenario&) const = default;
};

struct Transition {
  ScenarioId from, to;
  std::optional<double> probability = {};  // none: evenly what the others of `from` leave
  std::string place = {};
  bool operator==(const Transition&) const = default;
};

/// `last`: the newest value, again if nothing newer has come. `queue`: each value once, in order.
enum class EdgeRead { last, queue };

/// A group reads an output of another one's network when its frame begins; the other one writes
/// when its frame ends. Their rates may differ.
struct GroupEdge {
  GroupId from, to;
  std::string output = {}, input = {};  // of the networks; empty: the only one
  EdgeRead read = EdgeRead::last;
  std::int64_t capacity = 8;  // of a queue, in values
  std::string place = {};
  bool operator==(const GroupEdge&) const = default;
};

/// Groups of which each reads the one before: from cause to effect.
struct Chain {
  std::string name;
  std::vector<GroupId> groups;
  std::optional<Time> reaction = {}, age = {};  // at most; none: it is only shown
  std::string place = {};
  bool operator==(const Chain&) const = default;
};

enum class Overload { skip, stretch, lower_rate };

struct System {
  std::string name, file;
  std::string board = {};        // a board file or the name of a shipped one; empty: this machine
  std::string board_place = {};  // where it is named: in the file, or an option
  std::vector<Group> groups;
  std::vector<Scenario> scenarios;      // the first is where it begins
  std::vector<Transition> transitions;  // none: each scenario may follow each
  std::vector<GroupEdge> edges = {};
  std::vector<Chain> chains = {};
  /// Into so many rates each range is divided; 1: the highest only.
  std::int64_t levels = 1;
  Overload overload = Overload::skip;  // what happens to a frame whose group is still busy
  /// Time that the controller takes of each deadline.
  Time overhead{};
  /// Time on a core for each release of a frame, which the tasks of all groups wait for.
  Time release_cost{};

  const Group& operator[](GroupId id) const { return groups[id.index]; }
  const Scenario& operator[](ScenarioId id) const { return scenarios[id.index]; }
  bool operator==(const System&) const = default;
};

/// InputError with the place: a group or scenario without name or of a name that is there, a rate
/// that is not above 0, what check_events() and check_budget() refuse, shares or probabilities that
/// do not add up, a scenario that no transition leads to, two groups of one scenario with one
/// priority, an edge that cannot be, a chain without its edges.
void check(const System& system);

/// The share of time that each scenario takes: as given; or the residence that the transitions'
/// probabilities lead to; or, without both, all the same. They add up to 1.
std::vector<double> shares(const System& system);

/// Period of single frames, which bursts have on average. At a level from 0 to levels - 1, the
/// highest; rounded down to whole nanoseconds.
Time period_of(const System& system, GroupId group, std::int64_t level);
/// Between two frames that come, the least.
Time shortest_distance(const System& system, GroupId group, std::int64_t level);
/// Of the group's budget, which it has.
Time budget_every(const System& system, GroupId group, std::int64_t level);
/// Without the controller's overhead.
Time deadline_of(const System& system, GroupId group, std::int64_t level);

const char* to_text(Overload overload);
const char* to_text(EdgeRead read);

}  // namespace millrace::system
