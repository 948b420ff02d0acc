#include <algorithm>
#include <array>
#include <cstring>

#include "network/evaluate/copy.h"
#include "network/evaluate/loops.h"
#include "network/evaluate/types.h"

namespace millrace::network::loops {
namespace {

/// Where the kept part of the input lies in one dimension of the output: [first, first + size).
struct Kept {
  std::int64_t first = 0, size = 0;
};

std::vector<Kept> kept_parts(const Pad& op, const ConstView& in, const View& out) {
  std::vector<Kept> kept(in.shape.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const std::int64_t first = std::max<std::int64_t>(op.begin[i], 0);
    const std::int64_t end = std::min(op.begin[i] + in.shape[i], out.shape[i]);
    kept[i] = {first, std::max<std::int64_t>(end - first, 0)};
  }
  return kept;
}

/// The element of [0, size) that stands at position i outside of it.
std::int64_t source(PadMode mode, std::int64_t i, std::int64_t size) {
  if (mode == PadMode::edge || size == 1) return std::clamp<std::int64_t>(i, 0, size - 1);
  if (mode == PadMode::wrap) return ((i % size) + size) % size;
  const std::int64_t period = 2 * (size - 1);
  const std::int64_t phase = ((i % period) + period) % period;
  return std::min(phase, period - phase);
}

/// One slab of the output across the axis, copied from another one.
void copy_slab(const View& out, const AroundAxis& axis, std::int64_t to, std::int64_t from) {
  const auto size = static_cast<std::int64_t>(size_of(out.type).count);
  const std::int64_t block = axis.inner * size;
  for (std::int64_t o = 0; o < axis.outer; ++o) {
    std::byte* base = out.data + o * axis.size * block;
    std::memcpy(base + to * block, base + from * block, static_cast<std::size_t>(block));
  }
}

/// Axis after axis: a corner gets its value when the last of its axes is filled.
void fill_borders(PadMode mode, const View& out, const std::vector<Kept>& kept) {
  for (std::size_t d = 0; d < kept.size(); ++d) {
    const AroundAxis axis = around(out.shape, static_cast<std::int64_t>(d));
    for (std::int64_t i = 0; i < axis.size; ++i) {
      const std::int64_t inside = i - kept[d].first;
      if (inside < 0 || inside >= kept[d].size)
        copy_slab(out, axis, i, kept[d].first + source(mode, inside, kept[d].size));
    }
  }
}

void copy_kept(const Pad& op, const ConstView& in, const View& out,
               const std::vector<Kept>& kept) {
  const Shape from = strides_of(Shape(in.shape.begin(), in.shape.end()));
  const Shape to = strides_of(Shape(out.shape.begin(), out.shape.end()));
  Copy walk{Shape(kept.size()), {from, to}};
  std::int64_t first_read = 0, first_written = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    walk.shape[i] = kept[i].size;
    first_read += (kept[i].first - op.begin[i]) * from[i];
    first_written += kept[i].first * to[i];
  }
  const auto size = static_cast<std::int64_t>(size_of(out.type).count);
  copy(walk, in.data + first_read * size, out.data + first_written * size,
       static_cast<std::size_t>(size));
}

std::array<std::byte, 8> bytes_of(double value, DataType type) {
  std::array<std::byte, 8> bytes{};
  visit_any(type, [&]<class T>(std::type_identity<T>) {
    T element{};
    if constexpr (std::is_same_v<T, Half>) {
      element = to_half(value);
    } else if constexpr (std::is_same_v<T, bool>) {
      element = value != 0;
    } else {
      element = saturate<T>(value);
    }
    std::memcpy(bytes.data(), &element, sizeof element);
  });
  return bytes;
}

}  // namespace

void run(const Pad& op, Inputs in, Outputs out) {
  if (count(out[0].shape) == 0) return;
  const std::vector<Kept> kept = kept_parts(op, in[0], out[0]);
  const bool nothing_kept =
      std::any_of(kept.begin(), kept.end(), [](const Kept& part) { return part.size == 0; });
  if (op.mode == PadMode::constant || nothing_kept)
    fill(out[0].data, count(out[0].shape), bytes_of(op.value, out[0].type).data(),
         static_cast<std::size_t>(size_of(out[0].type).count));
  if (nothing_kept) return;
  copy_kept(op, in[0], out[0], kept);
  if (op.mode != PadMode::constant) fill_borders(op.mode, out[0], kept);
}

}  // namespace millrace::network::loops
