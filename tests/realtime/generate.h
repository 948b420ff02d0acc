#pragma once
// Random task sets for experiments: utilisations that are uniform over all with one sum, and
// periods. The same on every machine.
#include <vector>

#include "base/random.h"
#include "base/units.h"

namespace millrace::realtime {

/// Uniform over all `count` utilisations that are not negative and add up to `sum` (UUniFast; Bini
/// and Buttazzo 2005). Precondition: count >= 1, sum >= 0.
std::vector<double> uunifast(std::size_t count, double sum, Random& random);

/// Uniform over those of at most 1 each: UUniFast until none is above (Davis and Burns 2009).
/// InputError if none was found in a million tries, as where `sum` is near `count`.
std::vector<double> uunifast_discard(std::size_t count, double sum, Random& random);

/// The same distribution without tries, also where `sum` is near `count` (RandFixedSum; Stafford
/// 2006; Emberson, Stafford and Davis 2010). Precondition: 0 <= sum <= count, 1 <= count <= 500.
std::vector<double> rand_fixed_sum(std::size_t count, double sum, Random& random);

/// Log-uniform from `shortest` to `longest`, in whole steps of `granularity`: each order of
/// magnitude is equally likely (Emberson et al. 2010). Precondition: 0 < granularity <= shortest <=
/// longest.
Time log_uniform_period(Time shortest, Time longest, Time granularity, Random& random);

}  // namespace millrace::realtime
