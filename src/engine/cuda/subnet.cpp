#include "engine/cuda/subnet.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "engine/cuda/lower/lower.h"
#include "engine/cuda/transfer.h"
#include "engine/request.h"

namespace millrace::engine::cuda {
namespace {

std::string place_of(const SubnetRequest& request) {
  std::string place = request.layers.empty() ? "a subnet without layers"
                                             : (*request.network)[request.layers.front()].name;
  if (request.layers.size() > 1) place += " and the layers after it";
  return place + " on " + request.processor.name;
}

bool is_host(const Port& port) { return port.layout.space.empty(); }

PinnedMemory pinned_for(const Driver& driver, const Port& port) {
  return is_host(port) ? PinnedMemory(driver, port.layout.size) : PinnedMemory();
}

std::size_t count_of(Bytes size) { return static_cast<std::size_t>(size.count); }

Program program_of(Gpu& gpu, const SubnetRequest& request) {
  Builder builder(gpu, request);
  const auto asked = [&](const Group& group) { return accepts(*request.network, group); };
  for (const Group& group : make_groups({request.network, request.layers, request.outputs}, asked))
    lower(builder, group);
  return builder.finish();
}

}  // namespace

CudaSubnet::CudaSubnet(std::shared_ptr<Gpu> gpu, const SubnetRequest& request)
    : gpu_(std::move(gpu)),
      space_(request.processor.name),
      place_(place_of(request)),
      inputs_(request.inputs),
      outputs_(plain_outputs(request)) {
  try {
    prepare(request);
  } catch (const EngineError& error) {
    fail(error.what());
  }
}

/// Members free their objects in the context of their GPU.
CudaSubnet::~CudaSubnet() {
  try {
    gpu_->use();
    gpu_->driver().wait_for_stream(stream_.get());
  } catch (const EngineError&) {
    // The driver is gone, and what it held with it.
  }
}

void CudaSubnet::fail(const std::string& reason) const {
  throw EngineError(place_ + ": " + reason);
}

void CudaSubnet::prepare(const SubnetRequest& request) {
  const Driver& driver = gpu_->driver();
  gpu_->use();
  program_ = program_of(*gpu_, request);
  memory_.moved = memory_.moved_layer_by_layer =
      moved_layer_by_layer(*request.network, request.layers);
  lay_out();
  stream_ = make_stream(driver);
  done_ =
      make_event(driver, gpu_->platform().settings.spins ? Wait::spinning : Wait::asleep, false);
  // Libraries load their code in the first run, which must not happen in a capture.
  {
    const std::lock_guard lock(gpu_->turns());
    start_all(false);
    check(driver, driver.wait_for_stream(stream_.get()));
    graph_ = capture(false);
  }
}

void CudaSubnet::lay_out() {
  const Driver& driver = gpu_->driver();
  const MemoryPlan plan = plan_memory(program_);
  memory_.arena = plan.arena;
  memory_.naive = plan.naive;
  arena_ = DeviceMemory(driver, plan.arena);
  for (std::size_t i = 0; i < program_.storages.size(); ++i) {
    const Storage& storage = program_.storages[i];
    if (storage.constant) memory_.weights += storage.size;
    addresses_.push_back(storage.constant
                             ? storage.constant->address()
                             : arena_.address() + static_cast<Address>(plan.offsets[i].count));
  }
  for (const Port& port : inputs_) sent_.push_back(pinned_for(driver, port));
  for (const Port& port : outputs_) received_.push_back(pinned_for(driver, port));
  for (std::size_t i = 0; i < program_.faults.size(); ++i)
    faults_.emplace_back(driver, Bytes{sizeof(int)});
}

void CudaSubnet::start_steps(bool with_events) {
  const Driver& driver = gpu_->driver();
  const Execution execution{&driver, stream_.get(), addresses_};
  std::size_t group = 0;
  const auto record = [&](std::size_t until) {
    for (; with_events && group < until; ++group)
      check(driver,
            driver.record_event_with(between_[group].get(), stream_.get(), recorded_by_graph));
  };
  for (const Step& step : program_.steps) {
    record(step.group + 1);
    step.start(execution);
  }
  record(program_.groups.size() + 1);
}

void CudaSubnet::start_all(bool with_events) {
  const Driver& driver = gpu_->driver();
  const Stream stream = stream_.get();
  for (const Value& fault : program_.faults)
    check(driver, driver.fill_later(addresses_[fault.storage], 0, sizeof(int), stream));
  start_steps(with_events);
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (is_host(outputs_[i]))
      check(driver,
            driver.copy_out_later(received_[i].data(), addresses_[program_.outputs[i].storage],
                                  count_of(outputs_[i].layout.size), stream));
  for (std::size_t i = 0; i < faults_.size(); ++i)
    check(driver, driver.copy_out_later(faults_[i].data(), addresses_[program_.faults[i].storage],
                                        sizeof(int), stream));
}

CudaSubnet::Graph CudaSubnet::capture(bool with_events) {
  const Driver& driver = gpu_->driver();
  check(driver, driver.begin_capture(stream_.get(), of_this_thread));
  GraphObject* captured = nullptr;
  try {
    start_all(with_events);
  } catch (...) {
    driver.end_capture(stream_.get(), &captured);
    if (captured != nullptr) driver.release_graph(captured);
    throw;
  }
  check(driver, driver.end_capture(stream_.get(), &captured));
  const Owned<GraphObject> graph(captured, {driver.release_graph});
  ExecutableGraphObject* executable = nullptr;
  check(driver, driver.make_executable(&executable, graph.get(), 0));
  return {executable, {driver.release_executable}};
}

void CudaSubnet::run_graph(const Graph& graph, std::span<const std::byte* const> in,
                           std::span<std::byte* const> out) {
  const Driver& driver = gpu_->driver();
  const Stream stream = stream_.get();
  gpu_->use();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Address to = addresses_[program_.inputs[i].storage];
    const std::size_t size = count_of(inputs_[i].layout.size);
    if (is_host(inputs_[i]))
      send(driver, sent_[i], {in[i], size}, {to, stream});
    else
      check(driver, driver.copy_within_later(to, address_of(in[i]), size, stream));
  }
  check(driver, driver.launch_graph(graph.get(), stream));
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (!is_host(outputs_[i]))
      check(driver,
            driver.copy_within_later(address_of(out[i]), addresses_[program_.outputs[i].storage],
                                     count_of(outputs_[i].layout.size), stream));
  check(driver, driver.record_event(done_.get(), stream));
  check(driver, driver.wait_for_event(done_.get()));
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (is_host(outputs_[i]))
      std::memcpy(out[i], received_[i].data(), count_of(outputs_[i].layout.size));
}

