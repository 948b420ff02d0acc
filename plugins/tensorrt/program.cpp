#include "program.h"

#include <cuda_runtime_api.h>

#include <charconv>

#include "failure.h"

namespace millrace_tensorrt {
namespace {

constexpr std::string_view begins_with = "millrace tensorrt 1\n";

/// A line of the text before the engine.
std::string take_line(std::string_view& blob) {
  const std::size_t end = blob.find('\n');
  if (end == std::string_view::npos) throw SdkFailure("the blob ends early; compile it again");
  std::string line(blob.substr(0, end));
  blob.remove_prefix(end + 1);
  return line;
}

std::size_t take_count(std::string_view& blob) {
  constexpr std::size_t most = 1 << 16;
  const std::string line = take_line(blob);
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), count);
  if (error != std::errc{} || end != line.data() + line.size() || count > most)
    throw SdkFailure("the blob has '" + line + "' where a number is expected; compile it again");
  return count;
}

/// ONNX's number for the type; 0: there is none here.
std::int32_t type_of(nvinfer1::DataType type) {
  switch (type) {
    case nvinfer1::DataType::kFLOAT: return millrace_float32;
    case nvinfer1::DataType::kHALF: return millrace_float16;
    case nvinfer1::DataType::kINT8: return millrace_int8;
    case nvinfer1::DataType::kUINT8: return millrace_uint8;
    case nvinfer1::DataType::kINT32: return millrace_int32;
    case nvinfer1::DataType::kBOOL: return millrace_boolean;
#if NV_TENSORRT_MAJOR >= 10
    case nvinfer1::DataType::kINT64: return millrace_int64;
#endif
    default: return 0;
  }
}

std::size_t size_of(std::int32_t type) {
  switch (type) {
    case millrace_int8: case millrace_uint8: case millrace_boolean: return 1;
    case millrace_float16: return 2;
    case millrace_int64: return 8;
    default: return 4;
  }
}

}  // namespace

std::string blob_of(const MillraceSubnet& subnet, const std::string& engine) {
  std::string blob(begins_with);
  const auto add = [&](const std::int32_t* tensors, std::size_t count) {
    blob += std::to_string(count) + "\n";
    for (std::size_t i = 0; i < count; ++i)
      blob += std::string(subnet.tensors[tensors[i]].name) + "\n";
  };
  add(subnet.inputs, subnet.input_count);
  add(subnet.outputs, subnet.output_count);
  return blob + engine;
}

Program::Program(const Library& library, const Driver& driver, const Target& target,
                 std::string_view blob)
    : driver_(driver) {
  if (!blob.starts_with(begins_with)) throw SdkFailure("the blob is not one of this plug-in");
  blob.remove_prefix(begins_with.size());
  for (std::vector<std::string>* names : {&inputs_, &output_names_})
    for (std::size_t left = take_count(blob); left > 0; --left) names->push_back(take_line(blob));
  driver_.enter();
  runtime_ = library.make_runtime(log_);
  if (target.dla >= 0) runtime_->setDLACore(target.dla);
  engine_.reset(runtime_->deserializeCudaEngine(blob.data(), blob.size()));
  if (engine_ == nullptr)
    throw SdkFailure("TensorRT cannot load the engine: " + log_.take("no reason given") +
                     "; compile it again on this GPU");
  context_.reset(engine_->createExecutionContext());
  if (context_ == nullptr)
    throw SdkFailure("TensorRT gives no context: " + log_.take("no reason given"));
  shapes_.reserve(output_names_.size());
  for (const std::string& name : output_names_) describe_output(name);
  stream_ = driver_.make_stream();
}

Program::~Program() {
  if (stream_ != nullptr) driver_.free_stream(stream_);
}

void Program::describe_output(const std::string& name) {
  const nvinfer1::Dims shape = engine_->getTensorShape(name.c_str());
  MillraceTensor tensor{};
  tensor.name = name.c_str();
  tensor.type = type_of(engine_->getTensorDataType(name.c_str()));
  tensor.rank = shape.nbDims;
  auto& sizes = shapes_.emplace_back();
  tensor.bytes = size_of(tensor.type);
  for (int i = 0; i < shape.nbDims; ++i) {
    sizes.push_back(shape.d[i]);
    tensor.bytes *= static_cast<std::size_t>(shape.d[i]);
  }
  tensor.shape = sizes.data();
  outputs_.push_back(tensor);
}

void Program::run(const MillraceBuffer* in, const MillraceBuffer* out) {
  driver_.enter();
  const auto bind = [&](const std::string& name, void* memory) {
    if (!context_->setTensorAddress(name.c_str(), memory))
      throw SdkFailure("TensorRT refuses the memory of '" + name + "': " + log_.take("no reason"));
  };
  for (std::size_t i = 0; i < inputs_.size(); ++i) bind(inputs_[i], in[i].handle);
  for (std::size_t i = 0; i < output_names_.size(); ++i) bind(output_names_[i], out[i].handle);
  if (!context_->enqueueV3(static_cast<cudaStream_t>(stream_)))
    throw SdkFailure("TensorRT's run fails: " + log_.take("no reason given"));
  driver_.wait(stream_);
}

std::size_t Program::working_bytes() const {
  return static_cast<std::size_t>(engine_->getDeviceMemorySize());
}

}  // namespace millrace_tensorrt
