#include "formats/onnx/model.h"

#include <fmt/format.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <onnx/onnx_pb.h>

#include <fstream>
#include <limits>

#include "base/error.h"
#include "base/file.h"

namespace millrace::formats::onnx {
namespace {

constexpr std::int64_t oldest_opset = 7;
constexpr std::int64_t newest_opset = 25;
constexpr int most_nodes = 1 << 20;

void check_file_size(std::uintmax_t bytes, const std::string& file) {
  if (bytes == 0) throw InputError(file, "is empty, expected an ONNX model");
  if (bytes > static_cast<std::uintmax_t>(std::numeric_limits<int>::max()))
    throw InputError(file,
                     "is larger than 2 GiB, which an ONNX file cannot be; save its weights "
                     "as external data");
}

/// `parse`: fills the message it is given; false if that is not possible.
template <class Parse>
std::unique_ptr<::onnx::ModelProto> parsed(const std::string& file, const Parse& parse) {
  auto model = std::make_unique<::onnx::ModelProto>();
  if (!parse(*model))
    throw InputError(file, "is not an ONNX model, or is truncated; export or download it again");
  if (!model->has_graph() || model->ir_version() <= 0)
    throw InputError(file,
                     "is not an ONNX model, or is truncated: it has no graph; export or "
                     "download it again");
  if (model->graph().node_size() > most_nodes)
    throw InputError(file, fmt::format("has {} nodes; at most {} are supported",
                                       model->graph().node_size(), most_nodes));
  if (model->graph().sparse_initializer_size() > 0)
    throw InputError(file, fmt::format("the weight '{}' is sparse, which is not supported; save it "
                                       "as a dense tensor",
                                       model->graph().sparse_initializer(0).values().name()));
  return model;
}

std::int64_t opset_among(
    const google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>& opsets,
    std::int64_t version, const std::string& place) {
  for (const ::onnx::OperatorSetIdProto& opset : opsets)
    if (opset.domain().empty() || opset.domain() == "ai.onnx") version = opset.version();
  if (version < oldest_opset || version > newest_opset)
    throw InputError(place, fmt::format("uses opset {}; supported are {} to {}; convert the model "
                                        "with ONNX's version converter",
                                        version, oldest_opset, newest_opset));
  return version;
}

}  // namespace

std::unique_ptr<::onnx::ModelProto> parse_model(std::string_view bytes, const std::string& file) {
  check_file_size(bytes.size(), file);
  return parsed(file, [&](::onnx::ModelProto& model) {
    return model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  });
}

std::unique_ptr<::onnx::ModelProto> read_model(const std::filesystem::path& path) {
  std::error_code error;
  std::ifstream in = open_regular_file(path);
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (!error) check_file_size(size, path.string());
  constexpr int piece = 1 << 20;
  google::protobuf::io::IstreamInputStream stream(&in, piece);
  return parsed(path.string(), [&](::onnx::ModelProto& model) {
    return model.ParseFromZeroCopyStream(&stream) && !in.bad();
  });
}

std::int64_t opset_of(const ::onnx::ModelProto& model, const std::string& file) {
  return opset_among(model.opset_import(), 1, file);
}

bool is_of_pytorch(const ::onnx::ModelProto& model) { return model.producer_name() == pytorch; }

std::map<std::string, std::int64_t> domains_of(const ::onnx::ModelProto& model) {
  std::map<std::string, std::int64_t> domains;
  for (const ::onnx::OperatorSetIdProto& opset : model.opset_import())
    if (!opset.domain().empty() && opset.domain() != "ai.onnx")
      domains[opset.domain()] = opset.version();
  return domains;
}

std::int64_t opset_of(const ::onnx::FunctionProto& function, std::int64_t of_model,
                      const std::string& place) {
  return opset_among(function.opset_import(), of_model, place);
}

}  // namespace millrace::formats::onnx
