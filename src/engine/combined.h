#pragma once
// Several engines as one: each layer runs with one of them, so that they compete on the same core
// and share a network between devices.
#include <memory>
#include <vector>

#include "engine/engine.h"

namespace millrace::engine {

/// Stands for all CPU processors among those where a member takes part.
inline constexpr const char* on_cores = "cpu";

/// One of the engines of a combined one.
struct Member {
  std::unique_ptr<Engine> engine;
  std::vector<std::string> processors = {};  // where it takes part; empty: wherever it can
};

/// The variants of the first engine keep their names. Those of another one begin with its name:
/// "f32:onnxruntime", "f32:openvino/winograd". A layer without such a variant runs with the first
/// engine that supports it there. A subnet is a row of subnets of these engines, plain between
/// different ones. The name joins theirs by commas, and is one
/// that make_engine() reads. At least one engine.
std::unique_ptr<Engine> make_combined_engine(std::vector<Member> members);

}  // namespace millrace::engine
