#pragma once
// Values of include/millrace from those of the rooms, and back.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "application/frames/frames.h"
#include "board/variant.h"
#include "millrace/model.h"
#include "millrace/plan.h"
#include "millrace/profile.h"
#include "millrace/tensor.h"
#include "network/network.h"
#include "product/memory/in_memory.h"

namespace millrace::face {

network::DataType type_of(DataType type);
DataType type_of(network::DataType type);
TensorInfo info_of(const network::Tensor& tensor);

/// Shares the memory.
Tensor tensor_of(network::Array array);
std::vector<network::Array> arrays_of(const Frame& frame);
Frame frame_of(std::vector<network::Array> arrays);

board::Precision precision_of(Precision precision);
Precision precision_of(board::Precision precision);
std::vector<board::Precision> precisions_of(const std::vector<Precision>& precisions);

/// Frames that the caller holds; none: no frames.
application::FrameOptions frames_of(const std::vector<Frame>& frames);

/// In place of files: the model, and the plan if there is one.
std::shared_ptr<product::InMemory> memory_of(const Model& model);
std::shared_ptr<product::InMemory> memory_of(const Plan& plan);

}  // namespace millrace::face
