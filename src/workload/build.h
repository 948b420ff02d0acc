#pragma once
// Inside the room: a layer and its tiling as a workload.
#include "workload/tiling.h"

namespace millrace::workload {

/// Memory 0 holds the tensors, the last one is the scratchpad.
Workload build_tiled(const network::Network& network, LayerId layer, const LayerGeometry& geometry,
                     const Tiling& tiling);

/// Transfers alone: Reshape, Concat.
Workload build_moved(const network::Network& network, LayerId layer);

/// One run of the layer's own loops where the tensors lie. Precondition: one of its outputs holds
/// something.
Workload build_whole(const network::Network& network, LayerId layer, const std::string& remark);

/// A tensor's buffer in the first memory.
Region tensor_region(const network::Network& network, TensorId tensor);

}  // namespace millrace::workload
