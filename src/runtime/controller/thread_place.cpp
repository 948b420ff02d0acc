#include "runtime/controller/thread_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "board/isolated_cores.h"
#include "runtime/scheduling/thread_priority.h"

namespace millrace::runtime {
namespace {

constexpr const char* place = "⟨core⟩";

Time longest_deadline(const system::System& system, system::GroupId group) {
  Time longest{};
  for (std::int64_t level = 0; level < system.levels; ++level)
    longest = std::max(longest, deadline_of(system, group, level));
  return longest;
}

}  // namespace

std::optional<int> core_of(const ControllerThread& thread, const std::filesystem::path& root) {
  const std::string& word = thread.core;
  if (word.empty()) return std::nullopt;
  if (thread.has_deadline)
    throw InputError(place, "found beside SCHED_DEADLINE, which the kernel gives to threads on all "
                            "cores alone; leave out one of the two");
  const std::vector<int> isolated = board::isolated_cores(root);
  if (word == "isolated" && isolated.empty())
    throw InputError(place, "this machine has no isolated core; start it with isolcpus=N, or name "
                            "a core");
  if (word == "isolated") return isolated.front();
  int core = -1;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), core);
  if (error != std::errc{} || end != word.data() + word.size() || core < 0)
    throw InputError(place, fmt::format("found '{}', expected isolated or the number of a core",
                                        word));
  return core;
}

Verdict take_place(const ControllerThread& thread, std::optional<int> core, int priority,
                   Time shortest_period) {
  if (core) board::pin_this_thread({"controller", board::ProcessorKind::cpu, {*core}});
  Verdict has_deadline = Verdict::yes();
  if (thread.has_deadline) try {
      constexpr Time most = std::chrono::milliseconds(2);
      set_deadline_of_this_thread(std::min(most, shortest_period / 5), shortest_period);
      return has_deadline;
    } catch (const EngineError& error) {
      has_deadline = Verdict::no(error.what());
    }
  if (priority > 0) set_priority_of_this_thread(priority);
  return has_deadline;
}

std::vector<Time> patience_of(const deployment::Deployment& deployment, double times) {
  std::vector<Time> patience;
  if (times <= 0) return patience;
  for (std::size_t g = 0; g < deployment.system.groups.size(); ++g) {
    Time longest{};
    for (const deployment::Setting& setting : deployment.settings)
      if (g < setting.bounds.size() && setting.bounds[g])
        longest = std::max(longest, *setting.bounds[g]);
    if (longest == Time{}) longest = longest_deadline(deployment.system, system::GroupId(g));
    patience.push_back(time_from_seconds(times * seconds(longest)));
  }
  return patience;
}

}  // namespace millrace::runtime
