#include <fmt/format.h>

#include <cctype>

#include "application/jedi/import_jedi.h"

namespace millrace::application::jedi {
namespace {

/// The section that a layer is of: its name is the section's kind and number, and more behind "_".
std::size_t section_of(const std::string& layer) {
  const std::size_t digits = layer.find_first_of("0123456789");
  std::size_t number = 0;
  for (std::size_t i = digits;
       i < layer.size() && std::isdigit(static_cast<unsigned char>(layer[i])); ++i)
    number = 10 * number + static_cast<std::size_t>(layer[i] - '0');
  return number;
}

bool activates(const std::string& layer, const std::string& activation) {
  return activation != "linear" && (layer.ends_with("_" + activation) || layer.ends_with("_gate"));
}

}  // namespace

std::vector<std::size_t> last_layers(const network::darknet::Model& model,
                                     const std::vector<Stage>& stages, const Instance& instance) {
  std::vector<std::int64_t> first;  // by section, as JEDI counts
  std::int64_t count = 0;
  for (const auto& section : model.sections) {
    first.push_back(count);
    count += section.activation == "linear" ? 1 : 2;
  }
  if (stages.back().last < count - 1)
    instance.fail("cut_points", fmt::format("ends with {}, but the network's last layer is {}",
                                            stages.back().last, count - 1));
  std::vector<std::size_t> result;
  for (std::size_t s = 0; s + 1 < stages.size(); ++s) {
    const std::int64_t cut = stages[s].last;
    if (cut >= count - 1)
      instance.fail("cut_points", fmt::format("found {}, but the network's last layer is {}; "
                                              "expected a layer before it",
                                              cut, count - 1));
    std::size_t layers = 0;
    for (const network::Layer& layer : model.network.layers) {
      const std::size_t section = section_of(layer.name);
      const bool second = activates(layer.name, model.sections[section].activation);
      if (first[section] + (second ? 1 : 0) > cut) break;
      ++layers;
    }
    if (layers == 0 || layers == model.network.layers.size())
      instance.fail("cut_points", fmt::format("{} leaves a stage without layers", cut));
    result.push_back(layers - 1);
  }
  return result;
}

}  // namespace millrace::application::jedi
