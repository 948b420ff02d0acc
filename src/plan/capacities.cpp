#include "plan/capacities.h"

#include <algorithm>
#include <map>

namespace millrace::plan {

Plan with_slots(const Plan& plan, const std::vector<std::int64_t>& capacities, std::int64_t slack) {
  Plan result = plan;
  std::map<TensorId, std::int64_t> more;
  for (const Channel& channel : plan.channels)
    if (channel.from.stage != channel.to.stage) more[channel.tensor] = slack;
  for (std::size_t c = 0; c < plan.channels.size(); ++c)
    result.channels[c].capacity = capacities[c] + more[plan.channels[c].tensor];
  return result;
}

Bytes slot_bytes(const Plan& plan, const network::Network& network) {
  std::map<TensorId, std::int64_t> slots;
  for (const Channel& channel : plan.channels) slots[channel.tensor] = channel.capacity;
  double total = 0;  // exact as far as memory goes; a file's numbers may go further
  for (const auto& [tensor, count] : slots)
    total += static_cast<double>(network[tensor].size().count) * static_cast<double>(count);
  return {static_cast<std::int64_t>(std::min(total, 9e18))};
}

}  // namespace millrace::plan
