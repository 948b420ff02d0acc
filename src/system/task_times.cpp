#include "system/task_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "board/words.h"

namespace millrace::system {
namespace {

bool is_meant(const TimesOn& on, const board::Board& board, const board::Processor& processor) {
  const board::Device* device = device_of(board, processor);
  return processor.name == on.processor || (device != nullptr && device->name == on.processor) ||
         to_text(processor.kind) == on.processor;
}

/// A kind of processors may be of several devices, which are of different speeds.
std::vector<TimesOn> of_each_device(const TimesOn& on, const GraphTask& task,
                                    const board::Board& board) {
  std::vector<TimesOn> result;
  for (const std::size_t p : processors_of(task, on, board)) {
    const board::Device* device = device_of(board, board.processors[p]);
    const std::string& name = device == nullptr || on.processor == board.processors[p].name
                                  ? board.processors[p].name
                                  : device->name;
    if (std::ranges::find(result, name, &TimesOn::processor) == result.end())
      result.push_back({.processor = name});
  }
  if (result.size() == 1) result.front().processor = on.processor;
  return result;
}

struct MeasuredOn {
  const board::Board& board;
  const std::vector<MeasuredTimes>& times;
};

TimesOn with_times(TimesOn on, const GraphTask& task, const MeasuredOn& measured) {
  on.best = Time::max();
  for (const std::size_t p : processors_of(task, on, measured.board)) {
    const auto found = std::ranges::find(measured.times, p, &MeasuredTimes::processor);
    if (found == measured.times.end())
      throw InputError(task.place, fmt::format("task '{}' was not measured on '{}'; measure again "
                                               "with 'millrace profile'",
                                               task.name, measured.board.processors[p].name));
    on.worst = std::max(on.worst, found->worst);
    on.average = std::max(on.average, found->average);
    on.best = std::min(on.best, found->best);
  }
  return on;
}

}  // namespace

std::vector<std::size_t> processors_of(const GraphTask& task, const TimesOn& on,
                                       const board::Board& board) {
  std::vector<std::size_t> result;
  for (std::size_t p = 0; p < board.processors.size(); ++p)
    if (is_meant(on, board, board.processors[p])) result.push_back(p);
  if (result.empty())
    throw InputError(task.place, fmt::format("task '{}' names '{}', and the board '{}' has no "
                                             "processor, device or kind of this name",
                                             task.name, on.processor, board.name));
  return result;
}

std::vector<std::size_t> processors_of(const GraphTask& task, const board::Board& board) {
  std::set<std::size_t> result;
  for (const TimesOn& on : task.on)
    for (const std::size_t processor : processors_of(task, on, board)) result.insert(processor);
  return {result.begin(), result.end()};
}

bool has_times_to_measure(const GraphTask& task) {
  return std::ranges::any_of(task.on, [](const TimesOn& on) { return !on.is_known(); });
}

bool has_times_to_measure(const System& system) {
  return std::ranges::any_of(system.groups, [](const Group& group) {
    return std::ranges::any_of(group.graph.tasks,
                               [](const GraphTask& task) { return has_times_to_measure(task); });
  });
}

void fill_in(GraphTask& task, const board::Board& board, const std::vector<MeasuredTimes>& times) {
  std::vector<TimesOn> result;
  for (const TimesOn& on : task.on) {
    if (on.is_known()) {
      result.push_back(on);
      continue;
    }
    for (const TimesOn& each : of_each_device(on, task, board))
      result.push_back(with_times(each, task, {board, times}));
  }
  task.on = std::move(result);
}

}  // namespace millrace::system
