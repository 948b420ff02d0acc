#include <fmt/format.h>

#include <numeric>
#include <optional>

#include "dataflow/analysis.h"
#include "dataflow/checked.h"
#include "dataflow/parts.h"

namespace millrace::dataflow {
namespace {

class Inconsistent : public InputError {
  using InputError::InputError;
};

/// What a channel carries while each of its actors runs through its phases once.
struct CycleRates {
  std::int64_t produced = 0, consumed = 0;
};

CycleRates cycle_rates(const Channel& channel) {
  CycleRates rates;
  const std::string place = fmt::format("channel '{}'", channel.name);
  for (std::int64_t rate : channel.production)
    rates.produced = checked_add(rates.produced, rate, place);
  for (std::int64_t rate : channel.consumption)
    rates.consumed = checked_add(rates.consumed, rate, place);
  if ((rates.produced == 0) != (rates.consumed == 0))
    throw Inconsistent(fmt::format("channel '{}'", channel.name),
                       fmt::format("is inconsistent: {} tokens are produced and {} consumed per "
                                   "cycle, so it fills up or runs dry",
                                   rates.produced, rates.consumed));
  return rates;
}

[[noreturn]] void inconsistent(const Graph& graph, const Channel& channel) {
  const CycleRates rates = cycle_rates(channel);
  throw Inconsistent(
      fmt::format("channel '{}'", channel.name),
      fmt::format("is inconsistent: no number of cycles of '{}' ({} tokens each) and '{}' ({} "
                  "tokens each) balances it together with the other channels",
                  graph[channel.from].name, rates.produced, graph[channel.to].name,
                  rates.consumed));
}

using Fractions = std::vector<std::optional<Fraction>>;

/// Gives `other` its fraction, or compares it with the one it has.
bool settle(std::optional<Fraction>& other, const Fraction& value) {
  if (!other) {
    other = value;
    return true;
  }
  return *other == value;
}

void spread(const Graph& graph, const std::vector<std::size_t>& at, std::vector<std::size_t>& open,
            Fractions& cycles) {
  const std::size_t actor = open.back();
  open.pop_back();
  for (std::size_t c : at) {
    const Channel& channel = graph.channels[c];
    const CycleRates rates = cycle_rates(channel);
    const bool forward = channel.from.index == actor;
    const std::size_t other = forward ? channel.to.index : channel.from.index;
    const auto scale = [&](std::int64_t factor, std::int64_t divisor) {
      return reduced(static_cast<__int128>(cycles[actor]->over()) * factor,
                     static_cast<__int128>(cycles[actor]->under()) * divisor,
                     fmt::format("channel '{}'", channel.name));
    };
    const Fraction value =
        forward ? scale(rates.produced, rates.consumed) : scale(rates.consumed, rates.produced);
    const bool fresh = !cycles[other].has_value();
    if (!settle(cycles[other], value)) inconsistent(graph, channel);
    if (fresh) open.push_back(other);
  }
}

/// The smallest integers in the proportions of the fractions.
void to_integers(const std::vector<std::size_t>& part, const Fractions& cycles,
                 std::vector<std::int64_t>& result, const std::string& place) {
  std::int64_t multiple = 1;
  for (std::size_t actor : part) {
    const std::int64_t under = cycles[actor]->under();
    multiple = checked_multiply(multiple, under / std::gcd(multiple, under), place);
  }
  std::int64_t common = 0;
  for (std::size_t actor : part) {
    result[actor] =
        checked_multiply(cycles[actor]->over(), multiple / cycles[actor]->under(), place);
    common = std::gcd(common, result[actor]);
  }
  for (std::size_t actor : part) result[actor] /= common;
}

}  // namespace

Verdict is_consistent(const Graph& graph) {
  try {
    repetition_vector(graph);
  } catch (const Inconsistent& error) {
    return Verdict::no(error.what());
  }
  return Verdict::yes();
}

std::vector<std::int64_t> repetition_vector(const Graph& graph) {
  validate(graph);
  for (const Channel& channel : graph.channels) cycle_rates(channel);
  const Neighbours near = neighbours(graph);
  Fractions cycles(graph.actors.size());
  std::vector<std::int64_t> result(graph.actors.size(), 1);
  for (std::size_t root = 0; root < graph.actors.size(); ++root) {
    if (cycles[root]) continue;
    cycles[root] = Fraction(1);
    std::vector<std::size_t> part, open{root};
    while (!open.empty()) {
      const std::size_t actor = open.back();
      part.push_back(actor);
      std::vector<std::size_t> at = near.outgoing[actor];
      at.insert(at.end(), near.incoming[actor].begin(), near.incoming[actor].end());
      spread(graph, at, open, cycles);
    }
    to_integers(part, cycles, result, graph.name);
  }
  return result;
}

}  // namespace millrace::dataflow
