#include "agreement/known_networks.h"

#include <cmath>
#include <filesystem>

#include "base/random.h"
#include "formats/read.h"
#include "formats/zoo.h"
#include "support/shared.h"

namespace millrace::test {
namespace {

constexpr std::int64_t small_input = 96;  // pixels; what pipelines do does not depend on them

/// Values in the range that keeps activations in the order of one: uniform, scaled by the fan-in.
network::Array seeded(const network::Array& like, float scale, Random& random) {
  network::Buffer memory(like.memory->size());
  const std::int64_t outer = like.shape.empty() ? 1 : std::max<std::int64_t>(like.shape[0], 1);
  const std::int64_t fan_in = std::max<std::int64_t>(network::element_count(like.shape) / outer, 1);
  const bool matrix = like.shape.size() >= 2;
  const float bound = scale * std::sqrt(6.0f / static_cast<float>(fan_in));
  float* values = reinterpret_cast<float*>(memory.data());
  for (std::int64_t i = 0; i < network::element_count(like.shape); ++i)
    values[i] = matrix ? random.uniform(-bound, bound) : random.uniform(0.5f, 1.5f);
  return network::make_array(like.type, like.shape, std::move(memory));
}

bool takes_any_size(std::string_view name) {
  return name.starts_with("yolo") || name == "csresnext50_panet" || name == "densenet201_yolo";
}

void seed_weights(network::Network& network, float scale) {
  Random random(1);
  for (network::Tensor& tensor : network.tensors)
    if (tensor.constant && tensor.type == network::DataType::float32)
      tensor.constant = seeded(*tensor.constant, scale, random);
}

}  // namespace

std::vector<KnownNetwork> known_networks() {
  std::vector<KnownNetwork> result;
  for (const formats::ZooEntry& entry : formats::zoo_entries()) {
    KnownNetwork known{std::string(entry.name), {}, {}};
    if (takes_any_size(entry.name)) known.size = small_input;
    result.push_back(std::move(known));
  }
  const auto add_light = [&](const std::string& name, float weight_scale) {
    result.push_back(
        {"light_" + name, "models/onnx_light/light_" + name + ".onnx", {}, weight_scale});
  };
  for (const char* name : {"bvlc_alexnet", "densenet121", "inception_v1", "inception_v2",
                           "squeezenet", "vgg19", "zfnet512"})
    add_light(name, 1);
  for (const char* name : {"resnet50", "shufflenet"}) add_light(name, 0.5f);
  const auto add = [&](const std::string& name, std::map<std::string, network::Shape> shapes = {}) {
    result.push_back({name, "models/onnx/" + name + ".onnx", std::move(shapes)});
  };
  for (const char* name : {"mnist_cntk", "squeezenet_fp32_cast", "squeezenet_fp16", "yolox_nano",
                           "ultraface_slim320_nopost", "FastestDet"})
    add(name);
  add("mobilenetv2_fp32_dequant", {{"input", {1, 3, 224, 224}}});
  add("mobilenet_v2_qat_maui", {{"image", {1, 3, 244, 244}}});
  return result;
}

std::string why_absent(const KnownNetwork& known) {
  if (known.file.empty() || std::filesystem::exists(shared_folder() / known.file)) return {};
  return "needs " + (shared_folder() / known.file).string() + ", which is not here";
}

network::Network load(const KnownNetwork& known) {
  if (known.file.empty())
    return formats::read_onnx(formats::zoo_model(known.name, 1, known.size), known.name, {});
  network::Network network =
      formats::read_network({.file = shared_folder() / known.file, .shapes = known.shapes});
  if (known.weight_scale > 0) seed_weights(network, known.weight_scale);
  return network;
}

}  // namespace millrace::test
