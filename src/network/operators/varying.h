#pragma once
// What is computed from tensors whose sizes change from frame to frame.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "network/tensor.h"

namespace millrace::network {

/// The part of an ONNX graph in which sizes depend on values: what stands behind NonZero or
/// NonMaxSuppression. Its nodes are read anew for each frame, with the frame's values as
/// constants. Outputs have their largest sizes; what is not in use holds -1.
struct VaryingPart {
  std::shared_ptr<const std::string> model;  // ONNX's bytes, shared by copies of the network
  std::vector<std::string> inputs, outputs;  // their names in the model
  std::vector<DataType> types;               // of the inputs, in the model
  /// The outputs, in the sizes that these inputs lead to. The reader that made the part gives it:
  /// this room knows no files.
  using Compute =
      std::function<std::vector<Array>(const VaryingPart& part, std::vector<Array> inputs)>;
  Compute compute = {};
};

}  // namespace millrace::network
