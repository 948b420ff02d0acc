#include "plan/capacities.h"

#include <algorithm>
#include <map>

namespace millrace::plan {

Plan with_slots(const Plan& plan, const std::vector<std::int64_t>& capacities, std::int64_t slack) {
  Plan result = plan;
  std::map<SlotsKey, std::int64_t> more;
  for (const Channel& channel : plan.channels)
    if (channel.from.stage != channel.to.stage) more[slots_key(channel)] = slack;
  for (std::size_t c = 0; c < plan.channels.size(); ++c)
    result.channels[c].capacity = capacities[c] + more[slots_key(plan.channels[c])];
  return result;
}

Bytes slot_bytes(const Plan& plan, const network::Network& network) {
  std::map<SlotsKey, std::int64_t> slots;
  for (const Channel& channel : plan.channels) slots[slots_key(channel)] = channel.capacity;
  double total = 0;  // exact as far as memory goes; a file's numbers may go further
  for (const auto& [key, count] : slots)
    total += static_cast<double>(network[key.first].size().count) * static_cast<double>(count);
  return {static_cast<std::int64_t>(std::min(total, 9e18))};
}

}  // namespace millrace::plan
