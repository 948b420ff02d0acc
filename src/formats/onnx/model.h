#pragma once
// The file's bytes as messages, checked as far as that is possible without reading the graph.
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace onnx {
class FunctionProto;
class ModelProto;
}  // namespace onnx

namespace millrace::formats::onnx {

/// The parsed model, with a graph. InputError at `file` if it is none, or is truncated.
std::unique_ptr<::onnx::ModelProto> parse_model(std::string_view bytes, const std::string& file);

/// The same of a file, whose bytes are not kept beside the message.
std::unique_ptr<::onnx::ModelProto> read_model(const std::filesystem::path& path);

/// The version of ONNX's own operators, from 7 to 25. InputError at `file` otherwise.
std::int64_t opset_of(const ::onnx::ModelProto& model, const std::string& file);
/// The name of PyTorch's exporter in its files.
inline constexpr const char* pytorch = "pytorch";
bool is_of_pytorch(const ::onnx::ModelProto& model);
/// The versions of the other operators, by domain.
std::map<std::string, std::int64_t> domains_of(const ::onnx::ModelProto& model);
/// The same of a function, which has the model's if it does not say.
std::int64_t opset_of(const ::onnx::FunctionProto& function, std::int64_t of_model,
                      const std::string& place);

}  // namespace millrace::formats::onnx
