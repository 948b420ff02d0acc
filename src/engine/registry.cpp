#include "engine/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/file.h"
#include "engine/engine_list.h"

namespace millrace::engine {

std::vector<std::string> engine_names() {
  std::vector<std::string> names;
  for (const Entry& entry : engine_list) names.emplace_back(entry.name);
  return names;
}

std::unique_ptr<Engine> make_engine(std::string_view name, const EngineOptions& options) {
  std::vector<std::string_view> known;
  for (const Entry& entry : engine_list) {
    if (entry.name == name) return entry.make(options);
    known.push_back(entry.name);
  }
  const std::string nearest = nearest_word(name, known);
  throw InputError("engine", fmt::format("there is no engine '{}' in this build; there are {}{}",
                                         name, fmt::join(known, ", "),
                                         nearest.empty() ? "" : "; did you mean " + nearest + "?"));
}

}  // namespace millrace::engine
