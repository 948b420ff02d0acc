#pragma once
// What a subnet does, step by step, before its memory is laid out.
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engine/onednn/memory/weights.h"
#include "engine/onednn/primitives/layout.h"
#include "engine/onednn/primitives/primitives.h"
#include "network/evaluate/evaluate.h"
#include "network/network.h"

namespace millrace::engine::onednn {

/// A piece of memory that one or more values lie in.
struct Storage {
  enum class Place { arena, input, output, constant };
  Place place = Place::arena;
  std::size_t port = 0;  // of an input or output
  Bytes size;
  const std::byte* constant = nullptr;
  std::shared_ptr<const Packed> packed;  // shared with other subnets; owns `constant` if present
};

/// A tensor's place and layout.
struct Value {
  std::size_t storage = 0;  // Program::storages
  Bytes offset;
  Desc desc;  // empty for integers of the network: those are plain
  Encoding encoding = {};
};

struct Operand {
  int argument = 0;  // DNNL_ARG_...
  Value value;
};
struct PrimitiveWork {
  Kernel kernel;
  std::vector<Operand> reads, writes;
};
/// A loop of ours over the dense row-major operands of a layer.
using PlainLoop =
    std::function<void(std::span<const network::ConstView>, std::span<const network::View>)>;
/// network::evaluate, or a loop of ours. A value that is absent is an operand left out.
struct LoopWork {
  const network::Layer* layer = nullptr;
  std::vector<std::optional<Value>> reads, writes;
  PlainLoop own = {};
};
/// `count` pieces of `bytes` bytes, at the given distances.
struct CopyWork {
  Value from, to;
  std::size_t count = 1, bytes = 0, from_stride = 0, to_stride = 0;
};
/// Batch normalisation of a slice of wider pixels: normalize().
struct NormalizeWork {
  Value from, to;  // channels last
  Value scale, shift, mean, variance;
  float epsilon = 0;
  bool relu = false;
};

struct OwnPlaces {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::byte* working = nullptr;
  std::array<const std::byte*, 3> others = {};
};
/// A loop of ours from one value to another. It knows where its constants lie.
struct OwnWork {
  Value from, to;
  std::function<void(const OwnPlaces& places)> run;
  std::optional<Value> working = {};
  std::vector<Value> others = {};  // that it reads too, at most three
  std::vector<Value> constants = {};
  bool adds = false;  // to what lies in `to`
};

/// `from` may lie in the place of `to`, `offset` bytes behind its beginning.
struct InPlace {
  std::size_t from = 0, to = 0;  // storages
  Bytes offset = {};
};

struct Step {
  std::size_t group = 0;  // Program::groups
  std::variant<PrimitiveWork, LoopWork, CopyWork, NormalizeWork, OwnWork> work;
  std::vector<std::size_t> reads, writes;  // storages
  std::optional<InPlace> in_place;
  bool needless_in_place = false;  // a copy that has nothing left to do then
  bool is_part = false;            // a copy to bytes that no other step writes
};

/// Layers that run as one kernel; the first names it.
struct StepGroup {
  std::vector<LayerId> layers;
  std::string kernel;
};

struct Program {
  std::vector<Storage> storages;
  std::vector<Step> steps;
  std::vector<StepGroup> groups;
};

/// Where everything lies.
struct MemoryPlan {
  std::vector<std::size_t> root;  // by storage: the storage whose place it shares
  std::vector<Bytes> shifts;      // by storage: behind the beginning of the root
  std::vector<Bytes> offsets;     // by storage: in the arena, where it is the root and lies there
  Bytes arena, naive;
};

/// Shares places where a step can work in place, drops the copies that this makes needless, and
/// lays out the arena.
MemoryPlan plan_memory(Program& program);

/// What all steps read and write of tensors, constants and working memory of kernels apart.
Bytes moved_bytes(const Program& program);

}  // namespace millrace::engine::onednn
