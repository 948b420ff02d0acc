#include "realtime/utilisation.h"

#include <fmt/format.h>

#include <numeric>

#include "realtime/checked.h"
#include "realtime/structure.h"

namespace millrace::realtime {
namespace {

/// A sum of fractions, exact while it fits into 128 bits, else rounded.
class Sum {
 public:
  void add(Time work, Time period) {
    value_ += static_cast<long double>(work.count()) / static_cast<long double>(period.count());
    if (!exact_) return;
    const __int128 divisor = gcd(over_, period.count());
    const __int128 factor = period.count() / divisor;
    if (over_ > limit / factor) {
      exact_ = false;
      return;
    }
    top_ = top_ * factor + work.count() * (over_ / divisor);
    over_ *= factor;
  }
  bool exceeds_one() const { return exact_ ? top_ > over_ : value_ > 1; }
  double value() const { return static_cast<double>(value_); }

 private:
  static constexpr __int128 limit = static_cast<__int128>(1) << 70;
  static __int128 gcd(__int128 a, __int128 b) { return b == 0 ? a : gcd(b, a % b); }

  long double value_ = 0;
  __int128 top_ = 0, over_ = 1;
  bool exact_ = true;
};

/// All that a limit allows.
EventModel begun_events(const Flow& flow) {
  return flow.limit ? limited_events(*flow.limit) : flow.events;
}

void use_table(const TaskSystem& system, const Resource& resource, const Structure& structure,
               Utilisation& found) {
  std::vector<TaskId> too_slow;
  Time cycle{};
  for (const Slot& slot : resource.table) cycle += slot.length;
  for (TaskId task : found.tasks) {
    Time own{};
    for (const Slot& slot : resource.table)
      if (slot.task == task) own += slot.length;
    const EventModel events = begun_events(system[structure.flow_of[task.index]]);
    const __int128 needed =
        static_cast<__int128>(system[task].worst.count()) * events.burst * cycle.count();
    if (needed > static_cast<__int128>(events.period.count()) * own.count())
      too_slow.push_back(task);
  }
  found.is_overloaded = !too_slow.empty();
  if (found.is_overloaded) found.tasks = too_slow;
}

}  // namespace

std::vector<Utilisation> utilisations(const TaskSystem& system) {
  const Structure structure = structure_of(system);
  std::vector<Utilisation> result;
  for (std::size_t r = 0; r < system.resources.size(); ++r) {
    Sum sum;
    for (TaskId task : structure.on[r]) {
      const EventModel events = begun_events(system[structure.flow_of[task.index]]);
      sum.add(times(system[task].worst, events.burst), events.period);
    }
    Utilisation found{sum.value(), sum.exceeds_one(), structure.on[r]};
    if (system.resources[r].policy == SchedulingPolicy::table)
      use_table(system, system.resources[r], structure, found);
    result.push_back(found);
  }
  return result;
}

std::string overload_text(const TaskSystem& system, ResourceId resource,
                          const Utilisation& utilisation) {
  std::string names;
  for (TaskId task : utilisation.tasks)
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", system[task].name);
  if (system[resource].policy == SchedulingPolicy::table)
    return fmt::format("resource '{}': the slots of {} are too short for the period",
                       system[resource].name, names);
  return fmt::format("resource '{}' has utilisation {:.3f}, more than 1; its tasks are {}",
                     system[resource].name, utilisation.share, names);
}

void check_not_overloaded(const TaskSystem& system) {
  const auto found = utilisations(system);
  for (std::size_t r = 0; r < found.size(); ++r)
    if (found[r].is_overloaded)
      throw InputError("the task system", overload_text(system, ResourceId(r), found[r]));
}

}  // namespace millrace::realtime
