#pragma once
// How right an application's findings are, for people and for programs.
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "application/accuracy/accuracy.h"

namespace millrace::present {

std::string accuracy_text(const application::Accuracy& accuracy);
/// In application_run and application_bench. Null if there is no ground truth.
nlohmann::json accuracy_json(const std::optional<application::Accuracy>& accuracy);

}  // namespace millrace::present
