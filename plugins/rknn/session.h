#pragma once
// A converted model in the runtime, and its runs on memory of the caller.
#include <vector>

#include "blob.h"
#include "runtime.h"

namespace millrace_rknn {

/// One thread at a time.
class Session {
 public:
  /// On this core of the NPU; -1: it has one. SdkFailure with the runtime's reason, or if the model
  /// has other inputs or outputs than the blob says.
  Session(const Runtime& runtime, const Blob& blob, int core);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// In the order of the blob's inputs and outputs. SdkFailure with the runtime's reason.
  void run(const MillraceBuffer* in, const MillraceBuffer* out);

  std::size_t weight_bytes() const { return memory_.weights; }
  std::size_t working_bytes() const { return memory_.between_layers + reordered_bytes_; }

 private:
  /// Values in the network's order, moved to the order that the runtime takes.
  struct Input {
    std::size_t channels = 0, places = 0;  // 0: as they are
    std::vector<float> reordered;
  };

  void check(const Blob& blob);
  void add_input(const TensorAttributes& info, const Sizes& shape);
  void destroy();

  Functions functions_;
  RknnContext context_ = 0;
  MemoryInfo memory_{};
  std::size_t reordered_bytes_ = 0;
  std::vector<Input> inputs_;
  std::vector<GivenInput> given_;
  std::vector<TakenOutput> taken_;
};

}  // namespace millrace_rknn
