#pragma once
// Trained networks: from ONNX files, Darknet's files, or from memory.
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/options.h"
#include "millrace/tensor.h"

namespace millrace {
inline namespace v1 {

/// Bytes that somebody else owns.
struct ByteView {
  const void* data = nullptr;
  std::size_t size = 0;
};

struct ModelOptions {
  std::map<std::string, Shape> shapes;      // of inputs, where the model leaves them open
  std::map<std::string, Tensor> constants;  // of inputs whose values are known
  std::optional<std::int64_t> size;         // of Darknet's pictures: width and height
  std::string weights;  // of a Darknet file; empty: NAME.weights beside it, if it is there
  std::uint64_t seed = 1;    // of weights where there are none
  Options options;
};

enum class ModelFormat { onnx, darknet };

/// A model that the program holds. Nothing of it is kept but what the model copies.
struct ModelMemory {
  ByteView model = {};  // an ONNX file's bytes, or the text of a Darknet configuration
  ModelFormat format = ModelFormat::onnx;
  std::string name = "model";  // in messages and results
  /// Weights apart: of ONNX by the names that the model has for its files of external data; of
  /// Darknet the one of any name.
  std::map<std::string, ByteView> weights = {};
};

struct LayerInfo {
  std::string name;
  std::string operation;          // "Conv"
  std::int64_t macs = 0;          // multiply-accumulates of a frame
  std::int64_t parameters = 0;    // numbers
  std::int64_t output_bytes = 0;  // of a frame
};

/// A network, read and simplified. It never changes, and copies share it: any thread may use any
/// copy.
class Model {
 public:
  /// An .onnx or .cfg file, or the name of a network of the zoo. Error names file and place.
  static Model from_file(const std::string& path);
  static Model from_file(const std::string& path, const ModelOptions& options);
  /// No file is read. Error as from_file, with the name for the file.
  static Model from_memory(const ModelMemory& memory);
  static Model from_memory(const ModelMemory& memory, const ModelOptions& options);

  const std::string& name() const;
  std::vector<TensorInfo> inputs() const;
  std::vector<TensorInfo> outputs() const;
  std::vector<LayerInfo> layers() const;
  /// What the exporter wrote into the file by name, such as the classes.
  std::map<std::string, std::string> metadata() const;
  /// 32 digits over structure, shapes and weights.
  std::string hash() const;

 private:
  friend struct Access;
  struct Impl;
  explicit Model(std::shared_ptr<const void> impl) : impl_(std::move(impl)) {}
  const Impl* impl() const { return static_cast<const Impl*>(impl_.get()); }

  std::shared_ptr<const void> impl_;  // an Impl
};

/// Which files a model's frames come from.
struct FrameFiles {
  std::vector<std::string> inputs;  // a folder of pictures, a picture or a .npy; NAME=FILE.npy
  bool resize = true;               // pictures of another size; else they are an error
  bool bgr = false;
  bool raw = false;  // pictures keep 0 to 255; else they are 0 to 1
  std::vector<float> mean{0, 0, 0}, deviation{1, 1, 1};  // by colour
};

/// All frames of the files, such as samples of a PlanRequest. Error names the file.
std::vector<Frame> read_frames(const Model& model, const FrameFiles& files);

}  // namespace v1
}  // namespace millrace
