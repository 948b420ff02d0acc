#include "kernels/plain/byte_product.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "kernels/plain/pieces.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace millrace::kernels {
namespace {

constexpr std::size_t byte_panel = 32;     // columns
constexpr std::size_t panel_step_bytes =
    128;                                   // of a panel: 32 columns times 4 bytes or 2 halfwords
constexpr std::size_t rows_of_piece = 48;  // their bytes and sums stay in the cache

/// Rows of two halfwords a step, by one panel.
struct BytePanel {
  const std::byte* rows;
  const std::byte* panel;
  const std::int32_t* starts;  // of the sums, by column
  std::int32_t* sums;
  std::size_t steps, rows_apart, sums_apart;
};

#if defined(__x86_64__)
[[gnu::always_inline]] inline std::int32_t four_bytes(const std::byte* from) {
  std::int32_t x;
  std::memcpy(&x, from, sizeof x);
  return x;
}

template <std::size_t rows>
[[gnu::target("avx2")]] void multiply_pairs_fast(const BytePanel& p) {
  __m256i sums[rows][4];
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t n = 0; n < 4; ++n)
      sums[r][n] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p.starts + n * 8));
  for (std::size_t k = 0; k < p.steps; ++k)
    for (std::size_t n = 0; n < 4; ++n) {
      const __m256i a = _mm256_loadu_si256(
          reinterpret_cast<const __m256i*>(p.panel + k * panel_step_bytes + n * 32));
      for (std::size_t r = 0; r < rows; ++r) {
        const __m256i x = _mm256_set1_epi32(four_bytes(p.rows + r * p.rows_apart + 4 * k));
        sums[r][n] = _mm256_add_epi32(sums[r][n], _mm256_madd_epi16(x, a));
      }
    }
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t n = 0; n < 4; ++n)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(p.sums + r * p.sums_apart + n * 8),
                          sums[r][n]);
}
#endif

/// On any processor, one row.
void multiply_pairs(const BytePanel& p) {
  const auto* const row = reinterpret_cast<const std::int16_t*>(p.rows);
  const auto* const panel = reinterpret_cast<const std::int16_t*>(p.panel);
  std::copy_n(p.starts, byte_panel, p.sums);
  for (std::size_t k = 0; k < p.steps; ++k)
    for (std::size_t c = 0; c < byte_panel; ++c) {
      const std::int16_t* const pair = panel + (k * byte_panel + c) * 2;
      p.sums[c] += std::int32_t{row[2 * k]} * pair[0] + std::int32_t{row[2 * k + 1]} * pair[1];
    }
}

using MultiplyPanel = void (*)(const BytePanel&);

template <std::size_t rows>
MultiplyPanel fast_kernel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return multiply_pairs_fast<rows>;
#endif
  return nullptr;
}

void multiply_rows_by_panel(BytePanel p, std::size_t rows) {
  constexpr std::size_t most = 4;
  const auto many = fast_kernel<most>(), fast = fast_kernel<1>();
  const auto go_on = [&](std::size_t count) {
    p.rows += count * p.rows_apart;
    p.sums += count * p.sums_apart;
    rows -= count;
  };
  for (; many && rows >= most; go_on(most)) many(p);
  for (; rows > 0; go_on(1)) fast ? fast(p) : multiply_pairs(p);
}

/// Bytes to halfwords, less the zero point. What lies behind the depth is multiplied with zeros.
void widen(const std::uint8_t* from, std::size_t count, std::int32_t zero, std::int16_t* to) {
  for (std::size_t i = 0; i < count; ++i)
    to[i] = static_cast<std::int16_t>(std::int32_t{from[i]} - zero);
}

/// By column: what its numbers must be less to be bytes with a sign. Empty if that is nothing.
std::vector<std::int32_t> lacking_of(std::span<const std::int16_t> transposed, std::size_t columns,
                                     std::size_t width) {
  std::vector<std::int32_t> lacking(width);
  const std::size_t depth = columns == 0 ? 0 : transposed.size() / columns;
  for (std::size_t c = 0; c < columns && depth > 0; ++c) {
    const auto [least, most] = std::ranges::minmax(transposed.subspan(c * depth, depth));
    lacking[c] = most > 127 ? most - 127 : least < -128 ? least + 128 : 0;
  }
  const bool nothing = std::ranges::all_of(lacking, [](std::int32_t n) { return n == 0; });
  return nothing ? std::vector<std::int32_t>() : lacking;
}

}  // namespace

bool has_quads() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
#else
  return false;
#endif
}

bool takes_quads(std::span<const std::int16_t> transposed, std::size_t columns) {
  const std::size_t depth = columns == 0 ? 0 : transposed.size() / columns;
  for (std::size_t c = 0; c < columns && depth > 0; ++c) {
    const auto [least, most] = std::ranges::minmax(transposed.subspan(c * depth, depth));
    if (most - least > 255) return false;
  }
  return has_quads();
}

PackedBytes::PackedBytes(std::span<const std::int16_t> transposed, std::size_t columns)
    : PackedBytes(transposed, columns, takes_quads(transposed, columns)) {}

PackedBytes::PackedBytes(std::span<const std::int16_t> transposed, std::size_t columns, bool quads)
    : columns_(columns), depth_(columns == 0 ? 0 : transposed.size() / columns), quads_(quads) {
  const std::size_t in_step = quads_ ? 4 : 2, bytes = 4 / in_step;
  panels_.resize(width() / byte_panel * steps() * panel_step_bytes);
  column_sums_.resize(width());
  if (quads_) lacking_ = lacking_of(transposed, columns, width());
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t k = 0; k < depth_; ++k) {
      const std::int16_t whole = transposed[c * depth_ + k];
      const auto number = static_cast<std::int16_t>(whole - (lacking_.empty() ? 0 : lacking_[c]));
      const std::size_t step = c / byte_panel * steps() + k / in_step;
      std::byte* const place =
          panels_.data() + step * panel_step_bytes + c % byte_panel * 4 + k % in_step * bytes;
      std::memcpy(place, &number, bytes);  // the lower byte comes first
      column_sums_[c] += whole;
    }
}

