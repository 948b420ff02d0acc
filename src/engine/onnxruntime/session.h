#pragma once
// A model that is loaded for a processor, and its runs on memory of the caller.
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "board/board.h"
#include "engine/onnxruntime/provider.h"
#include "network/onnx_writer/write_onnx.h"

namespace millrace::engine::onnxruntime {

/// The part of a network that a session computes. All is borrowed and outlives the session, as the
/// session may read the weights where they lie.
struct SessionPart {
  const network::Network* network = nullptr;
  network::OnnxPart part;
};

struct SessionOptions {
  board::Processor processor;
  bool only_question = false;               // it is never run
  std::filesystem::path profile_into = {};  // the beginning of a file's name; empty: no profile
};

/// On x86 processors without VNNI, the library cuts off sums of two products of an unsigned and a
/// signed byte at 16 bits.
bool multiplies_bytes_exactly();

/// One thread at a time.
class OnnxSession {
 public:
  /// EngineError with the library's reason; InputError if the part cannot be written.
  OnnxSession(const Provider& provider, const SessionPart& part, const SessionOptions& options);
  ~OnnxSession();
  OnnxSession(const OnnxSession&) = delete;
  OnnxSession& operator=(const OnnxSession&) = delete;

  /// In the order of the part's inputs and outputs, plain. EngineError with the library's reason.
  void run(std::span<const std::byte* const> in, std::span<std::byte* const> out);
  /// The file with what was recorded.
  std::filesystem::path end_profile();

 private:
  /// A tensor of the caller's memory.
  struct BoundTensor {
    std::string name;
    const network::Tensor* tensor;
    const std::byte* memory = nullptr;
    Handle<OrtValue> value{nullptr, nullptr};
  };

  void create(const network::OnnxModel& model, const SessionPart& part,
              const SessionOptions& options);
  void add_weights(const network::OnnxModel& model, const network::Network& network,
                   OrtSessionOptions& options);
  void bind(BoundTensor& bound, const std::byte* memory) const;

  const Provider provider_;
  std::vector<Handle<OrtValue>> weights_;
  std::vector<BoundTensor> inputs_, outputs_;
  // What the library is given at each run, in the same order.
  std::vector<const char*> input_names_, output_names_;
  std::vector<const OrtValue*> input_values_;
  std::vector<OrtValue*> output_values_;
  Handle<OrtSession> session_{nullptr, nullptr};
};

}  // namespace millrace::engine::onnxruntime
