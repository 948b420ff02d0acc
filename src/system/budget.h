#pragma once
// How much of the processors' time a group may take.
#include <optional>
#include <string>

#include "base/units.h"

namespace millrace::system {

struct Group;

/// In any `every`, frames begin that take no more than `time`; others wait until enough of it comes
/// back. A frame that has begun ends; what it takes too much is missing later.
struct Budget {
  Time time{};  // of all processors together, at their highest clocks
  std::optional<Time> every = {};  // none: the period, of bursts if there are some
  bool operator==(const Budget&) const = default;
};

/// InputError with the place: a time that is not above 0, an aperiodic group without a budget.
void check_budget(const Group& group);

/// "a budget of 8.00 ms every 50.0 ms".
std::string to_text(const Budget& budget);

}  // namespace millrace::system
