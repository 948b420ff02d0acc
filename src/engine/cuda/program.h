#pragma once
// What a subnet does on a GPU, step by step, before its memory is laid out.
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "engine/cuda/device/handles.h"
#include "engine/cuda/kernels/layer_parameters.h"
#include "network/tensor.h"

namespace millrace::engine::cuda {

/// How a tensor lies in the memory of the GPU, always dense. plain: row-major, of the network's
/// type. half: the same as float16. half_channels_last: float16, the second dimension innermost.
enum class Form { plain, half, half_channels_last };
inline bool is_half(Form form) { return form != Form::plain; }

/// In elements.
network::Shape strides_of(Form form, const network::Shape& shape);

/// A piece of memory that one or more values lie in.
struct Storage {
  Bytes size;
  std::shared_ptr<const DeviceMemory> constant;  // shared with other subnets; null: in the arena
};

struct Value {
  std::size_t storage = 0;  // Program::storages
  Form form = Form::plain;
};

/// Where the storages lie, and the stream that the steps are started on.
struct Execution {
  const Driver* driver = nullptr;
  Stream stream = nullptr;
  std::span<const Address> addresses;  // by storage

  Address address(const Value& value) const { return addresses[value.storage]; }
  void* pointer(const Value& value) const { return reinterpret_cast<void*>(address(value)); }
};

struct Step {
  std::size_t group = 0;                   // Program::groups
  std::vector<std::size_t> reads, writes;  // storages
  std::function<void(const Execution&)> start;
};

/// Layers that run one after the other without a border between; the first names them.
struct StepGroup {
  std::vector<LayerId> layers;
  std::string kernel;
};

struct Program {
  std::vector<Storage> storages;
  std::vector<Step> steps;
  std::vector<StepGroup> groups;
  std::vector<Value> inputs, outputs;  // plain, in the order of the ports
  std::vector<Value> faults;           // one int each, which the host looks at after a run
  std::vector<std::string> fault_texts;
};

/// Where everything lies.
struct MemoryPlan {
  std::vector<Bytes> offsets;  // by storage, in the arena
  Bytes arena, naive;
};
MemoryPlan plan_memory(const Program& program);

}  // namespace millrace::engine::cuda
