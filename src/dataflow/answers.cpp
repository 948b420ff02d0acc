#include "dataflow/answers.h"

#include <fmt/format.h>

#include <chrono>
#include <limits>

#include "dataflow/analysis.h"

namespace millrace::dataflow {
namespace {

/// Above this many firings of an iteration, questions that execute one are not answered.
constexpr std::int64_t most_firings = 20'000'000;
/// Above these, buffers get less time, or none unless it is asked for.
constexpr std::int64_t many_firings = 20'000, too_many_firings = 100'000;

/// -1 if they exceed 64 bits.
std::int64_t firings_of(const Graph& graph, const std::vector<std::int64_t>& cycles) {
  __int128 firings = 0;
  for (std::size_t a = 0; a < cycles.size(); ++a)
    firings +=
        static_cast<__int128>(cycles[a]) * static_cast<__int128>(graph.actors[a].times.size());
  return firings > std::numeric_limits<std::int64_t>::max() ? -1
                                                            : static_cast<std::int64_t>(firings);
}

std::string deadlock_of(const Graph& graph, const Throughput& found) {
  std::string text = "deadlock:";
  for (const CycleStep& step : found.critical_cycle)
    if (step.channel.valid())
      text += fmt::format("{} '{}' waits for '{}' in channel '{}'", text.back() == ':' ? "" : ";",
                          graph[graph[step.channel].to].name, graph[step.actor].name,
                          graph[step.channel].name);
  return text;
}

void size_buffers(const Sdf3File& file, const Questions& questions, double default_s,
                  Answers& answers) {
  const Graph& graph = file.graph;
  const Throughput& most = *answers.throughput;
  SizingOptions limits;
  limits.max_time = std::chrono::duration<double>(questions.budget_s.value_or(default_s));
  if (questions.buffers) {
    std::optional<Fraction> period;
    if (!most.is_unlimited()) period = most.period();
    if (questions.throughput) period = Fraction(file.ticks) / *questions.throughput;
    answers.buffers = smallest_buffers(graph, period, limits);
    answers.buffers_wanted = true;
  }
  if (questions.pareto) answers.pareto = pareto_front(graph, limits);
}

}  // namespace

Answers answer(const Sdf3File& file, const Questions& questions) {
  Answers answers;
  const Graph& graph = file.graph;
  if (const Verdict consistent = is_consistent(graph); !consistent) {
    answers.reason = consistent.reason();
    return answers;
  }
  answers.consistent = true;
  answers.cycles = repetition_vector(graph);
  const std::int64_t firings = firings_of(graph, answers.cycles);
  const bool small = firings >= 0 && firings <= most_firings;
  if (small) {
    const Verdict live = is_live(graph);
    answers.reason = live.reason();
    answers.live = static_cast<bool>(live);
  }
  answers.throughput = throughput(graph, {.method = questions.method});
  if (!small && answers.throughput) answers.live = answers.throughput->is_live();
  if (!small && answers.throughput && !answers.live)
    answers.reason = deadlock_of(graph, *answers.throughput);
  if (!answers.live || !small || !answers.throughput) return answers;
  answers.latency = latency(graph);
  if (firings <= too_many_firings || questions.budget_s || questions.pareto)
    size_buffers(file, questions, firings > many_firings ? 0.2 : 5.0, answers);
  else
    answers.buffers_left_out = questions.buffers;
  return answers;
}

}  // namespace millrace::dataflow
