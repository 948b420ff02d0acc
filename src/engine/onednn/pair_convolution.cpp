#include "engine/onednn/pair_convolution.h"

#if defined(__x86_64__)
#include <algorithm>
#include <limits>

#include "engine/onednn/avx512_numbers.h"
#include "engine/onednn/bfloat16.h"
#include "engine/onednn/pair_loops.h"

namespace millrace::engine::onednn {
namespace {

using Word = std::uint16_t;
constexpr std::size_t vector_words = 32;

struct Loops {
  const PairConvolution& c;
  const PairPanels& p;
  const PairOperands& o;

  const Word* pixel(std::size_t index) const {
    return reinterpret_cast<const Word*>(o.source) + index * c.channels;
  }
  float* factors() const { return reinterpret_cast<float*>(o.working + p.factors); }
  std::int16_t* window(std::size_t index) const {
    return reinterpret_cast<std::int16_t*>(o.working) + index * p.apart;
  }
};

/// Of so many numbers, fewer than a vector has.
inline __mmask32 mask_of(std::size_t count) { return (__mmask32{1} << count) - 1; }

/// The larger of these and the magnitudes of bfloat16 numbers, as their bits.
[[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16")]] inline __m512i larger(
    __m512i most, const Word* from, std::size_t count) {
  const __m512i magnitude = _mm512_set1_epi16(0x7fff);
  std::size_t i = 0;
  for (; i + vector_words <= count; i += vector_words)
    most = _mm512_max_epu16(most, _mm512_and_si512(_mm512_loadu_si512(from + i), magnitude));
  if (i == count) return most;
  const __m512i rest = _mm512_maskz_loadu_epi16(mask_of(count - i), from + i);
  return _mm512_max_epu16(most, _mm512_and_si512(rest, magnitude));
}

[[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16")]] inline Word largest(__m512i words) {
  const __m512i high = _mm512_srli_epi32(words, 16);
  const __m512i low = _mm512_and_si512(words, _mm512_set1_epi32(0xffff));
  return static_cast<Word>(_mm512_reduce_max_epu32(_mm512_max_epu32(high, low)));
}

/// Pixels of a row of the image, and how many of padding are before and behind them.
struct Run {
  std::size_t before = 0, first = 0, count = 0, behind = 0;
};

/// Where the numbers of a window are in the image. Holds what it needs itself, so that the compiler
/// sees that nobody changes it.
class Window {
 public:
  [[gnu::always_inline]] Window(const Loops& l, std::size_t result)
      : down(l.c.height.window),
        across(l.p.folded ? 1 : l.c.width.window),
        height_(l.c.height),
        width_(l.c.width),
        wide_(l.p.folded ? width_.window : 1) {
    const std::size_t line = result / width_.output;
    row_ = line % height_.output * height_.stride;
    column_ = result % width_.output * width_.stride;
    first_row_ = line / height_.output * height_.input;
    inside_ = is_inside(height_, row_) && is_inside(width_, column_);
  }

  [[gnu::always_inline]] Run run_at(std::size_t i, std::size_t j) const {
    const std::size_t y = row_ + i * height_.dilation - height_.pad;
    const std::size_t left = column_ + j * width_.dilation;  // counted from the padding's
    const std::size_t row = (first_row_ + y) * width_.input;
    if (inside_) return {0, row + left - width_.pad, wide_, 0};
    const std::size_t begin = std::clamp(width_.pad, left, left + wide_);
    const std::size_t end = std::clamp(width_.pad + width_.input, begin, left + wide_);
    if (y >= height_.input || begin == end) return {wide_, 0, 0, 0};  // also below zero
    return {begin - left, row + begin - width_.pad, end - begin, left + wide_ - end};
  }

  /// All of it.
  bool inside() const { return inside_; }

  const std::size_t down, across;  // runs

 private:
  static bool is_inside(const WindowAxis& axis, std::size_t first) {
    return first >= axis.pad && first + (axis.window - 1) * axis.dilation < axis.pad + axis.input;
  }

  const WindowAxis height_, width_;
  const std::size_t wide_;    // pixels of a run
  std::size_t row_, column_;  // of the first pixel, counted from the padding's
  std::size_t first_row_;     // of the image, counted through all of them
  bool inside_;               // all of it
};

/// Whole vectors of zeros, as many as it takes.
[[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16")]] inline void write_zeros(
    std::int16_t* to, std::size_t count) {
  for (std::size_t i = 0; i < count; i += vector_words)
    _mm512_storeu_si512(to + i, _mm512_setzero_si512());
}

/// 32 bfloat16 numbers times the factor, as integers.
[[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16")]] inline __m512i integers_of(
    __m512i x, __m512 times) {
  // Leaves the nearest integer of a number below 2^22 in the lowest bits.
  const __m512 to_integer = _mm512_set1_ps(12582912.f);
  const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xffff0000u));
  const __m512 even = _mm512_castsi512_ps(_mm512_slli_epi32(x, 16));
  const __m512 odd = _mm512_castsi512_ps(_mm512_and_si512(x, upper));
  const __m512i low = _mm512_castps_si512(_mm512_fmadd_ps(even, times, to_integer));
  const __m512i high = _mm512_castps_si512(_mm512_fmadd_ps(odd, times, to_integer));
  return _mm512_mask_blend_epi16(0xaaaaaaaau, low, _mm512_slli_epi32(high, 16));
}

/// Whole vectors are written, also behind the last number.
[[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16")]] inline void write_integers(
    const Word* from, std::size_t count, float factor, std::int16_t* to) {
  const __m512 times = _mm512_set1_ps(factor);
  std::size_t i = 0;
  for (; i + vector_words <= count; i += vector_words)
    _mm512_storeu_si512(to + i, integers_of(_mm512_loadu_si512(from + i), times));
  if (i == count) return;
  const __m512i rest = _mm512_maskz_loadu_epi16(mask_of(count - i), from + i);
  _mm512_storeu_si512(to + i, integers_of(rest, times));
}

/// What the numbers of a window are multiplied with, and what its sums are then.
struct Factors {
  float numbers = 0, sums = 0;
};
Factors factors_of(Word magnitude, float largest) {
  constexpr float least = 1e-30f;    // below, numbers count as zero
  constexpr float greatest = 1e36f;  // above, sums may be infinite
  const float most = from_bfloat16(magnitude);
  if (!(most <= greatest)) return {0, std::numeric_limits<float>::quiet_NaN()};
  return {most > least ? largest / most : 0.f, most};
}

/// A window inside of the image with runs of less than a vector, as first convolutions have.
/// Returns what its sums are.
[[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16")]] inline float read_short(
    const Loops& l, const Word* from, std::int16_t* to) {
  const std::size_t run = l.p.run, rows = l.c.height.window;
  const std::size_t line = l.c.height.dilation * l.c.width.input * l.c.channels;
  const __mmask32 mask = mask_of(run);
  const __m512i magnitude = _mm512_set1_epi16(0x7fff);
  __m512i most = _mm512_setzero_si512();
  for (std::size_t i = 0; i < rows; ++i)
    most = _mm512_max_epu16(
        most, _mm512_and_si512(_mm512_maskz_loadu_epi16(mask, from + i * line), magnitude));
  const Factors factors = factors_of(largest(most), l.p.largest);
  const __m512 times = _mm512_set1_ps(factors.numbers);
  for (std::size_t i = 0; i < rows; ++i)
    _mm512_storeu_si512(to + i * run,
                        integers_of(_mm512_maskz_loadu_epi16(mask, from + i * line), times));
  return factors.sums;
}

/// Any window. Returns what its sums are.
[[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16")]] inline float read_any(
    const Loops& l, const Window& window, std::int16_t* to) {
  const Word* const image = l.pixel(0);
  const std::size_t channels = l.c.channels;
  __m512i most = _mm512_setzero_si512();
  for (std::size_t i = 0; i < window.down; ++i)
    for (std::size_t j = 0; j < window.across; ++j) {
      const Run run = window.run_at(i, j);
      most = larger(most, image + run.first * channels, run.count * channels);
    }
  const Factors factors = factors_of(largest(most), l.p.largest);
  for (std::size_t i = 0; i < window.down; ++i)
    for (std::size_t j = 0; j < window.across; ++j) {
      const Run run = window.run_at(i, j);
      write_zeros(to, run.before * channels);
      to += run.before * channels;
      write_integers(image + run.first * channels, run.count * channels, factors.numbers, to);
      to += run.count * channels;
      write_zeros(to, run.behind * channels);
      to += run.behind * channels;
    }
  return factors.sums;
}

/// A window of the panel that begins with the result `first`.
[[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16")]] void read(const Loops& l,
                                                                     std::size_t first,
                                                                     std::size_t index) {
  const Window window(l, first + index);
  std::int16_t* const to = l.window(index);
  const bool is_short = window.inside() && window.across == 1 && l.p.run < vector_words;
  l.factors()[index] =
      is_short ? read_short(l, l.pixel(window.run_at(0, 0).first), to) : read_any(l, window, to);
  to[l.c.height.window * l.c.width.window * l.c.channels] = 0;  // the other number of a last pair
}

/// Some windows of a panel times the weights of a block of outputs. While that is done, a share of
/// the weights that come next is brought into the cache.
struct Piece {
  const Loops& l;
  std::size_t first;   // result of the panel's first window
  std::size_t window;  // the first one in the panel
  std::size_t block;   // of outputs
  std::size_t share, shares;
};

/// To each sum the two products of 16-bit numbers in its place. In assembly, since the compiler
/// moves sums to and fro around its own intrinsic.
[[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16")]] inline __m512i with_products(
    __m512i sums, __m512i left, __m512i right) {
  asm("vpdpwssd %2, %1, %0" : "+v"(sums) : "v"(left), "v"(right));
  return sums;
}

constexpr std::size_t block_step = 2 * 64;  // bytes: the weights of a pair for a block of outputs

/// Adds the products of these pairs of numbers.
template <std::size_t rows>
[[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16")]] inline void add_products(
    const Piece& piece, std::size_t begin, std::size_t end, __m512i (&sums)[rows][2]) {
  const PairPanels& p = piece.l.p;
  const std::size_t apart = p.apart * 2;
  const auto* const from = reinterpret_cast<const std::byte*>(piece.l.window(piece.window));
  const std::byte* with = piece.l.o.weights + (piece.block * p.pairs + begin) * block_step;
  const bool is_last = piece.block + 1 == p.outputs;
  const std::size_t bytes = p.pairs * block_step;
  const std::byte* next =
      with + (is_last ? 0 : bytes) + bytes * piece.share / piece.shares / 64 * 64;
  // A pointer for three rows each, opaque to the compiler, which else keeps one for each row.
  constexpr std::size_t bases = (rows + 2) / 3;
  const std::byte* base[bases];
  for (std::size_t i = 0; i < bases; ++i) base[i] = from + 3 * i * apart + 4 * begin;
  for (std::size_t pair = begin; pair < end; ++pair, with += block_step, next += 64) {
    const __m512i left = _mm512_load_si512(with), right = _mm512_load_si512(with + 64);
    _mm_prefetch(next, _MM_HINT_T1);
#pragma GCC unroll 12
    for (std::size_t row = 0; row < rows; ++row) {
      std::int32_t bits;
      __builtin_memcpy(&bits, base[row / 3] + row % 3 * apart, sizeof bits);
      const __m512i x = _mm512_set1_epi32(bits);
      sums[row][0] = with_products(sums[row][0], x, left);
      sums[row][1] = with_products(sums[row][1], x, right);
    }
#pragma GCC unroll 4
    for (std::size_t i = 0; i < bases; ++i) {
      base[i] += 4;
      asm("" : "+r"(base[i]));
    }
  }
}

template <std::size_t rows>
[[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16")]] void multiply_rows(const Piece& piece) {
  const Loops& l = piece.l;
  constexpr std::size_t step = pair_numbers / 2;
  __m512 totals[rows][2];
  for (std::size_t begin = 0; begin < l.p.pairs; begin += step) {
    __m512i sums[rows][2] = {};
    add_products<rows>(piece, begin, std::min(begin + step, l.p.pairs), sums);
#pragma GCC unroll 12
    for (std::size_t row = 0; row < rows; ++row)
#pragma GCC unroll 2
      for (std::size_t i = 0; i < 2; ++i) {
        const __m512 x = _mm512_cvtepi32_ps(sums[row][i]);
        totals[row][i] = begin == 0 ? x : _mm512_add_ps(totals[row][i], x);
      }
  }
  const auto* const scales = reinterpret_cast<const float*>(l.o.weights + l.p.scales);
  const std::size_t output = piece.block * pair_outputs;
  const Finish finishes[2] = {{l.c, scales, l.o.bias, output},
                              {l.c, scales, l.o.bias, output + 16}};
#pragma GCC unroll 12
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t window = piece.window + row;
    const __m512 factor = _mm512_set1_ps(l.factors()[window]);
    auto* const to =
        reinterpret_cast<Word*>(l.o.result) + (piece.first + window) * l.c.outputs + output;
    for (std::size_t i = 0; i < 2 && output + 16 * i < l.c.outputs; ++i) {
      const __m512 scale = _mm512_mul_ps(finishes[i].scale, factor);
      finishes[i].finish_as(_mm512_mul_ps(totals[row][i], scale),
                            reinterpret_cast<std::byte*>(to + 16 * i), StoredNumber::bf16,
                            StoredNumber::bf16);
    }
  }
}

template <std::size_t rows = pair_rows>
void multiply(const Piece& piece, std::size_t count) {
  if constexpr (rows > 0) {
    if (count == rows)
      multiply_rows<rows>(piece);
    else
      multiply<rows - 1>(piece, count);
  }
}

/// All windows of a panel, `count` of them.
void multiply_panel(const Loops& l, std::size_t first, std::size_t count, std::size_t block) {
  const std::size_t pieces = (count + pair_rows - 1) / pair_rows;
  for (std::size_t i = 0, window = 0; i < pieces; ++i) {
    const std::size_t end = count * (i + 1) / pieces;
    multiply({l, first, window, block, i, pieces}, end - window);
    window = end;
  }
}

/// Calls `job` with all numbers below `count`, on all threads there are, so many to each at once.
template <class Job>
void for_all(std::size_t count, std::size_t at_once, const Job& job) {
  const auto all = static_cast<std::ptrdiff_t>((count + at_once - 1) / at_once);
#if defined(_OPENMP)
#pragma omp parallel for schedule(static)
#endif
  for (std::ptrdiff_t i = 0; i < all; ++i) {
    const std::size_t begin = static_cast<std::size_t>(i) * at_once;
    for (std::size_t j = begin; j < std::min(begin + at_once, count); ++j) job(j);
  }
}

}  // namespace

void convolve(const PairConvolution& c, const PairPanels& p, const PairOperands& o) {
  const Loops l{c, p, o};
  for (std::size_t first = 0; first < p.count; first += p.panel) {
    const std::size_t count = std::min(p.panel, p.count - first);
    for_all(count, 4, [&](std::size_t i) { read(l, first, i); });
    for_all(p.outputs, 1, [&](std::size_t block) { multiply_panel(l, first, count, block); });
  }
}

}  // namespace millrace::engine::onednn

#else

namespace millrace::engine::onednn {
void convolve(const PairConvolution&, const PairPanels&, const PairOperands&) {
}  // nobody may call it here
}  // namespace millrace::engine::onednn

#endif
