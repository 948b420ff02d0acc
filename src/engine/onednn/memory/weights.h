#pragma once
// Constants in the layouts that primitives ask for, packed once per engine object, or once for all.
#include <map>
#include <memory>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <variant>

#include "base/store.h"
#include "engine/onednn/primitives/layout.h"
#include "engine/onednn/primitives/primitives.h"
#include "kernels/amx/amx_convolution.h"
#include "kernels/direct/direct_convolution.h"
#include "kernels/direct/transposed_convolution.h"
#include "kernels/half/half_convolution.h"
#include "kernels/half/half_winograd.h"
#include "kernels/integer/integer_convolution.h"
#include "kernels/quads/quad_convolution.h"
#include "kernels/winograd/winograd.h"
#include "network/tensor.h"

namespace millrace::engine::onednn {

/// A packed constant. Where the wanted layout is the given one it borrows the constant's memory.
struct Packed {
  std::shared_ptr<const network::Buffer> origin;  // shared with the network that has the constant
  network::Buffer memory;                         // packed here, or found in a store
  bool was_stored = false;
  Desc layout;

  const std::byte* data() const { return memory.data() ? memory.data() : origin->data(); }
};

/// How a constant is to be packed.
struct Packing {
  Desc from;  // how the constant's memory is read
  Desc to;
  Scales scales = {};
  /// Packed for a convolution of ours; `to` is bytes; scales by output.
  using Own =
      std::variant<std::monostate, kernels::AmxConvolution, kernels::IntegerConvolution,
                   kernels::WinogradConvolution, kernels::DirectConvolution,
                   kernels::TransposedConvolution, kernels::HalfConvolution,
                   kernels::HalfWinograd, kernels::QuadConvolution>;
  Own own = {};
};

/// Where packed constants outlive the engine object.
struct PackedStore {
  std::shared_ptr<Store> store = {};  // shared with other engines; may be null
  std::string packer = {};  // what else the packed bytes depend on: versions, instructions
};

/// Thread-safe. Holds what some subnet still uses, and nothing else.
class WeightCache {
 public:
  explicit WeightCache(dnnl::engine engine, PackedStore kept = {})
      : engine_(std::move(engine)), kept_(std::move(kept)) {}

  /// Shared among all subnets that want this constant in this layout. EngineError if oneDNN
  /// cannot convert it.
  std::shared_ptr<const Packed> get(const network::Array& constant, const Packing& packing);
  /// How many packed constants are alive.
  std::size_t count() const;

 private:
  std::shared_ptr<const Packed> find_or_pack(const network::Array& constant,
                                             const Packing& packing) const;
  network::Buffer pack(const network::Array& constant, const Packing& packing) const;
  network::Buffer pack_by_kernel(const network::Array& constant, const Packing& packing) const;
  std::string stored_key(const network::Array& constant, const Packing& packing) const;

  dnnl::engine engine_;
  PackedStore kept_;
  mutable std::mutex mutex_;
  std::map<std::string, std::weak_ptr<const Packed>> packed_;
};

}  // namespace millrace::engine::onednn
