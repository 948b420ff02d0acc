#include "engine/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "engine/combined.h"
#include "engine/engine_list.h"

namespace millrace::engine {

std::vector<std::string> engine_names() {
  std::vector<std::string> names;
  for (const Entry& entry : engine_list) names.emplace_back(entry.name);
  return names;
}

std::vector<AbsentEngine> absent_engines() {
  std::vector<AbsentEngine> absent;
  for (const AbsentEntry& entry : absent_list)
    absent.push_back({std::string(entry.name), std::string(entry.reason)});
  return absent;
}

namespace {

const Entry& entry_of(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Entry& entry : engine_list) {
    if (entry.name == name) return entry;
    known.push_back(entry.name);
  }
  const std::string nearest = nearest_word(name, known);
  throw InputError("engine", fmt::format("there is no engine '{}' in this build; there are {}{}",
                                         name, fmt::join(known, ", "),
                                         nearest.empty() ? "" : "; did you mean " + nearest + "?"));
}

std::unique_ptr<Engine> make_one(std::string_view name, const EngineOptions& options) {
  const Entry& entry = entry_of(name);
  if (const Verdict verdict = entry.can_start(options); !verdict)
    throw EngineError(fmt::format("the engine {} cannot start: {}", name, verdict.reason()));
  return entry.make(options);
}

}  // namespace

Verdict can_start(std::string_view name, const EngineOptions& options) {
  return entry_of(name).can_start(options);
}

std::unique_ptr<Engine> make_engine(std::string_view name, const EngineOptions& options) {
  std::vector<std::unique_ptr<Engine>> engines;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find(',', begin), name.size());
    engines.push_back(make_one(name.substr(begin, end - begin), options));
    begin = end + 1;
  }
  if (engines.size() == 1) return std::move(engines.front());
  return make_combined_engine(std::move(engines));
}

std::vector<ReachedDevice> reached_devices(const EngineOptions& options) {
  std::vector<ReachedDevice> result;
  for (const Entry& entry : engine_list) {
    if (!entry.can_start(options)) continue;
    for (ReachedDevice& reached : entry.devices(options)) result.push_back(std::move(reached));
  }
  return result;
}

std::string engine_for(const network::Network& network, std::span<const LayerId> layers,
                       const board::Processor& processor) {
  std::string refusal = "there is no engine but the simulated one in this build";
  for (const Entry& entry : engine_list) {
    if (entry.name == "simulated" || !entry.can_start({})) continue;
    const auto engine = entry.make({});
    const auto refused = std::find_if(layers.begin(), layers.end(), [&](LayerId layer) {
      return !engine->supports(network, layer, processor);
    });
    if (refused == layers.end()) return engine->name();
    refusal =
        fmt::format("{} does not run layer '{}' on {}: {}", engine->name(), network[*refused].name,
                    processor.name, engine->supports(network, *refused, processor).reason());
  }
  throw InputError(network.name, "no engine computes all that is needed here: " + refusal);
}

}  // namespace millrace::engine
