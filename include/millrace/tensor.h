#pragma once
// Arrays that go into a network and come out of it.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace millrace {
inline namespace v1 {

enum class DataType { float32, float64, float16, int8, uint8, int16, uint16, int32, uint32,
                      int64, uint64, boolean };

/// Sizes of the dimensions, outermost first ("NCHW" for images); empty for a scalar.
using Shape = std::vector<std::int64_t>;

/// Values that somebody else owns, in a row.
template <class T>
struct View {
  const T* first = nullptr;
  std::size_t count = 0;

  const T* begin() const { return first; }
  const T* end() const { return first + count; }
  std::size_t size() const { return count; }
  const T& operator[](std::size_t index) const { return first[index]; }
};

/// An input or output of a model.
struct TensorInfo {
  std::string name;
  DataType type = DataType::float32;
  Shape shape;
};

/// Which DataType a C++ type is; nothing for others, float16 among them.
template <class T>
struct DataTypeOf;
template <>
struct DataTypeOf<float> {
  static constexpr DataType value = DataType::float32;
};
template <>
struct DataTypeOf<double> {
  static constexpr DataType value = DataType::float64;
};
template <>
struct DataTypeOf<std::int8_t> {
  static constexpr DataType value = DataType::int8;
};
template <>
struct DataTypeOf<std::uint8_t> {
  static constexpr DataType value = DataType::uint8;
};
template <>
struct DataTypeOf<std::int16_t> {
  static constexpr DataType value = DataType::int16;
};
template <>
struct DataTypeOf<std::uint16_t> {
  static constexpr DataType value = DataType::uint16;
};
template <>
struct DataTypeOf<std::int32_t> {
  static constexpr DataType value = DataType::int32;
};
template <>
struct DataTypeOf<std::uint32_t> {
  static constexpr DataType value = DataType::uint32;
};
template <>
struct DataTypeOf<std::int64_t> {
  static constexpr DataType value = DataType::int64;
};
template <>
struct DataTypeOf<std::uint64_t> {
  static constexpr DataType value = DataType::uint64;
};
template <>
struct DataTypeOf<bool> {
  static constexpr DataType value = DataType::boolean;
};

/// A dense array, row by row. It never changes, and copies share its memory: any thread may read
/// any copy.
class Tensor {
 public:
  /// A float32 scalar of 0.
  Tensor();
  /// Copies the bytes. Error if they are not as many as type and shape have.
  static Tensor copy_of(DataType type, Shape shape, const void* bytes, std::size_t size);
  /// Copies the values. Error if they are not as many as the shape has.
  template <class T>
  static Tensor of(Shape shape, const std::vector<T>& values) {
    return copy_of(DataTypeOf<T>::value, std::move(shape), values.data(),
                   values.size() * sizeof(T));
  }
  /// Shares memory of the program, in a row and aligned to its numbers. It is not written to, and
  /// must not change before the tensor and all that it was given to are gone; then `bytes` is
  /// released, on any thread. Error as of copy_of.
  static Tensor view_of(DataType type, Shape shape, std::shared_ptr<const void> bytes,
                        std::size_t size);
  /// Zeros, such as of an input of a model.
  static Tensor zeros(const TensorInfo& like);

  DataType type() const;
  const Shape& shape() const;
  const void* data() const;
  std::size_t size_bytes() const;
  /// Whether copies, or others, have the same memory.
  bool is_shared() const;
  /// Error if they are of another type. The view holds as long as a copy of the tensor.
  template <class T>
  View<T> values() const {
    require(DataTypeOf<T>::value);
    return {static_cast<const T*>(data()), size_bytes() / sizeof(T)};
  }

 private:
  friend struct Access;
  struct Impl;
  explicit Tensor(std::shared_ptr<const void> impl) : impl_(std::move(impl)) {}
  const Impl* impl() const { return static_cast<const Impl*>(impl_.get()); }
  void require(DataType type) const;

  std::shared_ptr<const void> impl_;  // an Impl
};

/// A tensor for each input of a model, in their order; or for each output.
using Frame = std::vector<Tensor>;

}  // namespace v1
}  // namespace millrace
