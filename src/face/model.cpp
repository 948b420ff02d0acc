#include "millrace/model.h"

#include <string_view>
#include <utility>

#include "application/frames/frames.h"
#include "base/error.h"
#include "engine/registry.h"
#include "face/access.h"
#include "face/call.h"
#include "face/convert.h"
#include "formats/files/model_bytes.h"
#include "network/operators.h"
#include "product/cache.h"
#include "product/open_model.h"

namespace millrace {
inline namespace v1 {
namespace {

formats::ModelSource source_of(const std::string& file, const ModelOptions& options) {
  formats::ModelSource source;
  source.file = file;
  source.shapes = options.shapes;
  for (const auto& [name, value] : options.constants)
    source.constants[name] = Access::of(value).array;
  source.size = options.size;
  source.weights = options.weights;
  source.seed = options.seed;
  return source;
}

std::string_view text_of(const ByteView& bytes) {
  return {static_cast<const char*>(bytes.data), bytes.size};
}

network::Network network_of(const ModelMemory& memory, const formats::ModelSource& source,
                            const product::Context& context) {
  formats::ModelBytes bytes{text_of(memory.model), memory.name, {}};
  for (const auto& [name, file] : memory.weights) bytes.weights[name] = text_of(file);
  if (memory.format != ModelFormat::onnx)
    return formats::darknet::read_darknet(bytes, source).network;
  formats::ModelSource asking = source;
  asking.foreign = engine::foreign_operators(product::measuring_options(context));
  return formats::read_onnx(bytes, asking);
}

Model model_of(formats::ModelSource source, network::Network network) {
  return Access::make<Model>(std::move(source),
                             std::make_shared<const network::Network>(std::move(network)));
}

}  // namespace

Model Model::from_file(const std::string& path) { return from_file(path, {}); }
Model Model::from_memory(const ModelMemory& memory) { return from_memory(memory, {}); }

Model Model::from_file(const std::string& path, const ModelOptions& options) {
  face::Call call(options.options);
  return face::guarded(call, [&] {
    const formats::ModelSource source = source_of(path, options);
    return model_of(source, product::open_model(source, call.context()));
  });
}

Model Model::from_memory(const ModelMemory& memory, const ModelOptions& options) {
  face::Call call(options.options);
  return face::guarded(call, [&] {
    if (!options.weights.empty())
      throw InputError("weights", "is a file, but the model is in memory; give the weights' bytes");
    const formats::ModelSource source = source_of(memory.name, options);
    return model_of(source, network_of(memory, source, call.context()));
  });
}

const std::string& Model::name() const { return impl()->network->name; }

std::vector<TensorInfo> Model::inputs() const {
  std::vector<TensorInfo> result;
  for (const TensorId id : impl()->network->inputs)
    result.push_back(face::info_of((*impl()->network)[id]));
  return result;
}

std::vector<TensorInfo> Model::outputs() const {
  std::vector<TensorInfo> result;
  for (const TensorId id : impl()->network->outputs)
    result.push_back(face::info_of((*impl()->network)[id]));
  return result;
}

std::vector<LayerInfo> Model::layers() const {
  std::vector<LayerInfo> result;
  for (std::size_t i = 0; i < impl()->network->layers.size(); ++i) {
    const network::Layer& layer = impl()->network->layers[i];
    const network::Cost cost = network::cost_of(*impl()->network, LayerId(i));
    result.push_back({layer.name, std::string(network::name_of(layer.op)), cost.macs,
                      cost.parameters, cost.written.count});
  }
  return result;
}

std::map<std::string, std::string> Model::metadata() const { return impl()->network->metadata; }
std::vector<Frame> read_frames(const Model& model, const FrameFiles& files) {
  return face::guarded([&] {
    application::FrameOptions options;
    options.inputs = files.inputs;
    options.resize = files.resize;
    options.bgr = files.bgr;
    options.raw = files.raw;
    options.mean = files.mean;
    options.deviation = files.deviation;
    const auto found = application::open_frames(*Access::of(model).network, options, 1);
    std::vector<Frame> frames;
    for (std::size_t f = 0; f < found.count; ++f)
      frames.push_back(face::frame_of(found.at(f).inputs));
    return frames;
  });
}

std::string Model::hash() const { return network::hash_of(*impl()->network); }

}  // namespace v1
}  // namespace millrace
