#pragma once
// What every layer computes, as plain loops over dense row-major memory: the definition the
// engines are compared with, and the evaluator for constant folding.
#include <functional>
#include <span>
#include <vector>

#include "base/verdict.h"
#include "network/network.h"

namespace millrace::network {

/// A borrowed dense array. `data` is null for an optional input left out or an unwanted output.
struct ConstView {
  DataType type = DataType::float32;
  std::span<const std::int64_t> shape;
  const std::byte* data = nullptr;

  template <class T>
  const T* as() const { return reinterpret_cast<const T*>(data); }
  bool present() const { return data != nullptr; }
};
/// The view of a constant. Borrows its memory.
inline ConstView constant_view(const Tensor& tensor) {
  return {tensor.type, tensor.shape, tensor.constant->memory->data()};
}
struct View {
  DataType type = DataType::float32;
  std::span<const std::int64_t> shape;
  std::byte* data = nullptr;

  template <class T>
  T* as() const { return reinterpret_cast<T*>(data); }
  bool present() const { return data != nullptr; }
};

/// Whether evaluate() has loops for this layer's types; the reason names the operator and type.
/// It has all that an engine of its own computes: operators/opaque.h.
Verdict can_evaluate(const Network& network, LayerId layer);

/// Computes the layer. Single-threaded, no allocation visible outside. Precondition: can_evaluate.
/// float32 sums are accumulated in float32, in the order of the innermost kernel dimension last.
void evaluate(const Layer& layer, std::span<const ConstView> inputs, std::span<const View> outputs);

/// The values in another type, as Cast converts them.
Array converted(const Array& array, DataType type);

/// Runs the whole network, layer by layer. `inputs` in the order of network.inputs, dense.
/// Result in the order of network.outputs. For tests and accuracy references. `after`: is shown
/// what each layer made, and may change it. If it says false, there is no result.
using AfterLayer = std::function<bool(LayerId, std::span<const View> made)>;
std::vector<Array> evaluate(const Network& network, std::span<const Array> inputs,
                            const AfterLayer& after = {});

}  // namespace millrace::network
