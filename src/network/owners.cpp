#include "network/owners.h"

#include <fmt/format.h>

#include <map>

namespace millrace::network {

std::string owners_text(const Network& network) {
  constexpr std::size_t most_named = 5;
  std::map<std::string, std::size_t> layers;  // by operator
  std::string owner;
  for (const Layer& layer : network.layers) {
    const auto* opaque = std::get_if<Opaque>(&layer.op);
    if (opaque == nullptr) continue;
    ++layers[opaque->name];
    owner = opaque->owner->name();
  }
  if (layers.empty()) return {};
  std::string text;
  std::size_t named = 0;
  for (const auto& [op, count] : layers) {
    if (++named > most_named) break;
    text += fmt::format("{}{} ({} layer{})", named == 1 ? "" : ", ", op, count,
                        count == 1 ? "" : "s");
  }
  if (layers.size() > most_named)
    text += fmt::format(" and {} more operators", layers.size() - most_named);
  return fmt::format("{} computes {}; the reference of verify asks it too", owner, text);
}

}  // namespace millrace::network
