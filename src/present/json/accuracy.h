#pragma once
// How right an application's findings are, for programs: in application_run and application_bench.
#include <nlohmann/json.hpp>
#include <optional>

#include "application/accuracy/accuracy.h"

namespace millrace::present {

/// Null if there is no ground truth.
nlohmann::json accuracy_json(const std::optional<application::Accuracy>& accuracy);

}  // namespace millrace::present
