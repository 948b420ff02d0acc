#include "support/darknet.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace millrace::test {
namespace {

using network::Array;
using network::Shape;

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Array array_at(const std::string& bytes, std::size_t offset, const Shape& shape) {
  network::Buffer memory({4 * network::element_count(shape)});
  if (offset + memory.bytes().size() > bytes.size()) throw std::runtime_error("outputs too short");
  std::memcpy(memory.data(), bytes.data() + offset, memory.bytes().size());
  return network::make_array(network::DataType::float32, shape, std::move(memory));
}

/// "LAYER 68 pre out 25500 offset 0 chw 255 10 10"
StoredLayer read_layer(const std::string& line, const std::string& bytes) {
  std::istringstream words(line);
  std::string word, kind;
  StoredLayer layer;
  std::size_t offset = 0;
  Shape shape{1, 0, 0, 0};
  words >> word >> layer.number >> kind >> word >> word >> word >> offset >> word >> shape[1] >>
      shape[2] >> shape[3];
  if (!words) throw std::runtime_error("cannot read: " + line);
  layer.is_head = kind == "yolo";
  layer.values = array_at(bytes, offset, shape);
  return layer;
}

/// What layer `number` gives: for the convolution before a head, what the head reads.
TensorId output_of(const formats::darknet::Model& model, const StoredLayer& stored) {
  const std::size_t number = stored.number + (stored.is_head ? 0 : 1);
  const auto& heads = model.heads.heads;
  const auto head = std::ranges::find(heads, number, &formats::darknet::Head::layer);
  if (head == heads.end()) throw std::runtime_error("the network has no such head");
  if (stored.is_head) return model.network.outputs[static_cast<std::size_t>(head - heads.begin())];
  const std::string name = "yolo" + std::to_string(number) + "_boxes";
  const auto layer = std::ranges::find(model.network.layers, name, &network::Layer::name);
  if (layer == model.network.layers.end()) throw std::runtime_error("no layer " + name);
  return layer->inputs[0];
}

}  // namespace

StoredDarknet read_stored_darknet(const std::filesystem::path& folder, const std::string& name) {
  StoredDarknet result;
  result.model = formats::darknet::read_darknet({.file = folder / (name + ".cfg")});
  network::Network& net = result.model.network;
  result.input = array_at(bytes_of(folder / (name + ".in.bin")), 0, net[net.inputs[0]].shape);
  const std::string bytes = bytes_of(folder / (name + ".out.bin"));
  std::istringstream text(bytes_of(folder / (name + ".txt")));
  for (std::string line; std::getline(text, line);)
    if (line.starts_with("LAYER ")) result.layers.push_back(read_layer(line, bytes));
  std::vector<TensorId> outputs;
  for (const StoredLayer& layer : result.layers) outputs.push_back(output_of(result.model, layer));
  net.outputs = std::move(outputs);
  return result;
}

}  // namespace millrace::test
