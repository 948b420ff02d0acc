#include "millrace/tensor.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "base/error.h"
#include "face/access.h"
#include "face/call.h"
#include "face/convert.h"

namespace millrace {
inline namespace v1 {
namespace {

void check_size(network::DataType type, const Shape& shape, std::size_t size) {
  const auto needed = static_cast<std::size_t>(
      (network::size_of(type) * network::element_count(shape, "tensor")).count);
  if (size != needed)
    throw InputError("tensor",
                     fmt::format("found {} bytes, expected {} for {} of shape {}", size, needed,
                                 network::to_text(type), network::to_text(shape)));
}

}  // namespace

Tensor::Tensor() : Tensor(zeros({})) {}

Tensor Tensor::copy_of(DataType type, Shape shape, const void* bytes, std::size_t size) {
  return face::guarded([&] {
    const network::DataType of = face::type_of(type);
    check_size(of, shape, size);
    network::Buffer memory = network::Buffer::uninitialized({static_cast<std::int64_t>(size)});
    if (size > 0) std::memcpy(memory.data(), bytes, size);
    return face::tensor_of(network::make_array(of, std::move(shape), std::move(memory)));
  });
}

Tensor Tensor::view_of(DataType type, Shape shape, std::shared_ptr<const void> bytes,
                       std::size_t size) {
  return face::guarded([&] {
    struct Shared {
      std::shared_ptr<const void> owner;
      network::Buffer buffer;
    };
    const network::DataType of = face::type_of(type);
    check_size(of, shape, size);
    const auto unit = static_cast<std::size_t>(network::size_of(of).count);
    if (reinterpret_cast<std::uintptr_t>(bytes.get()) % unit != 0)
      throw InputError("tensor", fmt::format("its memory is not aligned to the {} bytes of its "
                                             "numbers; copy it",
                                             unit));
    auto buffer =
        network::Buffer::borrowed(bytes.get(), {static_cast<std::int64_t>(size)});
    const auto shared =
        std::make_shared<const Shared>(Shared{std::move(bytes), std::move(buffer)});
    return face::tensor_of({of, std::move(shape), {shared, &shared->buffer}});
  });
}

Tensor Tensor::zeros(const TensorInfo& like) {
  return face::guarded([&] {
    const network::DataType of = face::type_of(like.type);
    const std::int64_t count = network::element_count(like.shape, like.name);
    return face::tensor_of(
        network::make_array(of, like.shape, network::Buffer(network::size_of(of) * count)));
  });
}

DataType Tensor::type() const { return face::type_of(impl()->array.type); }
const Shape& Tensor::shape() const { return impl()->array.shape; }
const void* Tensor::data() const { return impl()->array.memory->data(); }
std::size_t Tensor::size_bytes() const { return impl()->array.bytes().size(); }
bool Tensor::is_shared() const {
  return impl_.use_count() > 1 || impl()->array.memory.use_count() > 1;
}

void Tensor::require(DataType type) const {
  if (type == this->type()) return;
  face::guarded([&] {
    throw InputError("tensor", fmt::format("holds {}, not {}; ask for that type",
                                           network::to_text(impl()->array.type),
                                           network::to_text(face::type_of(type))));
  });
}

}  // namespace v1
}  // namespace millrace
