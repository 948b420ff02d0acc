#include "system/budget.h"

#include <fmt/format.h>

#include "base/error.h"
#include "system/system.h"

namespace millrace::system {

void check_budget(const Group& group) {
  const std::optional<Budget>& budget = group.budget;
  if (!budget && group.events.aperiodic)
    throw InputError(group.place,
                     fmt::format("group '{}' is aperiodic and has no budget; add 'budget_ms', as "
                                 "nothing else limits what it takes from other groups",
                                 group.name));
  if (!budget) return;
  if (budget->time <= Time{} || (budget->every && *budget->every <= Time{}))
    throw InputError(group.place,
                     fmt::format("group '{}' has {}, expected times above 0", group.name,
                                 to_text(*budget)));
}

std::string to_text(const Budget& budget) {
  const std::string every =
      budget.every ? "every " + millrace::to_text(*budget.every) : std::string("of each period");
  return fmt::format("a budget of {} {}", millrace::to_text(budget.time), every);
}

}  // namespace millrace::system
