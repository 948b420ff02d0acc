#pragma once
// Inside the room: what links between 8-bit integers compute. The results are bit by bit those of
// QLinearConv, QLinearMatMul and MaxPool in network/evaluate.
#include "workload/interpreter.h"
#include "workload/workload.h"

namespace millrace::workload {

/// Null if the operation has no kernel of its own for 8 bits.
KernelFunction byte_kernel_of(TileOperation operation);

}  // namespace millrace::workload
