// A subnet that was sent, ready to run on a core of this board.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "board/board.h"
#include "engine/engine.h"
#include "network/network.h"

namespace millrace_cluster {

/// What tensors lie in. Kept while a run uses it.
using Memory = std::shared_ptr<millrace::network::Buffer>;

/// One thread at a time, which has the core.
class Program {
 public:
  struct Source {
    std::string onnx;
    std::filesystem::path weights;  // the folder of its file of weights; empty: it has none
  };
  /// InputError or EngineError.
  Program(const Source& source, const millrace::board::Processor& core,
          std::map<std::string, std::unique_ptr<millrace::engine::Engine>>& engines);

  std::size_t memories() const { return network_.inputs.size() + network_.outputs.size(); }
  std::int64_t weights() const;
  /// Inputs, then outputs, in the model's order, each at least as large as its tensor: InputError
  /// else. If `times` is there, it gets triples: the layer's number in the sender's subnet, that of
  /// the group that it ran in, and nanoseconds.
  void run(std::span<const Memory> memories, std::vector<std::int64_t>* times);

 private:
  void check(std::span<const Memory> memories) const;
  void add_times(const std::vector<millrace::engine::GroupTime>& groups,
                 std::vector<std::int64_t>& times) const;

  millrace::network::Network network_;
  std::unique_ptr<millrace::engine::Subnet> subnet_;  // null: nothing is left to compute
  std::vector<std::size_t> in_, out_;                 // by port: the place among the memories
};

/// The number in a node's name, "#3#conv1"; -1: none.
std::int64_t number_in(std::string_view name);

}  // namespace millrace_cluster
