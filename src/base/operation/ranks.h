#pragma once
// One operation by several processes at once, on one machine or several: each has all of it before
// it, and does its share of what takes long.
#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

/// The processes of an operation, as one of them sees them. They exchange the same things in the
/// same order, so that all of them go the same way. One thread.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual std::size_t rank() const = 0;  // 0: the first, which measures, prints and writes
  virtual std::size_t count() const = 0;
  /// What each rank gave, by rank; waits for all of them. InputError or EngineError if one of them
  /// has failed, with what it said. RanksReleased if the first has ended.
  virtual std::vector<std::string> exchange(const std::string& own) = 0;
};

/// For all ranks but the first: there is nothing left to do.
struct RanksReleased : std::exception {
  const char* what() const noexcept override { return "the first rank has ended"; }
};

// Where no ranks are (null), the process is alone, and each of these is as for one rank.

inline bool are_several(const Ranks* ranks) { return ranks != nullptr && ranks->count() > 1; }
/// Whether it neither measures, prints nor writes.
inline bool is_follower(const Ranks* ranks) { return ranks != nullptr && ranks->rank() > 0; }

/// A follower waits until the first rank has ended; that one does not wait.
inline void wait_for_first(Ranks* ranks) {
  while (is_follower(ranks)) ranks->exchange({});
}

/// What `text` gives on the first rank; the others do not call it.
std::string of_first(Ranks* ranks, const std::function<std::string()>& text);

/// InputError if the texts of the ranks differ: "rank 1: its model is not the same as on rank 0".
void check_same(Ranks* ranks, std::string_view what, const std::string& text);

/// values(i) for each i below `count`, the same to the last bit on all ranks: each rank computes
/// every count()-th.
using Numbers = std::vector<double>;
std::vector<Numbers> shared_out(Ranks* ranks, std::size_t count,
                                const std::function<Numbers(std::size_t)>& values);
/// The same for one that computes its share at once: of these numbers, in this order.
std::vector<Numbers> shared_out_at_once(
    Ranks* ranks, std::size_t count,
    const std::function<std::vector<Numbers>(const std::vector<std::size_t>&)>& values);

}  // namespace millrace
