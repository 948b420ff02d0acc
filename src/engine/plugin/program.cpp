#include "engine/plugin/program.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/error.h"
#include "base/process/foreign_call.h"
#include "engine/plugin/transfer.h"
#include "engine/request.h"

namespace millrace::engine::plugin {

/// A program, its buffers, and the structures of calls.
struct PluginSubnet::Loaded {
  ProgramSource source;
  std::vector<std::int32_t> cores;
  MillraceLoading loading{};
  std::vector<MillraceBuffer> inputs, outputs;  // as run() gets them
  std::vector<MillraceBuffer> owned;            // of them, on the device, for what is in the host's
  MillraceRun run{};
  std::vector<MillraceLayerTime> times;

  explicit Loaded(ProgramSource from) : source(std::move(from)) {}
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  ~Loaded() {
    const Instance& instance = *source.instance;
    const ForeignCall call(instance.place("unload", source.device->name));
    for (MillraceBuffer& buffer : owned)
      if (buffer.handle != nullptr) instance.table().release(instance.handle(), &buffer);
    if (loading.program != nullptr) instance.table().unload(loading.program);
  }
};

namespace {

Bytes bytes_of(std::size_t count) { return {static_cast<std::int64_t>(count)}; }

}  // namespace

PluginSubnet::PluginSubnet(ProgramSource source, const SubnetRequest& request)
    : layers_(request.layers),
      inputs_(request.inputs),
      outputs_(plain_outputs(request)),
      device_(source.device->name),
      place_(source.instance->place("run", source.device->name)) {
  memory_.moved = memory_.moved_layer_by_layer =
      moved_layer_by_layer(*request.network, request.layers);
  if (source.device->is_absent) return;
  loaded_ = std::make_shared<Loaded>(std::move(source));
  load(request);
  check_outputs(*request.network);
  if (!loaded_->source.device->reads_host()) allocate_on_device();
}

PluginSubnet::~PluginSubnet() = default;

void PluginSubnet::load(const SubnetRequest& request) {
  const Instance& instance = *loaded_->source.instance;
  const PluginDevice& device = *loaded_->source.device;
  const std::string& blob = loaded_->source.blob;
  if (device.kind == millrace_cores)
    loaded_->cores.assign(request.processor.cores.begin(), request.processor.cores.end());
  MillraceLoading& loading = loaded_->loading;
  loading.size = sizeof(MillraceLoading);
  loading.device = device.index;
  if (!blob.empty()) loading.blob = blob.data();
  loading.blob_bytes = blob.size();
  if (blob.empty()) loading.subnet = &loaded_->source.view->subnet();
  loading.cores = loaded_->cores.data();
  loading.core_count = loaded_->cores.size();
  const std::string place = instance.place("load", device.name);
  // What does not compile ahead may compile here.
  const TimeLimit limit =
      compiles(instance.table()) ? instance.limit() : instance.limit_of_compilers();
  const std::int32_t failed = Worker().call(place, limit, [loaded = loaded_] {
    return loaded->source.instance->table().load(loaded->source.instance->handle(),
                                                 &loaded->loading);
  });
  if (failed != 0) throw EngineError(place + ": " + text_of(loading.text));
  if (loading.program == nullptr) throw EngineError(place + ": it gave no program");
  const bool on_device = !device.reads_host();
  for (const auto& [ports, buffers] : {std::pair(&inputs_, &loaded_->inputs),
                                       std::pair(&outputs_, &loaded_->outputs)})
    for (const Port& port : *ports) {
      if (!port.layout.space.empty() && port.layout.space != device.own_space())
        throw NoSuchSpace(fmt::format("{} has no memory '{}'", device_, port.layout.space));
      buffers->push_back({nullptr, static_cast<std::size_t>(port.layout.size.count),
                          on_device ? device.spaces.front().c_str() : "host", device.index, -1});
    }
  memory_.weights = bytes_of(loading.weight_bytes);
  memory_.arena = memory_.naive = bytes_of(loading.working_bytes);
}

void PluginSubnet::check_outputs(const network::Network& network) const {
  const MillraceLoading& loading = loaded_->loading;
  const std::string place = loaded_->source.instance->place("load", device_);
  if (loading.output_count != outputs_.size() || (!outputs_.empty() && loading.outputs == nullptr))
    throw EngineError(fmt::format("{}: it would write {} outputs, expected {}", place,
                                  loading.output_count, outputs_.size()));
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const std::string fault = fault_of_output(loading.outputs[i], network[outputs_[i].tensor]);
    if (!fault.empty()) throw EngineError(place + ": " + fault);
  }
}

/// What comes from the host's memory, and goes there, has a copy on the device.
void PluginSubnet::allocate_on_device() {
  const Instance& instance = *loaded_->source.instance;
  for (const auto& [ports, buffers] : {std::pair(&inputs_, &loaded_->inputs),
                                       std::pair(&outputs_, &loaded_->outputs)})
    for (std::size_t i = 0; i < ports->size(); ++i) {
      if (!(*ports)[i].layout.space.empty()) continue;
      MillraceBuffer& buffer = (*buffers)[i];
      if (instance.table().allocate(instance.handle(), &buffer) != 0 || buffer.handle == nullptr)
        throw EngineError(fmt::format("{}: {} bytes of its memory {} cannot be had",
                                      instance.place("allocate", device_), buffer.bytes,
                                      buffer.space));
      loaded_->owned.push_back(buffer);
    }
}

