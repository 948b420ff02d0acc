#pragma once
// Weights that lie in files beside the model.
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/files/mapped_file.h"
#include "formats/network_names.h"

namespace onnx {
class ModelProto;
class TensorProto;
}  // namespace onnx

namespace millrace::formats::onnx {

/// A piece of a file, as the model names it.
struct ExternalPiece {
  std::string location;
  std::int64_t offset = 0;
  std::int64_t length = 0;  // of the tensor
};

/// Where a tensor with external data says that they lie; nobody vouches for it.
std::string external_location(const ::onnx::TensorProto& tensor);

/// The files in the folder that tensors of the model lie in, each once, as seen from the folder.
/// Locations that lead out of it, or to no file, are left out: their tensors are refused when read.
std::vector<std::filesystem::path> external_files_of(::onnx::ModelProto& model,
                                                     const std::filesystem::path& folder);

/// Calls `visit` with each tensor of the model, wherever it lies in it.
using TensorVisitor = std::function<void(::onnx::TensorProto& tensor)>;
void for_each_tensor(::onnx::ModelProto& model, const TensorVisitor& visit);

/// The files beside a model. Weights that name the same piece share its memory. Large ones that
/// begin at a multiple of tensor_alignment stay in their file, which is mapped.
class ExternalFiles {
 public:
  /// An empty folder: there are none.
  explicit ExternalFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Counts a piece that will be read. InputError at `place` if the pieces so far, those of one
  /// place counted once, are larger than this machine's memory: files with holes claim any size.
  void count(const ExternalPiece& piece, const std::string& place);
  /// The piece as bytes; counts it. Its file must lie inside the folder: absolute locations, ".."
  /// and links that lead out of it are an InputError at `place`. So are a file that is too short,
  /// and pieces that overlap so much that together they are larger than their file.
  Array read(const ExternalPiece& piece, const std::string& place);
  /// What `unpack` makes of these bytes: `count` numbers of ONNX's type `code`. Made once, however
  /// often they are read; the bytes are let go of.
  struct Packed {
    ExternalPiece piece;
    int code = 0;
    std::int64_t count = 0;
  };
  using Unpack = std::function<Array(const Array& bytes)>;
  Array read(const Packed& packed, const std::string& place, const Unpack& unpack);
  /// Lets go of the memory, which the arrays keep.
  void forget();

 private:
  struct Key {
    std::filesystem::path file;
    std::int64_t offset, length;
    int code = 0;  // of unpacked ones
    std::int64_t count = 0;
    auto operator<=>(const Key&) const = default;
  };

  /// Nothing if it must be read.
  std::optional<Array> mapped(const ExternalPiece& piece, const std::filesystem::path& file);

  std::filesystem::path folder_;
  std::set<std::tuple<std::string, std::int64_t, std::int64_t>> counted_;
  std::uintmax_t bytes_ = 0;  // of these
  std::map<Key, Array> pieces_;
  std::map<std::filesystem::path, std::shared_ptr<const MappedFile>> mapped_;  // shared by arrays
  std::set<Key> seen_;                                    // also those that were let go of
  std::map<std::filesystem::path, std::uintmax_t> read_;  // bytes, by file
};

}  // namespace millrace::formats::onnx
