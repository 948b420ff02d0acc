#include "explore/mapping/chain.h"

#include <algorithm>
#include <limits>

namespace millrace::explore {
namespace {

/// The best way to distribute a prefix of the chain: smaller bottleneck first, then smaller total.
struct Best {
  double bottleneck = std::numeric_limits<double>::infinity();
  double total = 0;
  std::size_t state = 0;  // before the last part
  std::size_t kind = 0, begin = 0;

  bool better_than(const Best& other) const {
    return bottleneck != other.bottleneck ? bottleneck < other.bottleneck : total < other.total;
  }
};

using Prefixes = std::vector<Best>;  // by end

Prefixes nothing_used(std::size_t items) {
  Prefixes prefixes(items + 1);
  prefixes[0].bottleneck = 0;
  return prefixes;
}

/// One more part, on a processor of `kind`, behind each way of `before` (the state's number).
struct Extension {
  std::size_t state, kind;
};
void extend(const PartCosts& costs, const Extension& extension, const Prefixes& before,
            Prefixes& after) {
  const double limit = after.back().bottleneck;
  for (std::size_t begin = 0; begin <= costs.items(); ++begin) {
    const Best& base = before[begin];
    if (base.bottleneck > limit) continue;
    const std::vector<double>& row = costs.from(extension.kind, begin);
    for (std::size_t length = 0; length < row.size(); ++length) {
      const Best longer{std::max(base.bottleneck, row[length]), base.total + row[length],
                        extension.state, extension.kind, begin};
      if (longer.better_than(after[begin + length])) after[begin + length] = longer;
    }
  }
}

ChainPartition trace_back(const std::vector<Prefixes>& table, std::size_t state,
                          std::size_t parts) {
  ChainPartition result;
  std::size_t end = table[state].size() - 1;
  result.bottleneck = table[state][end].bottleneck;
  for (; parts > 0; --parts) {
    const Best& best = table[state][end];
    result.parts.push_back({best.kind, best.begin, end});
    end = best.begin;
    state = best.state;
  }
  std::reverse(result.parts.begin(), result.parts.end());
  return result;
}

}  // namespace

PartCosts::PartCosts(
    std::size_t items, std::size_t kinds,
    const std::function<std::vector<double>(std::size_t kind, std::size_t begin)>& row)
    : items_(items), rows_(kinds) {
  for (std::size_t kind = 0; kind < kinds; ++kind)
    for (std::size_t begin = 0; begin <= items; ++begin) {
      std::vector<double>& costs = rows_[kind].emplace_back(1, 0.0);
      if (begin == items) continue;
      const std::vector<double> longer = row(kind, begin);
      costs.insert(costs.end(), longer.begin(), longer.end());
    }
}

ChainPartition partition_in_order(const PartCosts& costs, std::span<const std::size_t> kinds) {
  std::vector<Prefixes> table{nothing_used(costs.items())};
  for (std::size_t part = 0; part < kinds.size(); ++part) {
    Prefixes after(costs.items() + 1);
    extend(costs, {part, kinds[part]}, table.back(), after);
    table.push_back(std::move(after));
  }
  return trace_back(table, kinds.size(), kinds.size());
}

ChainPartition partition_in_any_order(const PartCosts& costs, std::span<const std::size_t> counts) {
  std::vector<std::size_t> weights;  // a state is the sum of used processors times their weight
  std::size_t states = 1, parts = 0;
  for (std::size_t count : counts) {
    weights.push_back(states);
    states *= count + 1;
    parts += count;
  }
  std::vector<Prefixes> table{nothing_used(costs.items())};
  for (std::size_t state = 1; state < states; ++state) {
    Prefixes after(costs.items() + 1);
    for (std::size_t kind = 0; kind < counts.size(); ++kind) {
      if (state / weights[kind] % (counts[kind] + 1) == 0) continue;
      const std::size_t before = state - weights[kind];
      extend(costs, {before, kind}, table[before], after);
    }
    table.push_back(std::move(after));
  }
  return trace_back(table, states - 1, parts);
}

double steps_in_any_order(std::size_t items, std::span<const std::size_t> counts) {
  double states = 1;
  for (std::size_t count : counts) states *= static_cast<double>(count + 1);
  const auto length = static_cast<double>(items + 1);
  return states * static_cast<double>(counts.size()) * length * length / 2;
}

}  // namespace millrace::explore
