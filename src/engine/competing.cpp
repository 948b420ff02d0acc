#include "engine/competing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>

#include "engine/combined.h"

namespace millrace::engine {
namespace {

/// What the engine adds to the list; empty: nothing.
std::string words_for(const EngineHere& engine, bool competes, bool others_reach) {
  if (competes && !others_reach) return engine.name;
  std::vector<std::string> words{engine.name};
  if (competes) words.emplace_back(on_cores);
  words.insert(words.end(), engine.processors.begin(), engine.processors.end());
  return words.size() == 1 ? std::string() : fmt::format("{}", fmt::join(words, "@"));
}

}  // namespace

// On x86, oneDNN and our kernels won everywhere but by noise: docs/evidence/comparison.md.
// Elsewhere oneDNN has references for much, and few layers were compared.
bool competes_on(std::string_view architecture, std::string_view engine) {
  return architecture != "x86_64" && engine == "onnxruntime";
}

std::string default_engines(std::string_view architecture, std::span<const EngineHere> here) {
  assert(!here.empty());
  std::string result = here.front().name;
  for (const EngineHere& engine : here.subspan(1)) {
    const bool others_reach = std::ranges::any_of(here, [&](const EngineHere& other) {
      return &other != &engine && !other.processors.empty();
    });
    const bool competes = competes_on(architecture, engine.name);
    const std::string words = words_for(engine, competes, others_reach);
    if (!words.empty()) result += "," + words;
  }
  return result;
}

}  // namespace millrace::engine
