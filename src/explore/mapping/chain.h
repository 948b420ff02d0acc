#pragma once
// Partitions of a chain into contiguous parts with the least possible bottleneck (Bokhari 1988;
// Pinar, Tabak and Aykanat 2008 for processors of different kinds). Plain numbers, exact.
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace millrace::explore {

/// What each contiguous part [begin, end) costs on each kind of processor; an empty part costs 0.
class PartCosts {
 public:
  /// `row(kind, begin)` gives the costs of [begin, end) for end = begin + 1 ... items.
  PartCosts(std::size_t items, std::size_t kinds,
            const std::function<std::vector<double>(std::size_t kind, std::size_t begin)>& row);

  std::size_t items() const { return items_; }
  std::size_t kinds() const { return rows_.size(); }
  /// Costs of [begin, begin), [begin, begin + 1), ...
  const std::vector<double>& from(std::size_t kind, std::size_t begin) const {
    return rows_[kind][begin];
  }

 private:
  std::size_t items_;
  std::vector<std::vector<std::vector<double>>> rows_;  // [kind][begin][end - begin]
};

struct Part {
  std::size_t kind, begin, end;
};

/// Parts in the order of the chain, empty ones included. Of all partitions with the least
/// bottleneck, it has a small total cost.
struct ChainPartition {
  double bottleneck = 0;
  std::vector<Part> parts;
};

/// One part per entry of `kinds`, in this order. O(parts * items^2).
ChainPartition partition_in_order(const PartCosts& costs, std::span<const std::size_t> kinds);

/// The best order of `counts[kind]` processors of each kind. O(states * kinds * items^2) with
/// prod(counts + 1) states: a plain chain if all are alike, all subsets if all differ.
ChainPartition partition_in_any_order(const PartCosts& costs, std::span<const std::size_t> counts);

/// An estimate of the elementary steps that partition_in_any_order takes.
double steps_in_any_order(std::size_t items, std::span<const std::size_t> counts);

}  // namespace millrace::explore
