#pragma once
// ONNX's serialised tensors: weights, constants, test data.
#include <filesystem>
#include <string>

#include "network/tensor.h"

namespace onnx {
class TensorProto;
}

namespace millrace::network::onnx {

/// Most dimensions that a tensor may have.
inline constexpr std::size_t most_dimensions = 12;

/// InputError at `place` unless all sizes are possible and there are few enough of them.
void check_shape(const Shape& shape, const std::string& place);

/// The tensor's values, from any of the forms ONNX stores them in. External data is looked for in
/// `folder`. InputError at `place` where type, shape and data do not fit together.
Array read_tensor(const ::onnx::TensorProto& proto, const std::filesystem::path& folder,
                  const std::string& place);

}  // namespace millrace::network::onnx
