#include "kernels/quads/byte_conversions.h"

#include <algorithm>
#include <cstring>

#include "kernels/plain/pieces.h"
#include "kernels/quads/quad_lanes.h"

namespace millrace::kernels {
namespace {

/// Each does whole sixteens. For run_for_units().
struct WriteBytes {
  const float* from;
  std::size_t sixteens;
  const ByteScale& scale;
  std::uint8_t* to;

  template <std::size_t lanes>
  [[gnu::always_inline]] void run() {
    const FinishVector factor = 1 / scale.scale - FinishVector{};
    const FinishVector zero = static_cast<float>(scale.zero) - FinishVector{};
    for (; sixteens > 0; --sixteens, from += 16, to += 16) {
      FinishVector x[finish_vectors];
#pragma GCC unroll 4
      for (std::size_t v = 0; v < finish_vectors; ++v) {
        read_vector(x[v], from + v * finish_lanes);
        x[v] = x[v] * factor + zero;
      }
      write_all(nearest_bytes(x, scale.is_signed), reinterpret_cast<std::byte*>(to));
    }
  }
};

struct WriteNumbers {
  const std::uint8_t* from;
  std::size_t sixteens;
  const ByteScale& scale;
  float* to;

  template <std::size_t lanes>
  [[gnu::always_inline]] void run() {
    const FinishVector factor = scale.scale - FinishVector{};
    const FinishVector zero = static_cast<float>(scale.zero) - FinishVector{};
    for (; sixteens > 0; --sixteens, from += 16, to += 16) {
      FinishVector x[finish_vectors];
      numbers_of(bytes_at(from), scale.is_signed, x);
#pragma GCC unroll 4
      for (std::size_t v = 0; v < finish_vectors; ++v)
        write_vector(to + v * finish_lanes, (x[v] - zero) * factor);
    }
  }
};

struct OtherScale {
  ByteScale before, after;
};
struct WriteOtherBytes {
  const std::uint8_t* from;
  std::size_t sixteens;
  const OtherScale& scale;
  std::uint8_t* to;

  template <std::size_t lanes>
  [[gnu::always_inline]] void run() {
    const FinishVector factor = scale.before.scale / scale.after.scale - FinishVector{};
    const FinishVector before = static_cast<float>(scale.before.zero) - FinishVector{};
    const FinishVector after = static_cast<float>(scale.after.zero) - FinishVector{};
    for (; sixteens > 0; --sixteens, from += 16, to += 16) {
      FinishVector x[finish_vectors];
      numbers_of(bytes_at(from), scale.before.is_signed, x);
#pragma GCC unroll 4
      for (std::size_t v = 0; v < finish_vectors; ++v) x[v] = (x[v] - before) * factor + after;
      write_all(nearest_bytes(x, scale.after.is_signed), reinterpret_cast<std::byte*>(to));
    }
  }
};

/// The rest is copied to where there are sixteen.
template <class Write, class From, class Scale, class To>
void convert_all(std::span<const From> from, const Scale& scale, To* to) {
  in_pieces(from.size(), worthwhile, [&](std::size_t first, std::size_t last) {
    const std::size_t rest = (last - first) % 16;
    run_for_units(Write{from.data() + first, (last - first) / 16, scale, to + first});
    if (rest == 0) return;
    From given[16] = {};
    To made[16];
    std::copy_n(from.data() + last - rest, rest, given);
    run_for_units(Write{given, 1, scale, made});
    std::copy_n(made, rest, to + last - rest);
  });
}

}  // namespace

void bytes_of_numbers(std::span<const float> from, const ByteScale& scale, std::uint8_t* to) {
  convert_all<WriteBytes>(from, scale, to);
}
void numbers_of_bytes(std::span<const std::uint8_t> from, const ByteScale& scale, float* to) {
  convert_all<WriteNumbers>(from, scale, to);
}
void bytes_of_bytes(std::span<const std::uint8_t> from, const ByteScale& before,
                    const ByteScale& after, std::uint8_t* to) {
  convert_all<WriteOtherBytes>(from, OtherScale{before, after}, to);
}

}  // namespace millrace::kernels
