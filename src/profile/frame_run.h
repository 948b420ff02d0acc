#pragma once
// Layers of a network prepared once and run on one given frame after another.
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/engine.h"

namespace millrace::profile {

/// Frames to learn from, each made when it is asked for; in the order of network.inputs.
struct Samples {
  std::size_t count = 0;
  std::function<std::vector<network::Array>(std::size_t)> at;
};

/// Who runs what where.
struct Execution {
  const network::Network* network = nullptr;  // borrowed, like the engine
  engine::Engine* engine = nullptr;
  board::Processor processor;
};

class FrameRun {
 public:
  /// The layers that `outputs` need, which layers make; they come out plain. `variants` and
  /// `calibration` as SubnetRequest has them. Everything borrowed outlives it.
  FrameRun(const Execution& execution, std::vector<TensorId> outputs,
           std::vector<board::Variant> variants = {},
           const network::Calibration* calibration = nullptr);

  /// On the calling thread, bound to the processor meanwhile. InputError if the frame does not fit
  /// the network, EngineError.
  void run(std::span<const network::Array> frame);
  /// Bytes of an input of the network or one of the outputs, after run().
  std::span<const std::byte> bytes(TensorId tensor) const;
  template <class T>
  std::span<const T> values(TensorId tensor) const {
    const auto raw = bytes(tensor);
    return {reinterpret_cast<const T*>(raw.data()), raw.size() / sizeof(T)};
  }

 private:
  Execution execution_;
  std::unique_ptr<engine::Subnet> subnet_;  // none if no layer is needed
  std::vector<network::Buffer> buffers_;    // by tensor; empty where nobody looks
  std::vector<const std::byte*> in_;
  std::vector<std::byte*> out_;
};

}  // namespace millrace::profile
