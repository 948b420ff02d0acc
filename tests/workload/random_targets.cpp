#include "random_targets.h"

#include <string>

namespace millrace::workload {
namespace {

std::int64_t number_between(Random& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
}

}  // namespace

TileTarget random_target(Random& random, std::pair<std::int64_t, std::int64_t> scratchpad) {
  TileTarget target;
  target.may_overlap = number_between(random, 0, 1) == 0;
  target.scratchpad = Bytes{number_between(random, scratchpad.first, scratchpad.second)};
  target.run_seconds = 1e-9;
  double rate = target.bytes_per_second = 1e9;
  std::int64_t size = target.scratchpad.count;
  for (std::int64_t more = number_between(random, 0, 2); more > 0; --more) {
    size = size * number_between(random, 4, 16) / 4;
    rate /= 4;
    target.between.insert(target.between.begin(),
                          {"between" + std::to_string(more), Bytes{size}, rate});
  }
  return target;
}

}  // namespace millrace::workload
