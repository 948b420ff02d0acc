#include "realtime/files/task_file.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "realtime/checked.h"
#include "realtime/files/fields.h"

namespace millrace::realtime {
namespace {

constexpr std::array<std::pair<std::string_view, std::int64_t>, 4> units{
    {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}}};

TimeUnit unit_of(const YamlView& root) {
  if (!root.has("unit")) return {};
  const std::string name = root.at("unit").scalar();
  for (const auto& [word, ticks] : units)
    if (name == word) return {name, ticks};
  root.at("unit").fail(fmt::format("found '{}', expected ns, us, ms or s", name));
}

bool is_tool_form(const YamlView& root) {
  if (root.has("scheduler")) return true;
  if (!root.has("flows")) return false;
  const auto flows = root.at("flows").items();
  return !flows.empty() && flows.front().is_map() && flows.front().has("steps");
}

TimeUnit unit_of_tool(const YamlNode& root) {
  TimeUnit unit{"", 1};
  for (int n = decimals_of(root); n > 0; --n) unit.ticks *= 10;
  return unit;
}

void check_kind(const YamlView& root) {
  if (root.has("format") && root.at("format").integer() != 1)
    root.at("format").fail(
        fmt::format("found format {}, expected 1; a newer version of millrace may read it",
                    root.at("format").integer()));
  if (root.has("kind") && root.at("kind").scalar() != "task_system")
    root.at("kind").fail(
        fmt::format("found '{}', expected 'task_system'", root.at("kind").scalar()));
}

/// In JSON, a field that is null is absent.
YamlNode without_nulls(YamlNode node) {
  std::erase_if(node.items, [](const YamlNode& item) { return item.kind == YamlNode::Kind::none; });
  for (YamlNode& item : node.items) item = without_nulls(std::move(item));
  return node;
}

/// pyCPA and MAST number priorities in opposite directions.
std::string note_of_priorities(const YamlView& root) {
  if (!root.has("resources")) return {};
  for (const YamlView& resource : root.at("resources").items())
    if (resource.has("scheduler") && resource.at("scheduler").scalar().starts_with("SP"))
      return "a higher number is taken for a higher priority, as in MAST; in pyCPA a lower number "
             "is the higher priority unless the scheduler is told otherwise: negate the numbers of "
             "such a system";
  return {};
}

}  // namespace

std::string to_text(Time time, const TimeUnit& unit) {
  if (time == unbounded) return "none";
  const std::int64_t count = time.count(), whole = count / unit.ticks;
  std::string rest = fmt::format("{:0>{}}", std::abs(count % unit.ticks),
                                 fmt::formatted_size("{}", unit.ticks) - 1);
  if (unit.ticks == 1) rest.clear();
  while (!rest.empty() && rest.back() == '0') rest.pop_back();
  return fmt::format("{}{}{}{}", count < 0 && whole == 0 ? "-" : "", whole, rest.empty() ? "" : ".",
                     rest);
}

TaskFile task_file_of(const YamlNode& read, const std::string& file) {
  const YamlNode node = without_nulls(read);
  const YamlView root(node, file);
  if (!root.is_map()) root.fail("expected a map with 'resources' and 'flows'");
  TaskFile result;
  if (is_tool_form(root)) {
    result.unit = unit_of_tool(node);
    result.system = read_tool_form(root, result.unit);
    result.note = note_of_priorities(root);
  } else {
    check_kind(root);
    result.unit = unit_of(root);
    result.system = read_own_form(root, result.unit);
  }
  if (result.system.flows.empty())
    root.at(root.has("flows") ? "flows" : "tasks").fail("found none, expected one at least");
  try {
    check(result.system);
  } catch (const InputError& error) {
    throw InputError(file, error.what());
  }
  return result;
}

TaskFile read_task_file(const std::filesystem::path& path) {
  return task_file_of(read_yaml(path), path.string());
}

}  // namespace millrace::realtime
