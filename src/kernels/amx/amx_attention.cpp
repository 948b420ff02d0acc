#include "kernels/amx/amx_attention.h"

#if defined(__x86_64__)
#include <algorithm>
#include <array>
#include <optional>

#include "kernels/amx/amx_tiles.h"
#include "kernels/own_convolution.h"
#include "kernels/plain/attention_rows.h"

namespace millrace::kernels {
namespace {

constexpr std::size_t tile_numbers = tile / sizeof(float);
constexpr std::size_t terms_apart = 64;  // bytes from 32 high terms to their low ones
constexpr std::size_t step_tiles = 4;    // of 32 x 32 numbers in two terms
/// Sums begin at zero, and are added to others last, so that no sum is of many numbers.
constexpr std::size_t most_steps = 32;

std::size_t steps_of(std::size_t count) { return (count + block - 1) / block; }

/// Rows that begin in an odd number of cache lines from each other fall into different sets.
std::size_t row_numbers(std::size_t count) { return steps_of(count) * block + 16; }

/// As tiles of columns: by 32 columns, by 32 rows, the high terms of 16 columns and of 16 more, and
/// the low ones.
struct TileMatrix {
  float* tiles;
  std::size_t rows, columns;

  std::size_t of_block() const { return steps_of(rows) * step_tiles * tile_numbers; }
  std::size_t all() const { return of_block() * steps_of(columns); }
};

using Part = std::array<float, block * 16>;  // 32 rows of 16 columns

/// Where a matrix begins, and how it lies.
struct Source {
  const float* begin;
  const MatrixPlaces& places;

  const float* at(std::size_t row, std::size_t column) const {
    return begin + static_cast<std::ptrdiff_t>(row) * places.row +
           static_cast<std::ptrdiff_t>(column) * places.column;
  }
};

/// What is there of a part, and zeros.
void fetch(const Source& source, std::size_t rows, std::size_t there, Part& part) {
  const MatrixPlaces& places = source.places;
  const float* from = source.begin;
  if (rows < block || there < 16) part.fill(0);
  if (places.row == 1) {
    for (std::size_t c = 0; c < there; ++c, from += places.column)
      for (std::size_t r = 0; r < rows; ++r) part[r * 16 + c] = from[r];
    return;
  }
  for (std::size_t r = 0; r < rows; ++r, from += places.row)
    for (std::size_t c = 0; c < there; ++c)
      part[r * 16 + c] = from[static_cast<std::ptrdiff_t>(c) * places.column];
}

/// In the low halves of 32 bits.
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] inline __m512i terms_of(__m512 x) {
  return _mm512_cvtepu16_epi32(reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x)));
}

/// Rows two by two, side by side.
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void write_pairs(const Part& part,
                                                                         float* high, float* low) {
  for (std::size_t r = 0; r < block; r += 2, high += 16, low += 16) {
    const __m512 a = _mm512_loadu_ps(&part[r * 16]), b = _mm512_loadu_ps(&part[r * 16 + 16]);
    const __m512i first = terms_of(a), second = _mm512_slli_epi32(terms_of(b), 16);
    const __m512 first_seen = _mm512_castsi512_ps(_mm512_slli_epi32(first, 16));
    const __m512i first_rest = terms_of(_mm512_sub_ps(a, first_seen));
    const __m512i second_rest = terms_of(_mm512_sub_ps(b, _mm512_castsi512_ps(second)));
    _mm512_storeu_si512(high, _mm512_or_si512(first, second));
    _mm512_storeu_si512(low, _mm512_or_si512(first_rest, _mm512_slli_epi32(second_rest, 16)));
  }
}

void pack(const TileMatrix& m, const Source& source) {
  alignas(64) Part part;
  for (std::size_t c = 0; c < steps_of(m.columns) * block; c += 16)
    for (std::size_t r = 0; r < m.rows; r += block) {
      const std::size_t there = std::min<std::size_t>(16, m.columns - std::min(m.columns, c));
      fetch({source.at(r, c), source.places}, std::min(block, m.rows - r), there, part);
      float* const to = m.tiles + c / block * m.of_block() +
                        (r / block * step_tiles + c % block / 16) * tile_numbers;
      write_pairs(part, to, to + 2 * tile_numbers);
    }
}

/// In place: of each 32 numbers the high terms, then the low ones.
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void split_row(float* x,
                                                                       std::size_t count) {
  for (std::size_t i = 0; i < count; i += block, x += block) {
    const __m512 a = _mm512_loadu_ps(x), b = _mm512_loadu_ps(x + 16);
    const auto high = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(b, a));
    const __m512i a_bits =
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(high)), 16);
    const __m512i b_bits =
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(high, 1)), 16);
    const auto low = reinterpret_cast<__m512i>(
        _mm512_cvtne2ps_pbh(_mm512_sub_ps(b, _mm512_castsi512_ps(b_bits)),
                            _mm512_sub_ps(a, _mm512_castsi512_ps(a_bits))));
    _mm512_storeu_si512(x, high);
    _mm512_storeu_si512(x + 16, low);
  }
}

/// 32 split rows by 32 columns.
struct TileProduct {
  const float* rows;
  std::size_t apart;  // numbers
  const float* columns;
  std::size_t steps;
  float* to;
  std::size_t to_apart;  // numbers
};

