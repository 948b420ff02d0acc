#include "kernels/integer/integer_convolution.h"

#if defined(__x86_64__)
#include <algorithm>
#include <limits>

#include "kernels/avx512_numbers.h"
#include "kernels/integer/integer_kinds.h"
#include "kernels/integer/integer_loops.h"

namespace millrace::kernels {
namespace {

struct Loops {
  const IntegerConvolution& c;
  const IntegerPanels& p;
  const IntegerOperands& o;

  /// By window of the panel.
  float* factors() const { return reinterpret_cast<float*>(o.working + p.factors); }
  /// A strip of the panel.
  std::byte* strip(std::size_t index) const { return o.working + index * p.strip_apart; }
  /// The same, of a panel that begins with the strip `first`.
  const std::byte* windows(std::size_t first, std::size_t index) const {
    return p.direct ? o.source + (first + index) * p.strip_apart : strip(index);
  }
};

/// Results of a row.
struct Strip {
  std::size_t line;  // of all rows of all images
  std::size_t first, count;

  [[gnu::always_inline]] Strip(const Loops& l, std::size_t index)
      : line(index / l.p.row_strips), first(begin(l, index % l.p.row_strips)) {
    count = begin(l, index % l.p.row_strips + 1) - first;
  }

  std::size_t result(const Loops& l) const { return line * l.c.width.output + first; }

