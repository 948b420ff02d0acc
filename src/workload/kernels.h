#pragma once
// What processing links compute on this machine's cores: kernels of the room `kernels`, or the
// plain loops of network/evaluate.
#include "network/network.h"
#include "workload/interpreter.h"
#include "workload/workload.h"

namespace millrace::workload {

/// What a kernel knows beside its tiles; lives as long as the code that has it.
struct KernelParameters {
  TileWindow window;
  std::optional<TileActivation> activation = {};
  std::optional<TileScaling> scaling = {};
  const network::Network* network = nullptr;
  const network::Layer* layer = nullptr;
  std::byte* const* tensors = nullptr;  // by TensorId, for `whole`; null: not there
};

KernelFunction kernel_of(const Link& link);

}  // namespace millrace::workload
