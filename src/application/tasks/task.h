#pragma once
// Tasks of task graphs, as functions of yours: docs/taskgraphs.md has a whole example. This header
// needs nothing but the standard library.
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace millrace::application {

/// What a task is given each time that it fires. By one thread, one firing after the other.
class TaskFiring {
 public:
  /// Whose it is. Borrowed.
  struct Owner {
    const std::string& task;
    const std::map<std::string, std::string>& parameters;
    std::shared_ptr<void>& state;
  };
  struct Moment {
    std::int64_t number = 0;
    bool is_rehearsal = false, is_stopping = false;
  };
  using Inputs = std::span<const std::span<const std::byte>>;
  using Outputs = std::span<const std::span<std::byte>>;
  /// By input and by output; of each token whether it holds something, 1, or is empty, 0. Without
  /// those spans all hold something.
  struct Tokens {
    Inputs inputs;
    Outputs outputs;
    std::span<const std::span<const std::uint8_t>> filled_inputs;
    std::span<const std::span<std::uint8_t>> filled_outputs;
  };
  TaskFiring(const Owner& owner, const Moment& moment, const Tokens& tokens)
      : owner_(owner), moment_(moment), tokens_(tokens) {}

  /// The task's name in the system's file.
  const std::string& task() const { return owner_.task; }
  /// Number of this firing among the task's firings, from 0.
  std::int64_t number() const { return moment_.number; }
  /// Its outputs are thrown away: it is fired to learn how long it takes. Write no file then.
  bool is_rehearsal() const { return moment_.is_rehearsal; }
  /// The run is to end: do not wait for what comes from outside any more.
  bool is_stopping() const { return moment_.is_stopping; }

  /// All tokens that the firing consumes from an edge, or produces on an output, one behind the
  /// other. The memory holds until the function returns. std::out_of_range if there is no such one.
  template <class Number>
  std::span<const Number> input(std::size_t index) const {
    const std::span<const std::byte> bytes = checked(tokens_.inputs, index, "input");
    return {reinterpret_cast<const Number*>(bytes.data()), bytes.size() / sizeof(Number)};
  }
  template <class Number>
  std::span<Number> output(std::size_t index) const {
    const std::span<std::byte> bytes = checked(tokens_.outputs, index, "output");
    return {reinterpret_cast<Number*>(bytes.data()), bytes.size() / sizeof(Number)};
  }

  /// Whether a token of the input, from 0, holds something; who made it may have left it empty.
  bool is_filled(std::size_t input, std::size_t token) const {
    if (tokens_.filled_inputs.empty()) return true;
    const std::span<const std::uint8_t> filled = checked(tokens_.filled_inputs, input, "input");
    if (token < filled.size()) return filled[token] != 0;
    throw std::out_of_range("there is no token " + std::to_string(token));
  }
  /// The output's tokens of this firing from `first` on hold nothing. A network that would be given
  /// only such tokens does not run, and what it would make is empty too.
  void leave_empty(std::size_t output, std::size_t first) const {
    if (tokens_.filled_outputs.empty()) return;
    const std::span<std::uint8_t> filled = checked(tokens_.filled_outputs, output, "output");
    for (std::size_t token = first; token < filled.size(); ++token) filled[token] = 0;
  }

  /// Value of a key of `parameters` in the system's file; what is not there is `otherwise`.
  std::string parameter(const std::string& key, const std::string& otherwise = {}) const {
    const auto found = owner_.parameters.find(key);
    return found == owner_.parameters.end() ? otherwise : found->second;
  }
  /// What this task keeps from one firing to the next; made at the first one. Always of one type.
  template <class State>
  State& state() const {
    if (!owner_.state) owner_.state = std::make_shared<State>();
    return *static_cast<State*>(owner_.state.get());
  }

 private:
  template <class Span>
  static Span checked(std::span<const Span> spans, std::size_t index, const char* what) {
    if (index < spans.size()) return spans[index];
    throw std::out_of_range(std::string("there is no ") + what + " " + std::to_string(index) +
                            ", the task has " + std::to_string(spans.size()));
  }

  Owner owner_;
  Moment moment_;
  Tokens tokens_;
};

/// What a token is. Edges that carry another one are refused.
struct TaskPort {
  std::string type = {};                 // "uint8", "float32"; empty: whatever the edge carries
  std::vector<std::int64_t> shape = {};  // empty: one number
};

/// Changes with every change of what plug-ins see of this file.
inline constexpr std::uint64_t task_signature = 0x6d696c6c74736b02;

/// A function and what it takes. A task `blur` of a library is an object `blur_task`:
///   extern "C" const millrace::application::Task blur_task{
///       .run = blur, .inputs = {picture}, .outputs = {picture}};
struct Task {
  std::uint64_t signature = task_signature;  // read before anything else is touched
  void (*run)(const TaskFiring&) = nullptr;  // may throw
  std::vector<TaskPort> inputs = {};         // an edge for each, in the order of the file
  std::vector<TaskPort> outputs = {};        // one edge or more for each
};

/// Tasks that are linked into a program, by function.
using TaskTable = std::map<std::string, const Task*>;

}  // namespace millrace::application
