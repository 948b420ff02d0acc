#pragma once
// Tensors: typed, statically shaped arrays, row-major ("NCHW" for images).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/units.h"

namespace millrace::network {

enum class DataType { float32, float64, float16, int8, uint8, int16, uint16, int32, uint32,
                      int64, uint64, boolean };

Bytes size_of(DataType type);
std::string_view to_text(DataType type);
/// Nothing if there is none of this name.
std::optional<DataType> data_type_named(std::string_view name);

/// Sizes of the dimensions, outermost first; empty for a scalar. All are >= 0.
using Shape = std::vector<std::int64_t>;

/// The number of elements. InputError if it exceeds 2^40 (`place` names what has the shape).
std::int64_t element_count(const Shape& shape, const std::string& place = {});
/// "1x3x224x224", "scalar".
std::string to_text(const Shape& shape);
/// Row-major strides, in elements.
Shape strides_of(const Shape& shape);
/// NumPy's multidirectional broadcasting; nothing if the shapes do not fit.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

/// Memory of tensors is aligned to this many bytes.
inline constexpr std::size_t tensor_alignment = 64;

/// An owned, aligned piece of memory.
class Buffer {
 public:
  Buffer() = default;
  /// All zero.
  explicit Buffer(Bytes size);
  /// With any content, for who overwrites all of it.
  static Buffer uninitialized(Bytes size);
  /// Memory of somebody else, who keeps it as long as this lives. Its numbers are aligned to their
  /// size, and nobody writes to it.
  static Buffer borrowed(const void* memory, Bytes size);
  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  std::span<std::byte> bytes() { return {data_.get(), static_cast<std::size_t>(size_.count)}; }
  std::span<const std::byte> bytes() const {
    return {data_.get(), static_cast<std::size_t>(size_.count)};
  }
  Bytes size() const { return size_; }

 private:
  struct Free {
    std::size_t alignment;  // of the memory; 0: it is borrowed
    void operator()(std::byte* memory) const;
  };
  struct Unset {};
  Buffer(Bytes size, Unset);

  std::unique_ptr<std::byte[], Free> data_;
  Bytes size_;
};

/// Calculated when it is first asked for, of memory that does not change any more. Thread-safe.
class LazyDigest {
 public:
  Digest of(std::span<const std::byte> bytes) const;

 private:
  mutable std::once_flag once_;
  mutable Digest digest_;  // written once, under once_
};

/// An immutable array: a weight or a folded value. Copies share the memory, among all
/// networks, packed weights and tests that hold one.
struct Array {
  DataType type = DataType::float32;
  Shape shape;
  std::shared_ptr<const Buffer> memory;
  std::shared_ptr<const LazyDigest> known = {};  // shared by all that share the memory

  /// Digest of the bytes; calculated once for all copies of an array from make_array.
  Digest digest() const { return known ? known->of(bytes()) : digest_of(bytes()); }
  std::span<const std::byte> bytes() const { return memory->bytes(); }
  template <class T>
  std::span<const T> values() const {
    return {reinterpret_cast<const T*>(memory->data()),
            static_cast<std::size_t>(memory->size().count) / sizeof(T)};
  }
  bool operator==(const Array& other) const {
    return type == other.type && shape == other.shape && digest() == other.digest();
  }
};

/// Takes the buffer over; its size must fit type and shape.
Array make_array(DataType type, Shape shape, Buffer memory);
/// Copies the values.
template <class T>
Array make_array(DataType type, Shape shape, std::span<const T> values) {
  Buffer memory = Buffer::uninitialized({static_cast<std::int64_t>(values.size_bytes())});
  const auto bytes = std::as_bytes(values);
  std::copy(bytes.begin(), bytes.end(), memory.data());
  return make_array(type, std::move(shape), std::move(memory));
}

/// Over memory that `owner` keeps, aligned to tensor_alignment; its size must fit type and shape.
Array array_over(DataType type, Shape shape, const std::byte* memory,
                 std::shared_ptr<const void> owner);
/// `count` of the array's first dimension from `first` on; shares its memory if they are aligned
/// to tensor_alignment there, else copies.
Array rows_of(const Array& array, std::int64_t first, std::int64_t count);

/// Which scale belongs to which element of a quantised tensor, where integers stand for real
/// numbers: real = (integer - zero point) * scale. A single scale belongs to all. Otherwise there
/// is one for every index of `axis` or, if `block` is not 0, one for every so many of them; then
/// the scales have the tensor's other dimensions too. Zero points have the scale's shape.
struct Scaling {
  std::int64_t axis = 0, block = 0;
};

/// The integers that a constant of real numbers was made of: (values - zero point) * scale.
struct Quantized {
  Array values, scale;
  std::optional<Array> zero_point;  // none: 0
  Scaling scaling;
};

/// A value that flows between layers, or a constant.
struct Tensor {
  std::string name;
  DataType type = DataType::float32;
  Shape shape;
  std::optional<Array> constant;  // present: known when the network is read
  /// Present: what the constant was dequantised from. Weights of quantised networks are constants
  /// like others, so that engines without integer kernels have nothing to do per frame; an engine
  /// that multiplies integers takes these, where the layer's data comes from a DequantizeLinear.
  std::optional<Quantized> quantized = std::nullopt;

  /// Dense, row-major size.
  Bytes size() const { return size_of(type) * element_count(shape, name); }
};

}  // namespace millrace::network
