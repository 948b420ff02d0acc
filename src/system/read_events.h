#pragma once
// Inside the room: the keys of a group that say when its frames come, beside its rate, and how much
// they may take.
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "base/yaml.h"
#include "system/budget.h"
#include "system/events.h"

namespace millrace::system {

/// InputError with the place.
Events read_events(const YamlView& group);
std::optional<Budget> read_budget(const YamlView& group);
void add_budget(nlohmann::ordered_json& group, const std::optional<Budget>& budget);
/// What differs from periodic frames.
void add_events(nlohmann::ordered_json& group, const Events& events);

}  // namespace millrace::system
