#pragma once
// A model that is loaded for a device, and its runs on memory of the caller.
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "millrace/engine.h"
#include "provider.h"

namespace millrace_onnxruntime {

struct SessionOptions {
  std::vector<int> cores = {};              // empty: one thread, wherever it runs
  bool only_question = false;               // it is never run
  std::filesystem::path profile_into = {};  // the beginning of a file's name; empty: no profile
};

/// On x86 processors without VNNI, the library cuts off sums of two products of an unsigned and a
/// signed byte at 16 bits.
bool multiplies_bytes_exactly();

/// Of an output, in ONNX's numbers. Sizes that are not known are -1.
struct TypeAndShape {
  std::int32_t type = 0;
  std::vector<std::int64_t> shape;
};

/// One thread at a time.
class OnnxSession {
 public:
  /// Borrows the subnet, as it may read the weights where they lie. LibraryFailure with the library's
  /// reason.
  OnnxSession(const Provider& provider, const MillraceSubnet& subnet,
              const SessionOptions& options);
  ~OnnxSession();
  OnnxSession(const OnnxSession&) = delete;
  OnnxSession& operator=(const OnnxSession&) = delete;

  /// In the order of the subnet's inputs and outputs. LibraryFailure with the library's reason.
  void run(const MillraceBuffer* in, const MillraceBuffer* out);
  /// What the library infers of the output. LibraryFailure if it is no tensor.
  TypeAndShape stated(std::size_t output) const;
  /// Runs into memory of the library's own, and says what was made.
  std::vector<TypeAndShape> made_by(const MillraceBuffer* in);
  /// The file with what was recorded.
  std::filesystem::path end_profile();

 private:
  /// A tensor of the caller's memory.
  struct BoundTensor {
    const MillraceTensor* tensor;
    const void* memory = nullptr;
    Handle<OrtValue> value{nullptr, nullptr};
  };

  void create(const MillraceSubnet& subnet, const SessionOptions& options);
  void add_weights(const MillraceSubnet& subnet, OrtSessionOptions& options);
  void bind(BoundTensor& bound, const void* memory) const;

  const Provider provider_;
  std::vector<Handle<OrtValue>> weights_;
  std::vector<BoundTensor> inputs_, outputs_;
  // What the library is given at each run, in the same order.
  std::vector<const char*> input_names_, output_names_;
  std::vector<const OrtValue*> input_values_;
  std::vector<OrtValue*> output_values_;
  Handle<OrtSession> session_{nullptr, nullptr};
};

}  // namespace millrace_onnxruntime
