#pragma once
// Constants in the layouts that primitives ask for, packed once per engine object.
#include <map>
#include <memory>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>

#include "engine/onednn/layout.h"
#include "engine/onednn/primitives.h"
#include "engine/onednn/split.h"
#include "network/tensor.h"

namespace millrace::engine::onednn {

/// A packed constant. Where the wanted layout is the given one it borrows the constant's memory.
struct Packed {
  std::shared_ptr<const network::Buffer> origin;  // shared with the network that has the constant
  network::Buffer memory;                         // empty: the constant's own memory serves
  Desc layout;

  const std::byte* data() const { return memory.data() ? memory.data() : origin->data(); }
};

/// How a constant is to be packed.
struct Packing {
  Desc from;  // how the constant's memory is read
  Desc to;
  Scales scales = {};
  Terms terms = {};  // to be split into, with as many times more in the second dimension
};

/// Thread-safe. Holds what some subnet still uses, and nothing else.
class WeightCache {
 public:
  explicit WeightCache(dnnl::engine engine) : engine_(std::move(engine)) {}

  /// Shared among all subnets that want this constant in this layout. EngineError if oneDNN
  /// cannot convert it.
  std::shared_ptr<const Packed> get(const network::Array& constant, const Packing& packing);
  /// How many packed constants are alive.
  std::size_t count() const;

 private:
  std::shared_ptr<const Packed> pack(const network::Array& constant, const Packing& packing) const;

  dnnl::engine engine_;
  mutable std::mutex mutex_;
  std::map<std::string, std::weak_ptr<const Packed>> packed_;
};

}  // namespace millrace::engine::onednn
