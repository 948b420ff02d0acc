#include "workload/executable.h"

#include <algorithm>
#include <chrono>

#include "workload/facts.h"

namespace millrace::workload {
namespace {

std::int64_t nanoseconds_now() {
  return std::chrono::duration_cast<Time>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

FastMemories::FastMemories(const Program& program)
    : buffers_(program.memories.size()), begins_(program.memories.size()) {
  for (std::size_t i = 1; i < buffers_.size(); ++i) {
    std::int64_t most = 64;
    for (const Workload& workload : program.workloads)
      most = std::max(most, needed_of(workload, i));
    buffers_[i] = network::Buffer(Bytes{most});
    begins_[i] = buffers_[i].data();
  }
}

Bytes FastMemories::size() const {
  Bytes size;
  for (const network::Buffer& buffer : buffers_) size += buffer.size();
  return size;
}

void FastMemories::fill(std::byte value) {
  for (network::Buffer& buffer : buffers_) std::fill_n(buffer.data(), buffer.size().count, value);
}

Executable::Executable(const Workload& workload, const network::Network& network,
                       const FastMemories& memories)
    : workload_(&workload),
      memories_(memories.begins()),
      parameters_(std::make_unique<KernelParameters[]>(workload.links.size())),
      states_(workload.links.size() * (max_sources + 1)),
      buffers_(workload.buffers.size()),
      spent_(workload.links.size()) {
  for (std::size_t i = 0; i < workload.links.size(); ++i) {
    const Link& link = workload.links[i];
    joints_.push_back(link.sources);
    joints_.back().push_back(link.sink);
    parameters_[i] = {link.window, link.activation, link.scaling, &network,
                      &network.layers[link.layer.value_or(workload.layer)], nullptr};
    links_.push_back({joints_.back().data(), link.sources.size(), link.delay, link.period,
                      runs_of(link), kernel_of(link), &parameters_[i],
                      link.unit == processing_unit ? 0 : 1});
  }
}

Machine Executable::prepare(const TensorTable& tensors) {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const Region& buffer = workload_->buffers[i];
    buffers_[i] = buffer.memory == 0
                      ? tensors[*buffer.tensor]
                      : memories_[static_cast<std::size_t>(buffer.memory)] + buffer.offset;
  }
  for (std::size_t i = 0; i < links_.size(); ++i) parameters_[i].tensors = tensors.data();
  const Machine machine{links_.data(),  links_.size(), buffers_.data(),
                        states_.data(), spent_.data(), {}};
  reset(machine);
  return machine;
}

void Executable::run(const TensorTable& tensors) { workload::run(prepare(tensors)); }

void Executable::run_timed(const TensorTable& tensors, Spent& spent) {
  Machine machine = prepare(tensors);
  std::fill(spent_.begin(), spent_.end(), 0);
  machine.clock.now = nanoseconds_now;
  workload::run(machine);
  for (std::size_t i = 0; i < spent_.size(); ++i)
    (workload_->links[i].kind == LinkKind::transfer ? spent.transfers : spent.kernels) += spent_[i];
}

}  // namespace millrace::workload
