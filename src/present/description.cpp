#include "present/description.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::present {

Value Value::share(double share) { return {share, fmt::format("{:.1f} %", 100 * share)}; }

Value Value::error(double error) { return {error, fmt::format("{:.1e}", error)}; }

void put(nlohmann::json& object, std::string_view key, nlohmann::json value) {
  if (value.is_discarded()) return;
  const std::size_t end = key.find('/');
  nlohmann::json& place = object[std::string(key.substr(0, end))];
  if (end == key.npos)
    place = std::move(value);
  else
    put(place, key.substr(end + 1), std::move(value));
}

}  // namespace millrace::present
