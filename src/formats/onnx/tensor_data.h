#pragma once
// ONNX's serialised tensors: weights, constants, test data.
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "formats/network_names.h"
#include "formats/onnx/external_data.h"

namespace onnx {
class TensorProto;
}

namespace millrace::formats::onnx {

/// Most dimensions that a tensor may have.
inline constexpr std::size_t most_dimensions = 12;

/// InputError at `place` unless all sizes are possible, there are few enough of them, and elements
/// and bytes can be counted in 31 bits, as libraries of kernels do.
void check_shape(DataType type, const Shape& shape, const std::string& place);

/// The tensor's values, from any of the forms ONNX stores them in. InputError at `place` where
/// type, shape and data do not fit together.
Array read_tensor(const ::onnx::TensorProto& proto, ExternalFiles& files, const std::string& place);
/// Counts the tensor's external data, if it has any, as ExternalFiles::count does.
void count_external_data(const ::onnx::TensorProto& proto, ExternalFiles& files,
                         const std::string& place);

/// The tensor's external data, if it has any, become part of it.
void take_in_external_data(::onnx::TensorProto& proto, ExternalFiles& files,
                           const std::string& place);
/// The same of files that a program holds. InputError if it holds no such one, or a shorter one.
void take_in_external_data(::onnx::TensorProto& proto,
                           const std::map<std::string, std::string_view>& files,
                           const std::string& place);

/// The same as read_tensor for a single tensor; external data is looked for in `folder`.
Array read_tensor(const ::onnx::TensorProto& proto, const std::filesystem::path& folder,
                  const std::string& place);

}  // namespace millrace::formats::onnx
