#pragma once
// Origins in plan files.
#include <nlohmann/json_fwd.hpp>

#include "base/json.h"
#include "plan/origin.h"

namespace millrace::plan {

nlohmann::ordered_json to_json(const Origin& origin);
/// Options that this version does not know are passed over. InputError names the field.
Origin read_origin(const JsonView& json);

}  // namespace millrace::plan
