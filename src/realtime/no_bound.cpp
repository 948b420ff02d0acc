#include "realtime/no_bound.h"

#include <fmt/format.h>

#include "realtime/utilisation.h"

namespace millrace::realtime {
namespace {

std::string place_text(const TaskSystem& system, TaskId task) {
  return fmt::format("'{}' on '{}'", system[task].name, system[system[task].resource].name);
}

std::string circle_text(const TaskSystem& system, const std::vector<TaskId>& circle) {
  std::string names;
  for (const TaskId task : circle)
    names += (names.empty() ? "" : ", ") + place_text(system, task);
  return names;
}

std::string rule_text(const TaskSystem& system, const NoBound& reason) {
  const std::string last = place_text(system, reason.last());
  const double share = utilisations(system)[system[reason.last()].resource.index].share;
  switch (reason.rule) {
    case NoBoundRule::overload:
      return fmt::format("{} and what can delay it need more than all of its time", last);
    case NoBoundRule::window:
      return fmt::format("no end is found of the busy window of {}, which is {:.2f} % busy", last,
                         100 * share);
    case NoBoundRule::growth:
      return fmt::format("the activations of {} become later because of each other, without end",
                         circle_text(system, reason.circle));
    case NoBoundRule::limit:
      return fmt::format("more activations of {} come than its budget lets begin", last);
    case NoBoundRule::rounds:
      break;
  }
  return fmt::format("the activations of {} still become later after the most rounds",
                     circle_text(system, reason.circle));
}

}  // namespace

const char* to_text(NoBoundRule rule) {
  switch (rule) {
    case NoBoundRule::overload:
      return "overload";
    case NoBoundRule::window:
      return "window";
    case NoBoundRule::growth:
      return "growth";
    case NoBoundRule::limit:
      return "limit";
    case NoBoundRule::rounds:
      break;
  }
  return "rounds";
}

std::string no_bound_text(const TaskSystem& system, const NoBound& reason) {
  const std::string rule = rule_text(system, reason);
  if (reason.chain.size() == 1) return rule;
  return fmt::format("{} waits for or is delayed by {}, and {}",
                     place_text(system, reason.first()), place_text(system, reason.chain[1]), rule);
}

}  // namespace millrace::realtime
