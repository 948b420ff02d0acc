#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "formats/darknet/config.h"
#include "formats/darknet/darknet.h"
#include "formats/darknet/lower.h"
#include "formats/files/model_bytes.h"
#include "formats/files/model_files.h"
#include "formats/random_weights.h"
#include "network/simplify/simplify.h"

namespace millrace::formats::darknet {
namespace {

constexpr const char* input_name = "data";

/// N, C, H, W: of the file, unless the options say otherwise.
Shape input_shape(const Section& net, const ModelSource& source) {
  Shape shape{1, net.integer("channels", 3), 0, 0};
  for (const auto& [name, given] : source.shapes) {
    if (name != input_name)
      throw InputError("⟨shape⟩ " + name,
                       fmt::format("there is no input of this name; the network's "
                                   "is '{}'",
                                   input_name));
    const bool fits = given.size() == 4 && given[1] == shape[1] &&
                      std::ranges::all_of(given, [](std::int64_t size) { return size > 0; });
    if (!fits)
      throw InputError("⟨shape⟩ " + name,
                       fmt::format("found {}, expected the batch, {} channels, height and width",
                                   to_text(given), shape[1]));
    return given;
  }
  shape[2] = source.size.value_or(0);
  shape[3] = source.size.value_or(0);
  if (source.size) return shape;
  return {1, shape[1], net.needed("height"), net.needed("width")};
}

/// The last layer that computes something for who uses the network.
TensorId last_output(Reading& reading) {
  std::size_t last = reading.count();
  while (last > 0 && reading.sections()[last].kind() == "cost") --last;
  return last == 0 ? reading.network().inputs.front() : reading.output_of(last - 1);
}

std::vector<SectionShape> shapes_of(const Reading& reading) {
  std::vector<SectionShape> result;
  for (std::size_t i = 0; i < reading.count(); ++i) {
    const Section& section = reading.sections()[i + 1];
    result.push_back({section.kind(), section.line(), reading.shape(reading.output_of(i)),
                      section.text("activation", "linear")});
  }
  return result;
}

Heads heads_of(const Section& net, Reading& reading) {
  const Shape& image = reading.network()[reading.network().inputs[0]].shape;
  return {image[3], image[2], net.flag("letter_box"), std::move(reading.heads())};
}

std::optional<WeightFile> weight_file(const std::filesystem::path& path) {
  if (path.empty()) return std::nullopt;
  return WeightFile(path);
}

Model read_with(std::optional<WeightFile> weights, std::string_view text, const std::string& name,
                const ModelSource& source) {
  std::vector<Section> sections = parse_config(text, name);
  const Section net = sections.front();
  Reading reading(std::move(sections), weights && weights->is_transposed());
  reading.add_input(input_name, input_shape(net, source));
  lower_sections(reading);
  Network& network = reading.network();
  if (network.outputs.empty()) network.outputs.push_back(last_output(reading));
  if (weights)
    weights->fill(network, reading.wanted());
  else
    fill_seeded(network, reading.wanted(), source.seed);
  Model model;
  model.heads = heads_of(net, reading);
  model.sections = shapes_of(reading);
  if (!weights && !reading.wanted().empty())
    network.metadata[random_weights_key] = fmt::format("no .weights file, seed {}", source.seed);
  network.name = name;
  model.network = network::simplify(std::move(network));
  for (std::size_t i = 0; i < model.heads.heads.size(); ++i)
    model.heads.heads[i].output = model.network[model.network.outputs[i]].name;
  return model;
}

}  // namespace

Model read_darknet(std::string_view text, const std::string& name, const ModelSource& source) {
  return read_with(weight_file(source.weights), text, name, source);
}

Model read_darknet(const ModelBytes& bytes, const ModelSource& source) {
  std::optional<WeightFile> weights;
  if (bytes.weights.size() > 1)
    throw InputError(bytes.name, fmt::format("{} files of weights are given, expected one at most",
                                             bytes.weights.size()));
  for (const auto& [name, file] : bytes.weights) weights.emplace(file, name);
  return read_with(std::move(weights), bytes.model, bytes.name, source);
}

Model read_darknet(const ModelSource& source) {
  const std::filesystem::path path = source.file;
  ModelSource all = source;
  all.weights = darknet_weights(source);
  Model model = read_darknet(read_file(path), path.string(), all);
  model.network.name = path.stem().string();
  return model;
}

Heads read_heads(const ModelSource& source) {
  std::vector<Section> sections = parse_config(read_file(source.file), source.file);
  const Section net = sections.front();
  Reading reading(std::move(sections), false);
  reading.add_input(input_name, input_shape(net, source));
  lower_sections(reading);
  return heads_of(net, reading);
}

}  // namespace millrace::formats::darknet
