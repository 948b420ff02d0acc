#pragma once
// What a group computes beside its network: tasks and the tokens between them, as synchronous
// dataflow (chapter 5 of J. Kim's thesis, Seoul, 2023).
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "dataflow/graph.h"
#include "formats/model_source.h"
#include "network/tensor.h"

namespace millrace::system {

/// How long one firing of a task takes on a processor at its highest clock.
struct TimesOn {
  std::string processor;  // its name, or that of a device, or a kind such as "cpu"
  Time worst{}, average{}, best{};  // all 0: to be measured, see task_times.h
  bool is_known() const { return worst > Time{}; }
  bool operator==(const TimesOn&) const = default;
};

/// The function that a task calls. Empty: the task is there for analysis only.
struct TaskCode {
  std::string plugin = {};  // the library that has it; empty: one that is named when it is run
  std::string source = {};  // the source file, for a program that is exported
  std::string function = {};
  std::map<std::string, std::string> parameters = {};  // that the function is given
  bool operator==(const TaskCode&) const = default;
};

/// A whole network that a task runs in one piece on a core, in each firing. It does not run where
/// all tokens that it would take are empty: see runtime/graph/firing.h.
struct TaskNetwork {
  formats::ModelSource model = {};
  std::int64_t batch = 1;  // that its first dimension becomes, which is 1 in the file
  std::string place = {};  // in the file
  bool operator==(const TaskNetwork&) const = default;
};

struct GraphTask {
  std::string name;
  std::vector<TimesOn> on;  // where it may run; each firing of an iteration on the same processor
  TaskCode code = {};
  std::optional<TaskNetwork> network = {};  // in place of code
  std::string place = {};  // in the file
  bool operator==(const GraphTask&) const = default;
};

/// A token as an array, dense and row-major.
struct TokenType {
  network::DataType type = network::DataType::uint8;
  network::Shape shape;  // empty: one number
  bool operator==(const TokenType&) const = default;
};

/// A FIFO between two tasks. The index after the last task stands for the group's network.
struct GraphEdge {
  std::size_t from = 0, to = 0;
  std::int64_t produces = 1, consumes = 1;  // tokens of a firing
  std::int64_t tokens = 0;                  // that are there before the first firing
  std::int64_t bytes = 0;                   // of a token; 0: not known
  std::string place = {};
  std::optional<TokenType> token = {};  // what a token is; none: not said
  /// Which output of `from` it carries, from 0; several edges may carry the same. None: the next
  /// one, in the order of the edges.
  std::optional<std::int64_t> output = {};
  bool operator==(const GraphEdge&) const = default;
};

struct TaskGraph {
  std::vector<GraphTask> tasks;
  std::vector<GraphEdge> edges;
  std::size_t network() const { return tasks.size(); }
  bool empty() const { return tasks.empty(); }
  bool operator==(const TaskGraph&) const = default;
};

inline constexpr const char* network_node = "network";

/// One firing in an iteration of the graph.
struct GraphJob {
  std::size_t task = 0;  // TaskGraph::network() stands for the network
  std::int64_t firing = 0;
  std::vector<std::size_t> after = {};  // earlier jobs of the iteration that end first
  bool operator==(const GraphJob&) const = default;
};

/// The same graph for questions of dataflow: an actor for each task, with its longest worst time,
/// and one for the network if the group has one.
dataflow::Graph dataflow_graph(const TaskGraph& graph, bool has_network);

/// How often each task fires in an iteration; the network last, if there is one.
std::vector<std::int64_t> firings(const TaskGraph& graph, bool has_network);

/// One iteration as an acyclic graph; each job comes after those that it waits for, and firings of
/// a task wait for each other. What tokens of earlier iterations allow waits for nothing.
/// Precondition: the graph has passed the system's check().
std::vector<GraphJob> unfolded(const TaskGraph& graph, bool has_network);

/// Whether a firing waits for tokens of an earlier iteration.
bool waits_for_earlier_iterations(const TaskGraph& graph);

}  // namespace millrace::system
