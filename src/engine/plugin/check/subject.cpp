#include "engine/plugin/check/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "engine/plugin/devices.h"

namespace millrace::engine::plugin::check {
namespace {

constexpr std::size_t margin = network::tensor_alignment;
constexpr std::byte mark{0xa5};

void fail_if(std::int32_t failed, const char* function, const char (&text)[millrace_text_size]) {
  if (failed != 0) throw EngineError(fmt::format("{}() failed: {}", function, text_of(text)));
}

formats::OnnxPart whole(const network::Network& network, std::vector<LayerId>& layers) {
  for (std::size_t i = 0; i < network.layers.size(); ++i) layers.emplace_back(i);
  return {layers, network.inputs, network.outputs};
}

std::int32_t go_on(void*, double) { return 0; }

}  // namespace

std::shared_ptr<const Instance> open(const Tested& tested) {
  const Library& library = load_library(tested.file);
  EngineOptions options;
  options.settings[library.name] = tested.settings;
  options.settings[library.name]["time_limit"] = "0";  // the parent watches
  return std::make_shared<const Instance>(library, options);
}

SubnetView view_of(const Case& test, const PluginDevice& device, const Instance& instance) {
  std::vector<LayerId> layers;
  const formats::OnnxPart part = whole(test.network, layers);
  const std::vector<board::Precision> precisions(layers.size(), precisions_of(device).front());
  return SubnetView({&test.network, part, precisions, nullptr, instance.table().onnx});
}

Answer ask(const Instance& instance, const PluginDevice& device, const SubnetView& view) {
  MillraceQuestion question{};
  question.size = sizeof question;
  question.device = device.index;
  question.subnet = &view.subnet();
  fail_if(instance.table().can_run(instance.handle(), &question), "can_run", question.text);
  return {question.reason, question.node, question.text[0] == 0 ? "" : text_of(question.text)};
}

Program::Program(const Instance& instance, const PluginDevice& device, const Case& test)
    : instance_(instance), device_(device), network_(test.network) {
  std::vector<LayerId> layers;
  const formats::OnnxPart part = whole(network_, layers);
  const std::vector<board::Precision> precisions(layers.size(), precisions_of(device).front());
  view_.emplace(Shown{&network_, part, precisions, nullptr, instance.table().onnx});
  load();
  place_buffers();
}

void Program::load() {
  const MillraceEngine& table = instance_.table();
  loading_.size = sizeof loading_;
  loading_.device = device_.index;
  loading_.subnet = &view_->subnet();
  if (compiles(table)) {
    MillraceCompilation compilation{};
    compilation.size = sizeof compilation;
    compilation.device = device_.index;
    compilation.subnet = &view_->subnet();
    compilation.progress = go_on;
    fail_if(table.compile(instance_.handle(), &compilation), "compile", compilation.text);
    loading_.blob = blob_ = compilation.blob;
    loading_.blob_bytes = compilation.blob_bytes;
    loading_.subnet = nullptr;
  }
  fail_if(table.load(instance_.handle(), &loading_), "load", loading_.text);
  if (loading_.program == nullptr) throw EngineError("load() gave no program");
}

void Program::place_buffers() {
  const bool on_device = !device_.reads_host();
  const char* const space = on_device ? device_.spaces.front().c_str() : "host";
  const auto add = [&](std::vector<MillraceBuffer>& buffers, TensorId id) {
    const auto bytes = static_cast<std::size_t>(network_[id].size().count);
    MillraceBuffer& buffer =
        buffers.emplace_back(MillraceBuffer{nullptr, bytes, space, device_.index, -1});
    if (on_device && instance_.table().allocate(instance_.handle(), &buffer) != 0)
      throw EngineError("allocate() failed");
  };
  for (const TensorId id : network_.inputs) add(inputs_, id);
  for (const TensorId id : network_.outputs) {
    add(outputs_, id);
    network::Buffer& memory =
        guarded_.emplace_back(network_[id].size() + Bytes{static_cast<std::int64_t>(2 * margin)});
    std::ranges::fill(memory.bytes(), mark);
    if (!on_device) outputs_.back().handle = memory.data() + margin;
  }
}

Program::~Program() {
  const MillraceEngine& table = instance_.table();
  inputs_.insert(inputs_.end(), outputs_.begin(), outputs_.end());
  for (MillraceBuffer& buffer : inputs_)
    if (!device_.reads_host()) table.release(instance_.handle(), &buffer);
  if (loading_.program != nullptr) table.unload(loading_.program);
  if (blob_ != nullptr) table.free_blob(blob_);
}

std::string Program::wrong_shapes() const {
  if (loading_.output_count != network_.outputs.size())
    return fmt::format("it announces {} outputs, expected {}", loading_.output_count,
                       network_.outputs.size());
  for (std::size_t i = 0; i < loading_.output_count; ++i)
    if (std::string fault = fault_of_output(loading_.outputs[i], network_[network_.outputs[i]]);
        !fault.empty())
      return fault;
  return {};
}

void Program::run_until_done(MillraceRun& run) {
  const MillraceEngine& table = instance_.table();
  if (!device_.signals) return fail_if(table.run(loading_.program, &run), "run", run.text);
  run.done = &Events::done;
  run.user = events_.user();
  const int before = events_.count();
  fail_if(table.run(loading_.program, &run), "run", run.text);
  fail_if(events_.wait_after(before), "run", run.text);
  ++runs_;
}

int Program::events_too_many() { return device_.signals ? events_.count() - runs_ : 0; }

void Program::run(const std::vector<network::Array>& inputs, MillraceLayerTime* times) {
  const MillraceEngine& table = instance_.table();
  const bool on_device = !device_.reads_host();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    void* const values = const_cast<std::byte*>(inputs[i].memory->data());
    const MillraceBuffer host{values, inputs_[i].bytes, "host", device_.index, -1};
    if (!on_device)
      inputs_[i].handle = values;
    else if (table.transfer(instance_.handle(), &host, &inputs_[i]) != 0)
      throw EngineError("transfer() failed");
  }
  MillraceRun run{};
  run.size = sizeof run;
  run.inputs = inputs_.data();
  run.outputs = outputs_.data();
  run.times = times;
  run_until_done(run);
  for (std::size_t i = 0; on_device && i < outputs_.size(); ++i) {
    const MillraceBuffer host{guarded_[i].data() + margin, outputs_[i].bytes, "host",
                              device_.index, -1};
    if (table.transfer(instance_.handle(), &outputs_[i], &host) != 0)
      throw EngineError("transfer() failed");
  }
}

Results Program::results() const {
  Results results;
  for (std::size_t i = 0; i < guarded_.size(); ++i) {
    const network::Tensor& tensor = network_[network_.outputs[i]];
    network::Buffer memory = network::Buffer::uninitialized(tensor.size());
    std::memcpy(memory.data(), guarded_[i].data() + margin,
                static_cast<std::size_t>(tensor.size().count));
    results.push_back(network::make_array(tensor.type, tensor.shape, std::move(memory)));
  }
  return results;
}

std::size_t Program::own_bytes() const {
  std::size_t bytes = loading_.blob_bytes;
  for (const network::Buffer& memory : guarded_) bytes += memory.bytes().size();
  return bytes;
}

bool Program::wrote_beyond() const {
  return std::ranges::any_of(guarded_, [](const network::Buffer& memory) {
    const auto bytes = memory.bytes();
    const auto is_other = [](std::byte each) { return each != mark; };
    return std::ranges::any_of(bytes.first(margin), is_other) ||
           std::ranges::any_of(bytes.last(margin), is_other);
  });
}

}  // namespace millrace::engine::plugin::check