std::shared_ptr<std::byte> CudaSubnet::allocate(const Layout& layout) {
  return allocate_on(gpu_, space_, layout);
}

void CudaSubnet::check_faults() const {
  for (std::size_t i = 0; i < faults_.size(); ++i)
    if (*reinterpret_cast<const int*>(faults_[i].data()) != 0) fail(program_.fault_texts[i]);
}

void CudaSubnet::run(std::span<const std::byte* const> in, std::span<std::byte* const> out) {
  try {
    run_graph(graph_, in, out);
  } catch (const EngineError& error) {
    fail(error.what());
  }
  check_faults();
}

/// The GPU notes the time between groups while it runs the graph.
std::vector<GroupTime> CudaSubnet::run_timed(std::span<const std::byte* const> in,
                                             std::span<std::byte* const> out) {
  std::vector<GroupTime> times;
  try {
    gpu_->use();
    if (!timed_graph_) {
      between_.clear();
      for (std::size_t i = 0; i <= program_.groups.size(); ++i)
        between_.push_back(make_event(gpu_->driver(), Wait::asleep, true));
      const std::lock_guard lock(gpu_->turns());
      timed_graph_ = capture(true);
    }
    run_graph(timed_graph_, in, out);
    for (std::size_t i = 0; i < program_.groups.size(); ++i)
      times.push_back({program_.groups[i].layers, program_.groups[i].kernel, time_of_group(i)});
  } catch (const EngineError& error) {
    fail(error.what());
  }
  check_faults();
  return times;
}

Time CudaSubnet::time_of_group(std::size_t group) const {
  const Driver& driver = gpu_->driver();
  float milliseconds = 0;
  check(driver, driver.milliseconds_between(&milliseconds, between_[group].get(),
                                            between_[group + 1].get()));
  return time_from_seconds(static_cast<double>(milliseconds) / 1e3);
}

}  // namespace millrace::engine::cuda
