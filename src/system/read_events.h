#pragma once
// Inside the room: the keys of a group that say when its frames come, beside its rate.
#include <nlohmann/json_fwd.hpp>

#include "base/yaml.h"
#include "system/events.h"

namespace millrace::system {

/// InputError with the place.
Events read_events(const YamlView& group);
/// What differs from periodic frames.
void add_events(nlohmann::ordered_json& group, const Events& events);

}  // namespace millrace::system