 private:
  static std::size_t begin(const Loops& l, std::size_t index) {
    return l.c.width.output * index / l.p.row_strips;
  }
};

/// Pixels of a row of the image, and how many of padding are before and behind them.
struct Run {
  std::size_t before = 0, first = 0, count = 0, behind = 0;
};

/// Where the numbers of a strip's windows are in the image. Holds what it needs itself, so that the
/// compiler sees that nobody changes it.
class PlacesOfWindow {
 public:
  [[gnu::always_inline]] PlacesOfWindow(const Loops& l, const Strip& strip)
      : down(l.c.height.window),
        across(l.p.folded ? 1 : l.c.width.window),
        height_(l.c.height),
        width_(l.c.width),
        wide_(l.p.folded ? (strip.count - 1) * width_.stride + width_.window : 1),
        row_(strip.line % height_.output * height_.stride),
        column_(strip.first * width_.stride),
        first_row_(strip.line / height_.output * height_.input) {
    const std::size_t rows = (height_.window - 1) * height_.dilation;
    const std::size_t columns = l.p.folded ? wide_ - 1 : (width_.window - 1) * width_.dilation;
    inside_ = is_inside(height_, row_, rows) && is_inside(width_, column_, columns);
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

  const std::size_t down, across;  // runs

 private:
  static bool is_inside(const WindowAxis& axis, std::size_t first, std::size_t more) {
    return first >= axis.pad && first + more < axis.pad + axis.input;
  }

  const WindowAxis height_, width_;
  const std::size_t wide_;          // pixels of a run
  const std::size_t row_, column_;  // of the first pixel, counted from the padding's
  const std::size_t first_row_;     // of the image, counted through all of them
  bool inside_;                     // all of it
};

/// What the numbers of a strip are multiplied with, and what its sums are then.
struct Factors {
  float numbers = 1, sums = 1;
};
Factors factors_of(float most, float largest) {
  constexpr float least = 1e-30f;    // below, numbers count as zero
  constexpr float greatest = 1e36f;  // above, sums may be infinite
  if (!(most <= greatest)) return {0, std::numeric_limits<float>::quiet_NaN()};
  return {most > least ? largest / most : 0.f, most};
}

/// As integers; whole vectors are written, also behind the last number.
template <class Kind>
[[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16")]] inline void write_integers(
    const typename Kind::Number* from, std::size_t count, float factor, typename Kind::Number* to) {
  std::size_t i = 0;
  for (; i + Kind::in_vector <= count; i += Kind::in_vector)
    _mm512_storeu_si512(to + i, Kind::integers_of(_mm512_loadu_si512(from + i), factor));
  if (i < count)
    _mm512_storeu_si512(to + i, Kind::integers_of(Kind::rest(from + i, count - i), factor));
}
/// `zero`: the byte that stands for 0.
template <class Kind>
[[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16")]] inline void write_zeros(
    std::size_t count, char zero, typename Kind::Number* to) {
  for (std::size_t i = 0; i < count; i += Kind::in_vector)
    _mm512_storeu_si512(to + i, _mm512_set1_epi8(zero));
}

/// A strip of the panel that begins with the strip `first`.
template <class Kind>
[[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16")]] void read(const Loops& l,
                                                                     std::size_t first,
                                                                     std::size_t index) {
  using Number = typename Kind::Number;
  const Strip strip(l, first + index);
  const PlacesOfWindow window(l, strip);
  const auto* const image = reinterpret_cast<const Number*>(l.o.source);
  const std::size_t channels = l.c.channels;
  Factors factors;
  if constexpr (Kind::has_factors) {
    __m512i most = _mm512_setzero_si512();
    for (std::size_t i = 0; i < window.down; ++i)
      for (std::size_t j = 0; j < window.across; ++j) {
        const Run run = window.run_at(i, j);
        most = Kind::larger(most, image + run.first * channels, run.count * channels);
      }
    factors = factors_of(Kind::largest(most), l.p.largest);
    std::fill_n(l.factors() + index * l.p.strip, strip.count, factors.sums);
  }
  const auto zero = static_cast<char>(l.p.zero);
  std::byte* at = l.strip(index);
  for (std::size_t i = 0; i < window.down; ++i)
    for (std::size_t j = 0; j < window.across; ++j, at += l.p.run_apart) {
      const Run run = window.run_at(i, j);
      auto* to = reinterpret_cast<Number*>(at);
      write_zeros<Kind>(run.before * channels, zero, to);
      to += run.before * channels;
      write_integers<Kind>(image + run.first * channels, run.count * channels, factors.numbers, to);
      to += run.count * channels;
      write_zeros<Kind>(run.behind * channels, zero, to);
    }
}

/// Some windows of a panel times the weights of a block of outputs. While that is done, a share of
/// the weights that come next is brought into the cache.
struct Piece {
  const Loops& l;
  const std::byte* from;  // the first window
  std::size_t apart;      // bytes from one to the next
  const float* factors;   // of the windows
  std::size_t result;     // of the first window
  std::size_t block;      // of outputs
  std::size_t share, shares;
};

/// Places of windows whose products are summed up as integers, in runs.
struct SummedPart {
  std::size_t runs, count;  // of a run
  std::size_t run_apart;    // bytes
  std::size_t first;        // of all places of a window
  std::size_t offset;       // of it, in a window: bytes

  [[gnu::always_inline]] SummedPart(const IntegerPanels& p, std::size_t begin) : first(begin) {
    const std::size_t summed = p.summed / p.in_place, run = first / p.run_places;
    runs = p.overlap ? std::min(summed / p.run_places, p.runs - run) : 1;
    count = p.overlap ? p.run_places : std::min(summed, p.places() - first);
    run_apart = p.overlap ? p.run_apart : 4 * count;
    offset = p.overlap ? run * p.run_apart : 4 * first;
  }
  std::size_t end() const { return first + runs * count; }
};

/// Places that follow each other, `apart` bytes from one window to the next, with their weights.
struct Stretch {
  const std::byte* from;
  std::size_t apart, count;
  const std::byte* with;
  const std::byte* next;  // weights to be brought into the cache
};

/// Adds their products.
template <class Kind, std::size_t rows>
[[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16"), gnu::always_inline]] inline void
add_products(Stretch s, __m512i (&sums)[rows][2]) {
  // A pointer for three rows each, opaque to the compiler, which else keeps one for each row.
  const std::byte *a = s.from, *b = a + 3 * s.apart, *c = b + 3 * s.apart, *d = c + 3 * s.apart;
  for (std::size_t place = 0; place < s.count; ++place, s.with += integer_place, s.next += 64) {
    const __m512i left = _mm512_load_si512(s.with), right = _mm512_load_si512(s.with + 64);
    _mm_prefetch(s.next, _MM_HINT_T1);
#pragma GCC unroll 12
    for (std::size_t row = 0; row < rows; ++row) {
      std::int32_t bits;
      const std::byte* const base = row < 3 ? a : row < 6 ? b : row < 9 ? c : d;
      __builtin_memcpy(&bits, base + row % 3 * s.apart, sizeof bits);
      const __m512i x = _mm512_set1_epi32(bits);
      sums[row][0] = Kind::with_products(sums[row][0], x, left);
      sums[row][1] = Kind::with_products(sums[row][1], x, right);
    }
    a += 4, b += 4, c += 4, d += 4;
    asm("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
  }
}

template <class Kind, std::size_t rows>
[[gnu::target("avx512bw,avx512vl,avx512vnni,avx512bf16")]] void multiply_rows(const Piece& piece) {
  const Loops& l = piece.l;
  const std::size_t bytes = l.p.places() * integer_place;
  const std::byte* const with = l.o.weights + piece.block * bytes;
  const std::byte* const next = with + (piece.block + 1 == l.p.outputs ? 0 : bytes) +
                                bytes * piece.share / piece.shares / 64 * 64;
  const std::size_t output = piece.block * integer_outputs;
  const auto* const scales = l.o.weights + l.p.scales + output * 4;
  __m512 totals[rows][2];
  for (std::size_t first = 0; first < l.p.places();) {
    const SummedPart part(l.p, first);
    __m512i sums[rows][2] = {};
    for (std::size_t run = 0, place = first; run < part.runs; ++run, place += part.count)
      add_products<Kind, rows>({piece.from + part.offset + run * part.run_apart, piece.apart,
                                part.count, with + place * integer_place, next + place * 64},
                               sums);
#pragma GCC unroll 12
    for (std::size_t row = 0; row < rows; ++row)
#pragma GCC unroll 2
      for (std::size_t i = 0; i < 2; ++i) {
        const __m512 x = Kind::floats_of(sums[row][i], scales + 64 * i);
        totals[row][i] = first == 0 ? x : _mm512_add_ps(totals[row][i], x);
      }
    first = part.end();
  }
  const auto* const given =
      Kind::has_factors ? reinterpret_cast<const float*>(l.o.weights + l.p.scales) : l.o.scales;
  const Finish finishes[2] = {{l.c, given, l.o.bias, output}, {l.c, given, l.o.bias, output + 16}};
  const std::size_t size = size_of(l.c.result);
  alignas(64) float kept[rows][2][16];
#pragma GCC unroll 12
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < 2; ++i) {
      __m512 scale = finishes[i].scale;
      if constexpr (Kind::has_factors)
        scale = _mm512_mul_ps(scale, _mm512_set1_ps(piece.factors[row]));
      _mm512_store_ps(kept[row][i], _mm512_mul_ps(totals[row][i], scale));
    }
  }
  std::byte* const to = l.o.result + (piece.result * l.c.outputs + output) * size;
  for (std::size_t i = 0; i < 2 && output + 16 * i < l.c.outputs; ++i)
    finishes[i].finish({kept[0][i], 32, rows, to + 16 * i * size, l.c.outputs * size});
}

template <class Kind, std::size_t rows = integer_windows>
void multiply(const Piece& piece, std::size_t count) {
  if constexpr (rows > 0) {
    if (count == rows)
      multiply_rows<Kind, rows>(piece);
    else
      multiply<Kind, rows - 1>(piece, count);
  }
}

/// All windows of a panel with `count` strips.
template <class Kind>
void multiply_panel(const Loops& l, std::size_t first, std::size_t count, std::size_t block) {
  const std::size_t pieces = l.p.overlap ? count : divided_up(count, integer_windows);
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t begin = count * i / pieces, end = count * (i + 1) / pieces;
    Piece piece{l,
                l.windows(first, begin),
                l.p.strip_apart,
                l.factors() + begin * l.p.strip,
                first + begin,
                block,
                i,
                pieces};
    std::size_t windows = end - begin;
    if (l.p.overlap) {
      const Strip strip(l, first + begin);
      piece.apart = l.p.window_apart;
      piece.result = strip.result(l);
      windows = strip.count;
    }
    multiply<Kind>(piece, windows);
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

template <class Kind>
void convolve_as(const Loops& l) {
  for (std::size_t first = 0; first < l.p.count; first += l.p.panel) {
    const std::size_t count = std::min(l.p.panel, l.p.count - first);
    if (!l.p.direct) for_all(count, 4, [&](std::size_t i) { read<Kind>(l, first, i); });
    for_all(l.p.outputs, 1,
            [&](std::size_t block) { multiply_panel<Kind>(l, first, count, block); });
  }
}

}  // namespace

void convolve(const IntegerConvolution& c, const IntegerPanels& p, const IntegerOperands& o) {
  const Loops l{c, p, o};
  if (c.source == StoredNumber::bf16) return convolve_as<Words<StoredNumber::bf16>>(l);
  if (c.source == StoredNumber::f16) return convolve_as<Words<StoredNumber::f16>>(l);
  if (c.source == StoredNumber::u8) return convolve_as<Quads<false>>(l);
  convolve_as<Quads<true>>(l);
}

}  // namespace millrace::kernels

#else

namespace millrace::kernels {
void convolve(const IntegerConvolution&, const IntegerPanels&, const IntegerOperands&) {
}  // nobody may call it here
}  // namespace millrace::kernels

#endif
