#pragma once
// Collects the steps of a subnet while its layers are lowered, and keeps track of where every
// tensor lies.
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/cuda/device/gpu.h"
#include "engine/cuda/program.h"
#include "engine/engine.h"

namespace millrace::engine::cuda {

/// How many threads a kernel is started with.
struct Launch {
  std::string kernel;
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block = threads_per_block;
};
/// A thread for each element.
Launch for_each_element(const std::string& kernel, std::int64_t count);

void start_kernel(FunctionObject* kernel, const Launch& launch, void* parameters,
                  const Execution& execution);

/// A part of a step: what is started when all places are known.
using Start = std::function<void(const Execution&)>;

/// Starts a kernel with the parameters that `work(execution)` gives.
template <class Work>
Start kernel_start(Gpu& gpu, const Launch& launch, Work work) {
  return [kernel = gpu.kernel(launch.kernel), launch,
          work = std::move(work)](const Execution& execution) {
    auto parameters = work(execution);
    start_kernel(kernel, launch, &parameters, execution);
  };
}

/// What a step reads and writes.
struct Touched {
  std::vector<Value> reads, writes;
};

class Builder {
 public:
  Builder(Gpu& gpu, const SubnetRequest& request);

  Gpu& gpu() const { return gpu_; }
  const network::Network& network() const { return *request_.network; }
  const network::Layer& layer(LayerId id) const { return network()[id]; }
  const network::Tensor& tensor(TensorId id) const { return network()[id]; }
  /// In what the layer computes.
  board::Precision precision(LayerId id) const;

  /// The steps that follow belong to these layers; the kernel of the first one names them.
  void begin_group(std::vector<LayerId> layers);
  /// Steps that bring tensors into another form are no kernels of a layer.
  void name_kernel(const std::string& kernel);

  /// As it lies now; a constant of the network is brought to the GPU.
  Value value(TensorId id);
  /// In this form; converted if need be, once.
  Value in_form(TensorId id, Form form);
  Value plain(TensorId id) { return in_form(id, Form::plain); }
  /// A place for a tensor that a step will write.
  Value make(TensorId id, Form form = Form::plain);
  /// Says where a tensor is, when no step is needed to make it.
  void define(TensorId id, const Value& value);
  /// A place that belongs to no tensor.
  Value temporary(Bytes size);
  template <class T>
  Value constant(const std::vector<T>& numbers) {
    return constant(std::as_bytes(std::span(numbers)));
  }
  /// An int that a kernel sets to 1 when it finds what must not be; the run fails with the text.
  Value fault(const std::string& text);

  void step(const Touched& touched, Start start);
  /// A step of one kernel, which names the group if it is the first.
  template <class Work>
  void launch(const Launch& launch, const Touched& touched, Work work) {
    name_kernel(launch.kernel);
    step(touched, kernel_start(gpu_, launch, std::move(work)));
  }
  const std::vector<Storage>& storages() const { return program_.storages; }
  /// Sets the size of a temporary place whose size was not known yet.
  void resize(const Value& value, Bytes size);

  Program finish();

 private:
  /// Equal numbers lie in one place.
  Value constant(std::span<const std::byte> bytes);
  Value new_storage(Bytes size, Form form);
  Value converted(TensorId id, const Value& from, Form form);

  Gpu& gpu_;
  const SubnetRequest& request_;
  Program program_;
  std::unordered_map<TensorId, std::vector<Value>> values_;  // the first is the tensor's own
};

}  // namespace millrace::engine::cuda
