// The residence of a Markov chain: how often it is in which scenario.
#include <numeric>

#include "system/system.h"

namespace millrace::system {
namespace {

using Row = std::vector<double>;

/// By scenario: the probabilities of the next one.
std::vector<Row> probabilities(const System& system) {
  const std::size_t count = system.scenarios.size();
  std::vector<Row> result(count, Row(count, 0));
  Row left(count, 1);
  std::vector<std::size_t> open(count, 0);
  for (const Transition& transition : system.transitions)
    if (transition.probability)
      left[transition.from.index] -= *transition.probability;
    else
      ++open[transition.from.index];
  for (const Transition& transition : system.transitions) {
    const std::size_t from = transition.from.index;
    const double evenly = open[from] == 0 ? 0 : left[from] / static_cast<double>(open[from]);
    result[from][transition.to.index] += transition.probability.value_or(evenly);
  }
  for (std::size_t s = 0; s < count; ++s)  // where nothing leads away, it stays
    if (std::accumulate(result[s].begin(), result[s].end(), 0.0) == 0) result[s][s] = 1;
  return result;
}

std::vector<Row> squared(const std::vector<Row>& step) {
  std::vector<Row> result(step.size(), Row(step.size(), 0));
  for (std::size_t from = 0; from < step.size(); ++from) {
    double sum = 0;
    for (std::size_t by = 0; by < step.size(); ++by)
      for (std::size_t to = 0; to < step.size(); ++to)
        result[from][to] += step[from][by] * step[by][to];
    for (double one : result[from]) sum += one;
    for (double& one : result[from]) one /= sum;
  }
  return result;
}

/// The stationary distribution from the first scenario on. Half of each step stays, so that chains
/// that only alternate settle as well; by squaring, so that rare transitions count in full.
Row residence(std::vector<Row> step) {
  constexpr int squarings = 60;
  for (std::size_t s = 0; s < step.size(); ++s) {
    for (double& one : step[s]) one /= 2;
    step[s][s] += 0.5;
  }
  for (int n = 0; n < squarings; ++n) step = squared(step);
  return step[0];
}

}  // namespace

std::vector<double> shares(const System& system) {
  const std::size_t count = system.scenarios.size();
  bool has_shares = false, has_probabilities = false;
  for (const Scenario& scenario : system.scenarios) has_shares |= scenario.share.has_value();
  for (const Transition& transition : system.transitions)
    has_probabilities |= transition.probability.has_value();
  if (has_shares) {
    Row result;
    for (const Scenario& scenario : system.scenarios) result.push_back(scenario.share.value_or(0));
    return result;
  }
  if (has_probabilities) return residence(probabilities(system));
  return Row(count, 1.0 / static_cast<double>(count));
}

}  // namespace millrace::system
