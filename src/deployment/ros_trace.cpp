#include "deployment/ros_trace.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace millrace::deployment {
namespace {

constexpr std::array<std::string_view, 3> kinds{"callback", "symbol", "topic"};
constexpr std::string_view blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::optional<std::int64_t> number_of(std::string_view digits) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

/// "12.000000345", without rounding.
std::optional<Time> seconds_of(std::string_view text) {
  constexpr std::size_t digits_of_nanoseconds = 9;
  const std::size_t point = text.find('.');
  const auto whole = number_of(text.substr(0, point));
  if (!whole || *whole < 0) return std::nullopt;
  std::string fraction(point == std::string_view::npos ? "" : text.substr(point + 1));
  fraction.resize(digits_of_nanoseconds, '0');
  const auto rest = number_of(fraction);
  if (!rest || *rest < 0) return std::nullopt;
  return std::chrono::seconds(*whole) + Time(*rest);
}

/// "14:12:31.123456789", perhaps after a date; or the seconds of a clock.
struct ClockTime {
  Time at{};
  bool is_of_day = false;
};
std::optional<ClockTime> clock_time(std::string_view text) {
  text = trimmed(text.substr(std::min(text.size(), text.find_last_of(blanks) + 1)));
  const std::size_t first = text.find(':');
  if (first == std::string_view::npos) {
    const auto at = seconds_of(text);
    return at ? std::optional(ClockTime{*at}) : std::nullopt;
  }
  const std::size_t second = text.find(':', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto hours = number_of(text.substr(0, first));
  const auto minutes = number_of(text.substr(first + 1, second - first - 1));
  const auto rest = seconds_of(text.substr(second + 1));
  if (!hours || !minutes || !rest) return std::nullopt;
  return ClockTime{std::chrono::hours(*hours) + std::chrono::minutes(*minutes) + *rest, true};
}

/// Where a value ends that begins at `from`: at a comma or brace outside of quotes.
std::size_t end_of_value(std::string_view text, std::size_t from) {
  bool is_quoted = false;
  for (std::size_t i = from; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      is_quoted = !is_quoted;
    } else if (!is_quoted && (text[i] == ',' || text[i] == '}')) {
      return i;
    }
  }
  return text.size();
}

std::string unquoted(std::string_view value) {
  value = trimmed(value);
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
    value = value.substr(1, value.size() - 2);
  return std::string(value);
}

/// An address without leading zeros, in small letters: 0x00F3 and 0xf3 are one.
std::string address(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (!lower.starts_with("0x")) return lower;
  const std::size_t digits = lower.find_first_not_of('0', 2);
  return digits == std::string::npos ? "0x0" : "0x" + lower.substr(digits);
}

template <class Map>
std::string found_in(const Map& map, std::string_view key) {
  const auto found = map.find(std::string(key));
  return found == map.end() ? std::string() : found->second;
}

}  // namespace

bool RosTrace::set_key(std::size_t group, const std::string& key) {
  const std::size_t equals = key.find('=');
  if (equals == std::string::npos || equals + 1 == key.size()) return false;
  const std::string kind = key.substr(0, equals), value = key.substr(equals + 1);
  if (std::ranges::find(kinds, kind) == kinds.end()) return false;
  keys_[group] = {kind, kind == "callback" ? address(value) : value};
  return true;
}

/// Times of a day begin again at midnight.
std::optional<Time> RosTrace::time_of(std::string_view text) {
  const auto found = clock_time(text);
  if (!found) return std::nullopt;
  constexpr Time day = std::chrono::hours(24);
  if (found->is_of_day && found->at + days_ + day / 2 < last_) days_ += day;
  last_ = found->at + (found->is_of_day ? days_ : Time{});
  return last_;
}

bool RosTrace::read_line(std::string_view line) {
  line = trimmed(line);
  const std::size_t end = line.find(']'), scopes = line.find(": {");
  if (!line.starts_with('[') || end == std::string_view::npos || scopes == std::string_view::npos)
    return false;
  const auto at = time_of(line.substr(1, end - 1));
  if (!at) return false;
  const std::string_view before = line.substr(0, scopes);
  const std::string event(before.substr(before.find_last_of(blanks) + 1));
  Fields fields;
  for (std::size_t i = scopes + 1; i < line.size();) {
    const std::size_t stop = end_of_value(line, i), equals = line.find('=', i);
    if (equals < stop) {
      const std::string_view key = trimmed(line.substr(i, equals - i));
      fields[std::string(key.substr(key.find_last_of("{ ") + 1))] =
          unquoted(line.substr(equals + 1, stop - equals - 1));
    }
    i = stop + 1;
  }
  learn(event, fields);
  if (event == "ros2:callback_start")
    starts_.push_back(
        {*at, found_in(fields, "vpid") + ":" + address(found_in(fields, "callback"))});
  return true;
}

/// Addresses are of a process.
void RosTrace::learn(const std::string& event, const Fields& fields) {
  const auto of = [&](const char* key) {
    return found_in(fields, "vpid") + ":" + address(found_in(fields, key));
  };
  if (event == "ros2:rcl_subscription_init")
    topics_[of("subscription_handle")] = found_in(fields, "topic_name");
  else if (event == "ros2:rclcpp_subscription_init")
    handles_[of("subscription")] = of("subscription_handle");
  else if (event == "ros2:rclcpp_subscription_callback_added")
    subscriptions_[of("callback")] = of("subscription");
  else if (event == "ros2:rclcpp_callback_register")
    symbols_[of("callback")] = found_in(fields, "symbol");
}

bool RosTrace::is_of(const std::string& callback, const Key& key) const {
  if (key.kind == "callback") return callback.substr(callback.find(':') + 1) == key.value;
  if (key.kind == "symbol")
    return found_in(symbols_, callback).find(key.value) != std::string::npos;
  return found_in(topics_, found_in(handles_, found_in(subscriptions_, callback))) == key.value;
}

std::vector<Time> RosTrace::releases(std::size_t group) const {
  std::vector<Time> result;
  const auto key = keys_.find(group);
  if (key == keys_.end()) return result;
  for (const Start& start : starts_)
    if (is_of(start.callback, key->second)) result.push_back(start.at);
  std::ranges::sort(result);
  return result;
}

}  // namespace millrace::deployment