/// Between the caller's memory and the device's; where they are the same, the run uses it.
void PluginSubnet::move(std::span<const std::byte* const> in, std::span<std::byte* const> out,
                        bool into) {
  const Instance& instance = *loaded_->source.instance;
  const bool reads_host = loaded_->source.device->reads_host();
  const std::vector<Port>& ports = into ? inputs_ : outputs_;
  std::vector<MillraceBuffer>& buffers = into ? loaded_->inputs : loaded_->outputs;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    void* const memory = into ? const_cast<std::byte*>(in[i]) : out[i];
    if (reads_host || !ports[i].layout.space.empty()) {
      buffers[i].handle = memory;
      continue;
    }
    const MillraceBuffer host{memory, buffers[i].bytes, "host", buffers[i].device, -1};
    const MillraceBuffer& from = into ? host : buffers[i];
    const MillraceBuffer& to = into ? buffers[i] : host;
    const std::string place = instance.place("transfer", device_);
    const std::int32_t failed = worker_.call(place, instance.limit(), [loaded = loaded_, from, to] {
      return loaded->source.instance->table().transfer(loaded->source.instance->handle(), &from,
                                                       &to);
    });
    if (failed != 0) throw EngineError(place + ": it failed");
  }
}

/// Takes the outputs that the run writes where they are to be.
void PluginSubnet::take_outputs(std::span<std::byte* const> out) {
  const bool reads_host = loaded_->source.device->reads_host();
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (reads_host || !outputs_[i].layout.space.empty()) loaded_->outputs[i].handle = out[i];
}

std::int32_t PluginSubnet::run_blocking() {
  loaded_->run.done = nullptr;
  const TimeLimit limit = loaded_->source.instance->limit_of_run(*loaded_->source.device);
  return worker_.call(place_, limit, [loaded = loaded_] {
    return loaded->source.instance->table().run(loaded->loading.program, &loaded->run);
  });
}

/// On this thread, which sleeps until the event or the limit of time.
std::int32_t PluginSubnet::run_with_event() {
  MillraceRun& run = loaded_->run;
  if (!event_) event_.emplace(loaded_);
  run.done = &RunEvent::done;
  return event_->await(place_, loaded_->source.instance->limit(), [&](void* user) {
    run.user = user;
    return loaded_->source.instance->table().run(loaded_->loading.program, &run);
  });
}

void PluginSubnet::call_run() {
  MillraceRun& run = loaded_->run;
  run.size = sizeof(MillraceRun);
  run.inputs = loaded_->inputs.data();
  run.outputs = loaded_->outputs.data();
  run.times = loaded_->times.empty() ? nullptr : loaded_->times.data();
  const std::int32_t failed = loaded_->source.device->signals ? run_with_event() : run_blocking();
  if (failed != 0) throw EngineError(place_ + ": " + text_of(run.text));
}

std::shared_ptr<std::byte> PluginSubnet::allocate(const Layout& layout) {
  return loaded_ ? allocate_in(loaded_->source.instance, layout) : Subnet::allocate(layout);
}

void PluginSubnet::run(std::span<const std::byte* const> in, std::span<std::byte* const> out) {
  if (!loaded_)
    throw EngineError(device_ + " is not here; what was compiled for it runs on its board");
  if (outputs_.empty()) return;  // nobody reads what it computes
  move(in, out, true);
  take_outputs(out);
  call_run();
  if (!loaded_->source.device->reads_host()) move(in, out, false);
}

std::vector<GroupTime> PluginSubnet::run_timed(std::span<const std::byte* const> in,
                                               std::span<std::byte* const> out) {
  const bool by_layer = loaded_ && loaded_->source.device->times_layers;
  if (by_layer) loaded_->times.assign(layers_.size(), MillraceLayerTime{});
  const auto start = std::chrono::steady_clock::now();
  run(in, out);
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - start;
  std::string name = loaded_->source.instance->library().name;
  if (!by_layer) return {{layers_, std::move(name), time_from_seconds(whole.count())}};
  const std::vector<MillraceLayerTime> times = std::exchange(loaded_->times, {});
  std::vector<GroupTime> groups;
  std::vector<std::size_t> place_of(layers_.size());  // of a group, by its first layer
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const MillraceLayerTime& time = times[i];
    if (time.group > i || times[time.group].group != time.group || time.nanoseconds < 0)
      throw EngineError(place_ + ": it gave times that cannot be");
    if (time.group != i) {
      groups[place_of[time.group]].layers.push_back(layers_[i]);
      continue;
    }
    place_of[i] = groups.size();
    groups.push_back({{layers_[i]},
                      time.kernel == nullptr ? name : time.kernel,
                      time_from_seconds(static_cast<double>(time.nanoseconds) * 1e-9)});
  }
  return groups;
}

}  // namespace millrace::engine::plugin
