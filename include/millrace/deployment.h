#pragma once
// Several models under deadlines: what runs where with which priority, and live frames through it.
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/findings.h"
#include "millrace/model.h"
#include "millrace/options.h"
#include "millrace/profile.h"
#include "millrace/tensor.h"

namespace millrace {
inline namespace v1 {

/// A model, or an application, with a rate and a deadline.
struct Group {
  std::string name;
  std::optional<Model> model;
  std::string application;  // or an application's file
  double rate_fps = 0;
  std::optional<Duration> deadline;  // from when a frame is due; none: the period
  std::optional<std::int64_t> priority;  // a higher number is more urgent; none: chosen
  std::vector<Precision> precisions;  // that layers may compute in; empty: float32
  Duration jitter{}, offset{}, min_distance{}, burst_distance{};  // docs/methods/events.md
  std::int64_t burst = 1;
  bool sporadic = false, aperiodic = false;  // aperiodic: at any time; with a budget only
  /// Its frames may take so much of all processors in any `budget_every`; none: a period.
  std::optional<Duration> budget = {}, budget_every = {};
};

/// A group reads an output of another one's model when its frame begins; that writes it when its
/// frame ends.
struct GroupEdge {
  std::string from, to;                  // groups
  std::string output = {}, input = {};   // of the models; empty: the only one
  std::int64_t queue = 0;  // so many values wait, each is read once; 0: the newest, again and again
};

/// Groups of which each reads the one before: from cause to effect.
struct Chain {
  std::string name;
  std::vector<std::string> groups;
  std::optional<Duration> reaction = {}, age = {};  // at most; none: it is only told
};

/// Groups that run at the same time. Files say more: scenarios, ranges of rates, tasks.
struct System {
  std::string name = "system";
  std::vector<Group> groups;
  std::vector<GroupEdge> edges = {};
  std::vector<Chain> chains = {};
};

struct DeployRequest {
  std::vector<std::string> processors;  // for models, by name; empty: all
  std::string board;  // a board file or shipped board, with modelled times; empty: here
  std::string method;  // empty: the usual search
  /// Runs of each task on this machine, beside the others; none: 200. 0: layers' worst times.
  std::optional<std::int64_t> samples;
  std::vector<std::string> plugins;  // with functions of tasks
  std::uint64_t seed = 1;
  Options options;
};

struct GroupInfo {
  std::string name;
  std::vector<TensorInfo> inputs, outputs;  // of its model; empty: it has none
  bool is_application = false;
  Duration period{}, deadline{};
  std::optional<Duration> bound;  // of its response, in the first scenario; none: not active
};

/// What was proven of a chain, in the first scenario at its highest level; none: no bound.
struct ChainInfo {
  std::string name;
  std::optional<Duration> reaction, age;
};

/// What became of a frame of a group.
struct GroupResult {
  std::string group;
  std::int64_t frame = 0;  // of those that were released, from 0
  std::int64_t input = 0;  // the number of the submitted frame or picture; -1: it has edges alone
  std::string source = {};  // the picture's name, if the group reads its own input
  bool repeated = false;   // no newer one had come, so it was used again
  Frame outputs;      // of a model
  Findings findings;  // of an application
  std::chrono::steady_clock::time_point arrived{}, due{}, released{}, end{};
  Duration response{}, deadline{};  // from `due`
  std::optional<Duration> bound;  // that was proven for the response
  bool missed = false;                 // its deadline
};

/// How frames of the program meet the moments at which a group's frames are due.
enum class InputPolicy {
  newest,  // a newer one takes the place of one that waits
  every,   // they wait in line, up to eight; submit() waits for room
};

struct RunOptions {
  std::string scenario;               // to begin with; empty: the first
  std::optional<std::int64_t> level;  // none: the highest
  InputPolicy input = InputPolicy::newest;
  /// Groups that read the cameras or files that their applications name, each by its own policy.
  /// The program feeds the others.
  std::vector<std::string> own_inputs;
  /// A folder: each group with an application writes its results there, too; empty: none does.
  std::string output;
  std::vector<std::string> plugins;  // with functions of tasks
  Options options;
};

/// Frames that were due are done or skipped; those submitted were used, overwritten or waited.
struct GroupReport {
  std::string group;
  std::int64_t due = 0, done = 0, skipped = 0, missed = 0;  // missed: their deadlines
  /// Pictures of a group's own inputs: those that came, and those that their policy dropped.
  std::int64_t submitted = 0, overwritten = 0;
  std::int64_t repeated = 0;     // done with an input that had been used before
  std::int64_t without_input = 0;  // done before the first was submitted: no result
  std::int64_t undelivered = 0;    // results that the callback was too slow for
  std::string kept = {};           // what was written, such as "5 lines in out/front.jsonl"
  Duration largest_response{}, longest_held{};
  std::int64_t held = 0, overruns = 0;  // frames that waited for the budget, or took more of it
};

/// What was seen of a chain in a scenario at a level, and its bounds there.
struct ChainReport {
  std::string name, scenario;
  std::int64_t level = 0, frames = 0;
  Duration largest_age{}, largest_reaction{};
  std::optional<Duration> age_bound, reaction_bound;
};

/// Frames of the groups, in real time. Copies are one run; the last one ends it. Any thread.
class DeploymentRun {
 public:
  /// A tensor for each input of the group's model; its memory is shared. False: the run has ended.
  /// Error if the group has no model, or the frame does not fit.
  bool submit(const std::string& group, const Frame& frame);
  /// The same of an application.
  bool submit(const std::string& group, const Image& image);
  /// Frames on their way end first. Error if there is no such scenario or level; none: the highest.
  void switch_to(const std::string& scenario, std::optional<std::int64_t> level);
  /// Waits for the frames on their way, and for the callback. The same each time. Rethrows the
  /// first error of a group, or of the callback.
  std::vector<GroupReport> stop();
  /// The same for chains: of those in which all groups were due.
  std::vector<ChainReport> stop_chains();

 private:
  friend struct Access;
  struct Impl;
  explicit DeploymentRun(std::shared_ptr<void> impl) : impl_(std::move(impl)) {}
  Impl* impl() const { return static_cast<Impl*>(impl_.get()); }
  std::shared_ptr<void> impl_;  // an Impl
};

/// Never changes, and copies share it: any thread may use any copy.
class Deployment {
 public:
  /// Error names file and field.
  static Deployment from_file(const std::string& path);
  static Deployment from_file(const std::string& path, const Options& options);
  void write(const std::string& path) const;

  std::vector<GroupInfo> groups() const;
  std::vector<std::string> scenarios() const;
  std::vector<ChainInfo> chains() const;

  /// Starts it on this machine, with real-time priorities if the system grants them. Results of all
  /// groups go to `take`: those of a group in order, each group on an ordinary thread of its own,
  /// so several threads call it at once. Only groups with a model have results.
  DeploymentRun start(std::function<void(GroupResult)> take) const;
  DeploymentRun start(std::function<void(GroupResult)> take, const RunOptions& options) const;

 private:
  friend struct Access;
  struct Impl;
  explicit Deployment(std::shared_ptr<const void> impl) : impl_(std::move(impl)) {}
  const Impl* impl() const { return static_cast<const Impl*>(impl_.get()); }
  std::shared_ptr<const void> impl_;  // an Impl
};

/// Plans for all groups, with priorities and proven response times. Error of kind infeasible if
/// deadlines cannot be kept. Any thread.
Deployment deploy(const System& system);
Deployment deploy(const System& system, const DeployRequest& request);
/// The same of a system's file (docs/deadlines.md).
Deployment deploy(const std::string& system_file);
Deployment deploy(const std::string& system_file, const DeployRequest& request);

}  // namespace v1
}  // namespace millrace