[[gnu::target("avx512f,amx-tile,amx-bf16")]] void multiply(const TileProduct& p) {
  const auto* rows = reinterpret_cast<const std::byte*>(p.rows);
  const auto* columns = reinterpret_cast<const std::byte*>(p.columns);
  const std::size_t apart = p.apart * sizeof(float);
  clear_tiles();
  for (std::size_t i = 0; i < p.steps; ++i) {
    load_rows(rows, apart);
    load_columns(columns + 2 * tile);
    multiply_tiles();
    load_columns(columns);
    multiply_tiles();
    load_rows(rows + terms_apart, apart);
    multiply_tiles();
    rows += 2 * terms_apart;
    columns += step_tiles * tile;
  }
  store_tiles(p.to, p.to_apart * sizeof(float));
}

/// How many numbers a thread needs for each of these.
struct WorkingSizes {
  std::size_t keys, values, queries, products, sums;

  explicit WorkingSizes(const Attention& a)
      : keys(TileMatrix{nullptr, a.depth, a.keys}.all()),
        values(TileMatrix{nullptr, a.keys, a.width}.all()),
        queries(block * row_numbers(a.depth)),
        products(block * row_numbers(a.keys)),
        sums(block * row_numbers(a.width)) {}
  std::size_t all() const { return keys + values + queries + products + sums + block * block; }
};

/// What a thread works with.
class Attending {
 public:
  Attending(const Attention& attention, const AttentionOperands& operands, float* working)
      : attention_(attention),
        operands_(operands),
        keys_{working, attention.depth, attention.keys} {
    const WorkingSizes sizes(attention);
    values_ = {keys_.tiles + sizes.keys, attention.keys, attention.width};
    queries_ = values_.tiles + sizes.values;
    products_ = queries_ + sizes.queries;
    sums_ = products_ + sizes.products;
    some_ = sums_ + sizes.sums;
    configure_tiles();
  }
  ~Attending() { release_tiles(); }
  Attending(const Attending&) = delete;
  Attending& operator=(const Attending&) = delete;

  /// Packs keys and values that are not packed already; several matrices may have the same.
  void take(std::size_t matrix) {
    const std::ptrdiff_t key = attention_.key.begins[matrix];
    const std::ptrdiff_t value = attention_.value.begins[matrix];
    if (key_ != key) pack(keys_, {operands_.key + key, attention_.key});
    if (value_ != value) pack(values_, {operands_.value + value, attention_.value});
    key_ = key;
    value_ = value;
  }

  void attend(const RowsPlace& place) {
    const std::size_t of_query = row_numbers(attention_.depth);
    const std::size_t of_products = row_numbers(attention_.keys);
    std::fill_n(queries_, block * of_query, 0.f);
    read_queries(attention_, operands_, place, {queries_, of_query});
    split_rows(queries_, attention_.depth);
    for (std::size_t k = 0; k < steps_of(attention_.keys); ++k)
      multiply({queries_, of_query, keys_.tiles + k * keys_.of_block(), steps_of(attention_.depth),
                products_ + k * block, of_products});
    ProductRows products = product_rows(attention_, operands_, place);
    products.numbers = products_;
    products.whole = steps_of(attention_.keys) * block;
    products.apart = of_products;
    float factors[block];
    raise_rows(products, factors);
    split_rows(products_, attention_.keys);
    for (std::size_t column = 0; column < steps_of(attention_.width); ++column)
      multiply_values(column);
    write_results(attention_, operands_, place, {sums_, row_numbers(attention_.width), factors});
  }

 private:
  static void split_rows(float* numbers, std::size_t count) {
    const std::size_t apart = row_numbers(count);
    for (std::size_t r = 0; r < block; ++r) split_row(numbers + r * apart, steps_of(count) * block);
  }

  void multiply_values(std::size_t column) {
    const std::size_t steps = steps_of(attention_.keys), apart = row_numbers(attention_.width);
    float* const sums = sums_ + column * block;
    for (std::size_t first = 0; first < steps; first += most_steps) {
      multiply({products_ + first * block, row_numbers(attention_.keys),
                values_.tiles + column * values_.of_block() + first * step_tiles * tile_numbers,
                std::min(most_steps, steps - first), first == 0 ? sums : some_,
                first == 0 ? apart : block});
      if (first == 0) continue;
      for (std::size_t r = 0; r < block; ++r)
        for (std::size_t c = 0; c < block; ++c) sums[r * apart + c] += some_[r * block + c];
    }
  }

  const Attention& attention_;
  const AttentionOperands& operands_;
  TileMatrix keys_, values_{};
  float *queries_ = nullptr, *products_ = nullptr, *sums_ = nullptr, *some_ = nullptr;
  std::optional<std::ptrdiff_t> key_, value_;  // the beginnings of what is packed
};

}  // namespace

std::size_t working_numbers_on_tiles(const Attention& attention, std::size_t threads) {
  return WorkingSizes(attention).all() * RowBlocks(attention, block).working(threads);
}

void attend_on_tiles(const Attention& attention, const AttentionOperands& operands,
                     std::size_t threads) {
  const std::size_t working = WorkingSizes(attention).all();
  attend_blocks(attention, RowBlocks(attention, block), threads, [&](std::size_t thread) {
    return Attending(attention, operands, operands.working + thread * working);
  });
}

}  // namespace millrace::kernels

#else

namespace millrace::kernels {
std::size_t working_numbers_on_tiles(const Attention&, std::size_t) { return 0; }
void attend_on_tiles(const Attention&, const AttentionOperands&, std::size_t) {
}  // nobody may call it here
}  // namespace millrace::kernels

#endif
