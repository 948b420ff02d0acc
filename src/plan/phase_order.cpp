#include "plan/phase_order.h"

#include <map>
#include <set>
#include <utility>

namespace millrace::plan {
namespace {

using Key = std::pair<std::size_t, std::size_t>;  // stage, phase

Key key_of(const Endpoint& end) { return {end.stage, end.phase}; }

}  // namespace

std::vector<Endpoint> phase_order(const Plan& plan) {
  std::map<Key, std::size_t> waiting_for;
  std::multimap<Key, Key> behind;
  const auto add = [&](const Key& from, const Key& to) {
    behind.emplace(from, to);
    ++waiting_for[to];
  };
  for (std::size_t s = 0; s < plan.stages.size(); ++s)
    for (std::size_t p = 0; p < plan.stages[s].phases.size(); ++p) {
      waiting_for.try_emplace({s, p}, 0);
      if (p > 0) add({s, p - 1}, {s, p});
    }
  for (const Channel& channel : plan.channels)
    if (!channel.from.is_outside() && !channel.to.is_outside())
      add(key_of(channel.from), key_of(channel.to));
  std::set<Key> ready;
  for (const auto& [key, count] : waiting_for)
    if (count == 0) ready.insert(key);
  std::vector<Endpoint> order;
  while (!ready.empty()) {
    const Key next = *ready.begin();
    ready.erase(ready.begin());
    order.push_back({next.first, next.second});
    const auto [begin, end] = behind.equal_range(next);
    for (auto reader = begin; reader != end; ++reader)
      if (--waiting_for[reader->second] == 0) ready.insert(reader->second);
  }
  return order;
}

}  // namespace millrace::plan