std::size_t PackedBytes::width() const {
  return (columns_ + byte_panel - 1) / byte_panel * byte_panel;
}

std::size_t PackedBytes::steps() const {
  const std::size_t in_step = quads_ ? 4 : 2;
  return (depth_ + in_step - 1) / in_step;
}

/// Some of the rows, with zeros behind each up to whole steps.
struct PackedBytes::Piece {
  std::size_t first, count, row_apart;
  const std::uint8_t* bytes;
  std::unique_ptr<std::uint8_t[]> own = {};
  std::int32_t zero;
  std::vector<std::int32_t> row_sums = {};  // if numbers of columns lack something
};

ByteTiles PackedBytes::tiles_of(Piece& piece, const std::int32_t* starts) const {
  ByteTiles tiles{piece.count,    piece.row_apart, piece.bytes, steps(),
                  panels_.data(), columns_,        starts};
  if (lacking_.empty()) return tiles;
  piece.row_sums.resize(piece.count);
  sum_bytes(tiles, depth_, piece.row_sums.data());
  tiles.lacking = lacking_.data();
  tiles.row_sums = piece.row_sums.data();
  return tiles;
}

PackedBytes::Piece PackedBytes::piece_of(const ByteRows& rows, std::size_t first,
                                         std::size_t last) const {
  const std::size_t padded = steps() * (quads_ ? 4 : 2), count = last - first;
  Piece piece{first, count, padded, nullptr, nullptr, rows.zero};
  if (rows.bytes != nullptr && padded == depth_ && !rows.is_signed) {
    piece.bytes = rows.bytes + first * depth_;
    return piece;
  }
  piece.own = std::make_unique_for_overwrite<std::uint8_t[]>(count * padded);
  piece.bytes = piece.own.get();
  for (std::size_t r = 0; r < count; ++r) {
    std::uint8_t* const row = piece.own.get() + r * padded;
    if (rows.bytes != nullptr) std::memcpy(row, rows.bytes + (first + r) * depth_, depth_);
    std::memset(row + depth_, 0, padded - depth_);
  }
  if (rows.bytes == nullptr) rows.write(first, count, piece.own.get(), padded);
  if (rows.is_signed) turn_signs(piece.own.get(), count * padded);
  return piece;
}

/// What sums begin with, by column of whole panels. With bytes the zero point is taken off the
/// sums: as often as there is a weight.
std::vector<std::int32_t> PackedBytes::starts(const ByteRows& rows,
                                              const std::int32_t* bias) const {
  std::vector<std::int32_t> starts(width());
  if (bias != nullptr) std::copy_n(bias, columns_, starts.begin());
  for (std::size_t c = 0; c < starts.size() && quads_; ++c)
    starts[c] = static_cast<std::int32_t>(std::int64_t{starts[c]} -
                                          std::int64_t{rows.zero} * column_sums_[c]);
  return starts;
}

void PackedBytes::write_sums(Piece& piece, const std::int32_t* starts, std::int32_t* sums) const {
  if (quads_) return multiply_to_sums(tiles_of(piece, starts), sums, width());
  std::vector<std::int16_t> wide(piece.count * piece.row_apart);
  widen(piece.bytes, wide.size(), piece.zero, wide.data());
  BytePanel panel{reinterpret_cast<const std::byte*>(wide.data()),
                  panels_.data(),
                  starts,
                  sums,
                  steps(),
                  2 * piece.row_apart,
                  width()};
  for (std::size_t c = 0; c < width(); c += byte_panel) {
    multiply_rows_by_panel(panel, piece.count);
    panel.panel += steps() * panel_step_bytes;
    panel.starts += byte_panel;
    panel.sums += byte_panel;
  }
}

void PackedBytes::multiply(const ByteRows& rows, const Take& take) const {
  const std::vector<std::int32_t> begin = starts(rows, nullptr);
  in_pieces(rows.count, rows_of_piece, [&](std::size_t first, std::size_t last) {
    Piece piece = piece_of(rows, first, last);
    const auto sums = std::make_unique_for_overwrite<std::int32_t[]>(piece.count * width());
    write_sums(piece, begin.data(), sums.get());
    take(first, piece.count, sums.get());
  });
}

void PackedBytes::multiply(const ByteRows& rows, const ByteTarget& target) const {
  ByteRescaling rescaling = target.rescaling;
  const std::vector<std::int32_t> begin = starts(rows, std::exchange(rescaling.bias, nullptr));
  std::vector<float> factors(width());
  std::copy_n(rescaling.factors, columns_, factors.begin());
  rescaling.factors = factors.data();
  in_pieces(rows.count, rows_of_piece, [&](std::size_t first, std::size_t last) {
    Piece piece = piece_of(rows, first, last);
    std::uint8_t* const to = target.to + first * target.apart;
    if (quads_)
      return multiply_to_bytes(tiles_of(piece, begin.data()), rescaling, to, target.apart);
    const auto sums = std::make_unique_for_overwrite<std::int32_t[]>(piece.count * width());
    write_sums(piece, begin.data(), sums.get());
    for (std::size_t r = 0; r < piece.count; ++r)
      rescale({1, columns_, width(), sums.get() + r * width()}, rescaling, to + r * target.apart);
  });
}

}  // namespace millrace::kernels
