#include "builder.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "failure.h"

namespace millrace_tensorrt {
namespace {

using nvinfer1::DataType;

/// A network and all that it is made with.
struct Parsed {
  Log log;
  std::unique_ptr<nvinfer1::IBuilder> builder;
  std::unique_ptr<nvinfer1::INetworkDefinition> network;
  std::unique_ptr<nvonnxparser::IParser> parser;
  bool is_read = false;

  Parsed(const Library& library, const MillraceSubnet& subnet) {
    constexpr std::uint32_t explicit_batch = 1;  // the only kind since version 10
    builder = library.make_builder(log);
    network.reset(builder->createNetworkV2(explicit_batch));
    if (network == nullptr) throw SdkFailure("TensorRT gives no network: " + log.take("no reason"));
    parser = library.make_parser(*network, log);
    is_read = parser->parse(subnet.onnx, subnet.onnx_bytes);
  }
};

/// "#3#conv1" is of layer 3.
std::optional<std::size_t> layer_in(std::string_view name) {
  if (!name.starts_with('#')) return std::nullopt;
  std::size_t layer = 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), layer);
  if (error != std::errc{} || end == name.data() + name.size() || *end != '#') return std::nullopt;
  return layer;
}

/// The subnet's node that a name of the parser or of a layer belongs to; else the first.
std::size_t node_of(const MillraceSubnet& subnet, std::string_view name) {
  for (std::size_t i = 0; i < subnet.node_count; ++i)
    if (name.starts_with(subnet.nodes[i].name)) return i;
  return 0;
}

Answer refusal(const Parsed& parsed, const MillraceSubnet& subnet) {
  if (parsed.parser->getNbErrors() == 0)
    return {millrace_no_operator, 0, "TensorRT's parser refuses it and gives no reason"};
  const nvonnxparser::IParserError& error = *parsed.parser->getError(0);
  const int node = error.node();
  const bool is_known = node >= 0 && static_cast<std::size_t>(node) < subnet.node_count;
  return {millrace_no_operator, is_known ? static_cast<std::size_t>(node) : 0, error.desc()};
}

std::unique_ptr<nvinfer1::IBuilderConfig> config_of(Parsed& parsed, const Target& target) {
  std::unique_ptr<nvinfer1::IBuilderConfig> config(parsed.builder->createBuilderConfig());
  if (config == nullptr) throw SdkFailure("TensorRT gives no configuration");
  if (target.dla < 0) return config;
  config->setDefaultDeviceType(nvinfer1::DeviceType::kDLA);
  config->setDLACore(target.dla);
  return config;
}

std::int32_t precision_of(const MillraceSubnet& subnet, const char* name) {
  const std::optional<std::size_t> layer = layer_in(name);
  return layer && *layer < subnet.layer_count ? subnet.layers[*layer].precision : millrace_f32;
}

bool is_real(const nvinfer1::ILayer& layer) {
  for (int i = 0; i < layer.getNbOutputs(); ++i)
    if (layer.getOutput(i)->getType() == DataType::kINT32 ||
        layer.getOutput(i)->getType() == DataType::kBOOL)
      return false;
  return true;
}

/// Each layer in the precision that is asked for.
void set_precisions(Parsed& parsed, nvinfer1::IBuilderConfig& config,
                    const MillraceSubnet& subnet) {
  bool halves = false, bytes = false;
  for (int i = 0; i < parsed.network->getNbLayers(); ++i) {
    nvinfer1::ILayer& layer = *parsed.network->getLayer(i);
    if (layer.getType() == nvinfer1::LayerType::kCONSTANT || !is_real(layer)) continue;
    const std::int32_t precision = precision_of(subnet, layer.getName());
    halves = halves || precision == millrace_f16;
    bytes = bytes || precision == millrace_int8_products;
    layer.setPrecision(precision == millrace_f16             ? DataType::kHALF
                       : precision == millrace_int8_products ? DataType::kINT8
                                                             : DataType::kFLOAT);
  }
  if (halves) config.setFlag(nvinfer1::BuilderFlag::kFP16);
  if (bytes) config.setFlag(nvinfer1::BuilderFlag::kINT8);
  if (halves || bytes) config.setFlag(nvinfer1::BuilderFlag::kPREFER_PRECISION_CONSTRAINTS);
}

/// TensorRT's ranges are symmetric.
void set_range(nvinfer1::ITensor* tensor, const std::map<std::string_view, float>& largest) {
  if (tensor == nullptr) return;
  const auto range = largest.find(tensor->getName());
  if (range != largest.end()) tensor->setDynamicRange(-range->second, range->second);
}

void set_ranges(nvinfer1::INetworkDefinition& network, const MillraceSubnet& subnet) {
  std::map<std::string_view, float> largest;
  for (std::size_t i = 0; i < subnet.tensor_count; ++i) {
    const MillraceTensor& tensor = subnet.tensors[i];
    const float bound = std::max(std::fabs(tensor.low), std::fabs(tensor.high));
    if (bound > 0) largest[tensor.name] = bound;
  }
  for (int i = 0; i < network.getNbInputs(); ++i) set_range(network.getInput(i), largest);
  for (int i = 0; i < network.getNbLayers(); ++i)
    for (int k = 0; k < network.getLayer(i)->getNbOutputs(); ++k)
      set_range(network.getLayer(i)->getOutput(k), largest);
}

bool wants_int8(const MillraceSubnet& subnet) {
  return std::any_of(subnet.layers, subnet.layers + subnet.layer_count, [](const auto& layer) {
    return layer.precision == millrace_int8_products;
  });
}

}  // namespace

Answer can_run(const Library& library, const Target& target, const MillraceSubnet& subnet) {
  Parsed parsed(library, subnet);
  if (!parsed.is_read) return refusal(parsed, subnet);
  if (target.dla < 0) return {};
  const auto config = config_of(parsed, target);
  set_precisions(parsed, *config, subnet);
  for (int i = 0; i < parsed.network->getNbLayers(); ++i) {
    const nvinfer1::ILayer& layer = *parsed.network->getLayer(i);
    if (layer.getType() == nvinfer1::LayerType::kCONSTANT || config->canRunOnDLA(&layer)) continue;
    return {millrace_no_attribute, node_of(subnet, layer.getName()),
            "TensorRT does not run it on a DLA"};
  }
  return {};
}

std::string build(const Library& library, const Settings& settings, const Target& target,
                  const MillraceSubnet& subnet) {
  Parsed parsed(library, subnet);
  if (!parsed.is_read) throw SdkFailure(refusal(parsed, subnet).text);
  const auto config = config_of(parsed, target);
  config->setMemoryPoolLimit(nvinfer1::MemoryPoolType::kWORKSPACE, settings.workspace);
#if NV_TENSORRT_MAJOR > 8 || NV_TENSORRT_MINOR >= 6
  if (settings.level >= 0) config->setBuilderOptimizationLevel(settings.level);
#endif
  set_precisions(parsed, *config, subnet);
  if (wants_int8(subnet)) set_ranges(*parsed.network, subnet);
  const std::unique_ptr<nvinfer1::IHostMemory> engine(
      parsed.builder->buildSerializedNetwork(*parsed.network, *config));
  if (engine == nullptr)
    throw SdkFailure("TensorRT's builder fails: " + parsed.log.take("no reason given"));
  return {static_cast<const char*>(engine->data()), engine->size()};
}

}  // namespace millrace_tensorrt
