#include "base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"

namespace millrace {
namespace {

std::string position(const std::string& content, std::size_t byte) {
  const auto end = content.begin() + static_cast<std::ptrdiff_t>(std::min(byte, content.size()));
  const auto line = std::count(content.begin(), end, '\n') + 1;
  const auto last = std::find(std::make_reverse_iterator(end), content.rend(), '\n');
  return fmt::format("line {}, column {}", line, end - last.base());
}

/// For messages: at most its first 80 bytes, without half a character.
std::string shortened(const nlohmann::json& value) {
  constexpr std::size_t most = 80;
  std::string text = value.dump(-1, ' ', true);
  if (text.size() <= most) return text;
  return text.substr(0, most) + "...";
}

/// Looks at the document while it is parsed: what reads it calls itself for each level.
class Watch {
 public:
  explicit Watch(std::string file) : file_(std::move(file)) {}

  bool operator()(int depth, nlohmann::json::parse_event_t event, const nlohmann::json& value) {
    using Event = nlohmann::json::parse_event_t;
    constexpr int most_levels = 64;
    if (event == Event::object_start || event == Event::array_start) {
      if (depth >= most_levels)
        throw InputError(file_, fmt::format("has values that are nested in more than {} levels; "
                                            "the file may be edited by mistake",
                                            most_levels));
      keys_.emplace_back();
    }
    if (event == Event::object_end || event == Event::array_end) keys_.pop_back();
    if (event == Event::key && !keys_.back().insert(value.get<std::string>()).second)
      throw InputError(file_, fmt::format("has the field {} twice in one object; remove one",
                                          shortened(value)));
    return true;
  }

 private:
  std::string file_;
  std::vector<std::unordered_set<std::string>> keys_;  // of each open level
};

}  // namespace

std::string JsonView::place() const { return path_.empty() ? file_ : file_ + ": " + path_; }

void JsonView::fail(const std::string& text) const { throw InputError(place(), text); }

bool JsonView::has(std::string_view key) const {
  return value_->is_object() && value_->contains(key);
}

JsonView JsonView::at(std::string_view key) const {
  if (!value_->is_object())
    fail(fmt::format("found {}, expected an object with the field '{}'", value_->type_name(), key));
  const auto found = value_->find(key);
  if (found == value_->end()) fail(fmt::format("the field '{}' is missing", key));
  return {*found, file_, fmt::format("{}{}{}", path_, path_.empty() ? "" : ".", key)};
}

std::vector<JsonView> JsonView::items() const {
  if (!value_->is_array()) fail(fmt::format("found {}, expected an array", value_->type_name()));
  std::vector<JsonView> views;
  for (std::size_t i = 0; i < value_->size(); ++i)
    views.emplace_back((*value_)[i], file_, fmt::format("{}[{}]", path_, i));
  return views;
}

std::vector<std::string> JsonView::keys() const {
  if (!value_->is_object()) fail(fmt::format("found {}, expected an object", value_->type_name()));
  std::vector<std::string> keys;
  for (const auto& [key, ignored] : value_->items()) keys.push_back(key);
  return keys;
}

bool JsonView::is_text() const { return value_->is_string(); }

std::string JsonView::text() const {
  if (!value_->is_string()) fail(fmt::format("found {}, expected a string", shortened(*value_)));
  return value_->get<std::string>();
}

std::int64_t JsonView::integer() const {
  constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();
  if (!value_->is_number_integer() ||
      (value_->is_number_unsigned() && value_->get<std::uint64_t>() > largest))
    fail(fmt::format("found {}, expected an integer of at most 64 bits", shortened(*value_)));
  return value_->get<std::int64_t>();
}

std::size_t JsonView::index(std::size_t bound) const {
  const std::int64_t value = integer();
  if (value < 0 || static_cast<std::size_t>(value) >= bound)
    fail(fmt::format("found {}, expected a number from 0 to {}", value,
                     static_cast<std::int64_t>(bound) - 1));
  return static_cast<std::size_t>(value);
}

double JsonView::number() const {
  if (!value_->is_number()) fail(fmt::format("found {}, expected a number", shortened(*value_)));
  return value_->get<double>();
}

bool JsonView::boolean() const {
  if (!value_->is_boolean())
    fail(fmt::format("found {}, expected true or false", shortened(*value_)));
  return value_->get<bool>();
}

void JsonView::only(std::span<const std::string_view> known) const {
  if (!value_->is_object()) fail(fmt::format("found {}, expected an object", value_->type_name()));
  for (const auto& [key, ignored] : value_->items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string near = did_you_mean(key, known);
    fail(fmt::format("unknown field '{}'{}", key, near.empty() ? "; remove it" : near));
  }
}

nlohmann::json read_json(const std::filesystem::path& path) {
  const std::string content = read_file(path);
  try {
    return nlohmann::json::parse(content, Watch(path.string()));
  } catch (const nlohmann::json::parse_error& error) {
    throw InputError(fmt::format("{}: {}", path.string(), position(content, error.byte)),
                     "is not valid JSON here; the file may be truncated or edited by mistake");
  } catch (const nlohmann::json::out_of_range&) {
    throw InputError(path.string(),
                     "has a number beyond 1.8e308; the file may be edited by mistake");
  }
}

void write_json(const std::filesystem::path& path, const nlohmann::json& value) {
  std::string text;
  try {
    text = json_text(value, 1, nlohmann::json::error_handler_t::strict);
  } catch (const nlohmann::json::type_error&) {
    throw InputError(path.string(),
                     "cannot hold a name that is not UTF-8 text; rename the model's file, its "
                     "folder or the layer");
  }
  write_file(path, text + "\n");
}

}  // namespace millrace
