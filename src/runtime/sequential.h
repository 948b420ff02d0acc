#pragma once
// Runs a whole network in one piece on one processor: the baseline of every pipeline.
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "board/board.h"
#include "engine/engine.h"
#include "network/network.h"

namespace millrace::runtime {

struct SequentialOptions {
  bool pin = true;
  std::vector<board::Variant> variants = {};          // by LayerId; empty: the engine's own choice
  const network::Calibration* calibration = nullptr;  // borrowed while it is made; for int8
};

/// The network as one subnet. Everything happens on the calling thread, which is bound to the
/// processor (with `pin`) for the time of each call; one thread at a time. `network` and `engine`
/// must outlive it. InputError or EngineError as Engine::prepare throws them.
class Sequential {
 public:
  Sequential(const network::Network& network, engine::Engine& engine,
             const board::Processor& processor, const SequentialOptions& options = {});

  /// One frame: copies the inputs in, runs, copies the outputs out. InputError if the inputs do not
  /// fit; EngineError if the engine fails.
  std::vector<network::Array> run(std::span<const network::Array> inputs);
  /// Runs on the inputs of the last call, or zeros, and leaves the outputs where they are: only the
  /// network's own time, for measuring.
  void run_again();

  engine::Memory memory() const;

 private:
  struct Pointers {
    std::vector<const std::byte*> in;
    std::vector<std::byte*> out;
  };
  Pointers pointers();
  void make_room_for(const engine::Port& port);
  network::Array result(TensorId output) const;

  const network::Network& network_;
  board::Processor processor_;
  bool pin_;
  std::unique_ptr<engine::Subnet> subnet_;  // none for a network without layers
  std::vector<network::Buffer> buffers_;    // by tensor; empty but at the network's ends
};

}  // namespace millrace::runtime
