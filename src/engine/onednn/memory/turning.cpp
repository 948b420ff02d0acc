#include "engine/onednn/memory/turning.h"

#include "kernels/half/half_elements.h"
#include "kernels/plain/turn.h"
#include "kernels/plain/turn_bytes.h"
#include "kernels/quads/byte_conversions.h"

namespace millrace::engine::onednn {
namespace {

bool lies_channels_last(const Desc& desc) {
  return same_memory(desc, channels_last_desc(dims_of(desc), type_of(desc)));
}

kernels::ByteScale scale_of(const Value& value) {
  return {value.encoding.scale, value.encoding.zero, type_of(value.desc) == Type::s8};
}

}  // namespace

kernels::StoredNumber stored_number_of(Type type) {
  if (type == Type::f32) return kernels::StoredNumber::f32;
  if (type == Type::bf16) return kernels::StoredNumber::bf16;
  if (type == Type::f16) return kernels::StoredNumber::f16;
  return type == Type::u8 ? kernels::StoredNumber::u8 : kernels::StoredNumber::s8;
}

std::optional<OwnWork> fast_turn(const Value& from, const Value& to) {
  if (type_of(from.desc) != Type::f32 || type_of(to.desc) != Type::f32) return std::nullopt;
  const auto before = dense_strides(from.desc), after = dense_strides(to.desc);
  const Dims shape = dims_of(from.desc);
  if (!before || !after || shape != dims_of(to.desc)) return std::nullopt;
  std::vector<kernels::TurnedAxis> axes;
  for (std::size_t d = 0; d < shape.size(); ++d)
    axes.push_back({static_cast<std::size_t>(shape[d]), static_cast<std::size_t>((*before)[d]),
                    static_cast<std::size_t>((*after)[d])});
  const kernels::Turn turn = kernels::turn_of(std::move(axes));
  if (!kernels::is_fast(turn)) return std::nullopt;
  return OwnWork{from, to, [turn](const OwnPlaces& at) {
                   kernels::turn_numbers(turn, reinterpret_cast<const float*>(at.from),
                                         reinterpret_cast<float*>(at.to));
                 }};
}

OwnWork cast_of_halves(const Value& from, const Value& to) {
  const auto kind_of = [](const Value& value) { return stored_number_of(type_of(value.desc)); };
  if (type_of(from.desc) == Type::f32) {
    const auto count = static_cast<std::size_t>(size_of(to.desc).count) / sizeof(kernels::Half);
    return {from, to, [count, kind = kind_of(to)](const OwnPlaces& at) {
              kernels::write_halves_of({reinterpret_cast<const float*>(at.from), count},
                                       reinterpret_cast<kernels::Half*>(at.to), kind);
            }};
  }
  const auto count = static_cast<std::size_t>(size_of(from.desc).count) / sizeof(kernels::Half);
  return {from, to, [count, kind = kind_of(from)](const OwnPlaces& at) {
            kernels::write_floats_of({reinterpret_cast<const kernels::Half*>(at.from), count},
                                     reinterpret_cast<float*>(at.to), kind);
          }};
}

bool can_turn_bytes(const Desc& from, const Desc& to) {
  const bool has_channels = dims_of(from).size() > 2 && dims_of(from) == dims_of(to);
  return has_channels && ((is_row_major(from) && lies_channels_last(to)) ||
                          (lies_channels_last(from) && is_row_major(to)));
}

OwnWork encoding_of_bytes(const Value& from, const Value& to) {
  const auto count = static_cast<std::size_t>(network::element_count(dims_of(from.desc)));
  const auto bytes = [](const auto* at) { return reinterpret_cast<const std::uint8_t*>(at); };
  if (type_of(from.desc) == Type::f32)
    return {from, to, [count, scale = scale_of(to)](const OwnPlaces& at) {
              kernels::bytes_of_numbers({reinterpret_cast<const float*>(at.from), count}, scale,
                                        reinterpret_cast<std::uint8_t*>(at.to));
            }};
  if (type_of(to.desc) == Type::f32)
    return {from, to, [count, bytes, scale = scale_of(from)](const OwnPlaces& at) {
              kernels::numbers_of_bytes({bytes(at.from), count}, scale,
                                        reinterpret_cast<float*>(at.to));
            }};
  return {from, to, [count, bytes, before = scale_of(from), after = scale_of(to)](
                        const OwnPlaces& at) {
            kernels::bytes_of_bytes({bytes(at.from), count}, before, after,
                                    reinterpret_cast<std::uint8_t*>(at.to));
          }};
}

OwnWork turn_of_bytes(const Value& from, const Value& to) {
  const Dims shape = dims_of(from.desc);
  std::size_t rows = static_cast<std::size_t>(shape[1]), columns = 1;
  for (std::size_t d = 2; d < shape.size(); ++d) columns *= static_cast<std::size_t>(shape[d]);
  if (!is_row_major(from.desc)) std::swap(rows, columns);
  const auto images = static_cast<std::size_t>(shape[0]);
  return {from, to, [rows, columns, images](const OwnPlaces& at) {
            for (std::size_t i = 0; i < images; ++i) {
              const auto* const in = reinterpret_cast<const std::uint8_t*>(at.from);
              auto* const out = reinterpret_cast<std::uint8_t*>(at.to);
              const std::size_t first = i * rows * columns;
              kernels::turn_bytes({rows, columns, in + first, columns, out + first, rows});
            }
          }};
}

}  // namespace millrace::engine::onednn
