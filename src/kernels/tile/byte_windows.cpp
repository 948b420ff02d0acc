#include "kernels/tile/byte_windows.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace millrace::kernels {
namespace {

std::int16_t distance_of(const TileBytes& bytes, std::int64_t at) {
  const auto value = static_cast<std::uint8_t>(bytes.data[at]);
  const std::int32_t number = bytes.is_signed ? static_cast<std::int8_t>(value) : value;
  return static_cast<std::int16_t>(number - bytes.zero);
}

/// The distances of a tile's input with the padding around it, so that every window lies inside.
class PaddedDistances {
 public:
  PaddedDistances(const ByteTileConvolution& c, const TileBytes& input)
      : rows_(reach(c, 0)), columns_(reach(c, 1)) {
    numbers_.assign(static_cast<std::size_t>(c.input.channels * rows_ * columns_), 0);
    for (std::int64_t channel = 0; channel < c.input.channels; ++channel)
      for (std::int64_t row = 0; row < rows_; ++row)
        fill(c, input, {channel, row - c.windows.pads[0]}, at(channel, row));
  }

  const std::int16_t* row(std::int64_t channel, std::int64_t row) const {
    return numbers_.data() + (channel * rows_ + row) * columns_;
  }

 private:
  struct InputRow {
    std::int64_t channel = 0, row = 0;
  };

  static std::int64_t reach(const ByteTileConvolution& c, std::size_t axis) {
    const TileWindows& w = c.windows;
    const std::int64_t count = axis == 0 ? c.output.rows : c.output.columns;
    return (count - 1) * w.strides[axis] + (w.kernel[axis] - 1) * w.dilations[axis] + 1;
  }

  std::int16_t* at(std::int64_t channel, std::int64_t row) {
    return numbers_.data() + (channel * rows_ + row) * columns_;
  }

  void fill(const ByteTileConvolution& c, const TileBytes& input, const InputRow& from,
            std::int16_t* to) const {
    if (from.row < 0 || from.row >= c.input.rows) return;
    const std::int64_t begin =
        from.channel * c.input.channel_stride + from.row * c.input.row_stride;
    const std::int64_t pad = c.windows.pads[1];
    const std::int64_t last = std::min(columns_, c.input.columns + pad);
    for (std::int64_t x = pad; x < last; ++x) to[x] = distance_of(input, begin + x - pad);
  }

  std::int64_t rows_, columns_;
  std::vector<std::int16_t> numbers_;
};

/// Numbers that lie `stride` apart, as many as there are sums.
struct StridedNumbers {
  const std::int16_t* first = nullptr;
  std::int64_t stride = 1;
};

/// Adds a weight times each number, modulo 2^32.
void add_weighted(std::vector<std::uint32_t>& sums, std::int32_t weight,
                  const StridedNumbers& numbers) {
  const std::size_t count = sums.size();
  std::uint32_t* const to = sums.data();
  if (numbers.stride == 1) {
    for (std::size_t x = 0; x < count; ++x)
      to[x] += static_cast<std::uint32_t>(weight * numbers.first[x]);
    return;
  }
  const std::int16_t* from = numbers.first;
  for (std::size_t x = 0; x < count; ++x, from += numbers.stride)
    to[x] += static_cast<std::uint32_t>(weight * *from);
}

/// The sums of one row of a channel of the output.
class ByteRowSums {
 public:
  ByteRowSums(const ByteTileConvolution& c, const TileBytes& weights,
              const PaddedDistances& numbers)
      : c_(c),
        weights_(weights),
        numbers_(numbers),
        sums_(static_cast<std::size_t>(c.output.columns)) {}

  void start(std::uint32_t value) { std::fill(sums_.begin(), sums_.end(), value); }
  void start(const std::int32_t* values) { std::copy_n(values, sums_.size(), sums_.begin()); }

  void add(std::int64_t channel, std::int64_t row) {
    const TileWindows& w = c_.windows;
    const std::int64_t kernel = w.kernel[0] * w.kernel[1];
    const std::int64_t first = c_.by_channel ? channel : 0;
    const std::int64_t channels = c_.by_channel ? 1 : c_.input.channels;
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t y = 0; y < w.kernel[0]; ++y) {
        const std::int64_t at = channel * c_.weight_stride + c * kernel + y * w.kernel[1];
        add_row(at, numbers_.row(first + c, row * w.strides[0] + y * w.dilations[0]));
      }
  }

  void write(std::int32_t* to) const { std::copy_n(sums_.begin(), sums_.size(), to); }

 private:
  void add_row(std::int64_t weight, const std::int16_t* numbers) {
    const TileWindows& w = c_.windows;
    for (std::int64_t x = 0; x < w.kernel[1]; ++x)
      add_weighted(sums_, distance_of(weights_, weight + x),
                   {numbers + x * w.dilations[1], w.strides[1]});
  }

  const ByteTileConvolution& c_;
  const TileBytes& weights_;
  const PaddedDistances& numbers_;
  std::vector<std::uint32_t> sums_;
};

/// The bounds are whole numbers, so clamping first changes nothing, and it keeps the sum with
/// 1.5 * 2^23 where float32 has whole numbers only: adding it rounds, halves to the even one.
std::byte in_steps(float value, const TileByteSteps& steps) {
  const auto zero = static_cast<float>(steps.zero);
  const float low = (steps.is_signed ? -128.0f : 0.0f) - zero;
  const float high = (steps.is_signed ? 127.0f : 255.0f) - zero;
  value = value > low ? value : low;
  value = value < high ? value : high;
  value = (value + 0x1.8p23f) - 0x1.8p23f;
  return static_cast<std::byte>(static_cast<std::int32_t>(value + zero));
}

template <class T>
T largest_under(const TilePool& pool, const T* plane, std::int64_t row, std::int64_t column) {
  const TileWindows& w = pool.windows;
  T largest = std::numeric_limits<T>::lowest();
  for (std::int64_t y = 0; y < w.kernel[0]; ++y)
    for (std::int64_t x = 0; x < w.kernel[1]; ++x) {
      const std::int64_t r = row * w.strides[0] - w.pads[0] + y * w.dilations[0];
      const std::int64_t c = column * w.strides[1] - w.pads[1] + x * w.dilations[1];
      const bool inside = r >= 0 && r < pool.input.rows && c >= 0 && c < pool.input.columns;
      if (inside) largest = std::max(largest, plane[r * pool.input.row_stride + c]);
    }
  return largest;
}

template <class T>
void pool_integers(const TilePool& pool, const std::byte* input, std::byte* output) {
  for (std::int64_t channel = 0; channel < pool.output.channels; ++channel) {
    const T* plane = reinterpret_cast<const T*>(input) + channel * pool.input.channel_stride;
    T* to = reinterpret_cast<T*>(output) + channel * pool.output.channel_stride;
    for (std::int64_t row = 0; row < pool.output.rows; ++row)
      for (std::int64_t column = 0; column < pool.output.columns; ++column)
        to[row * pool.output.row_stride + column] = largest_under(pool, plane, row, column);
  }
}

}  // namespace

void convolve_bytes(const ByteTileConvolution& c, const ByteTileTensors& t) {
  const PaddedDistances numbers(c, t.input);
  ByteRowSums row_sums(c, t.weights, numbers);
  for (std::int64_t channel = 0; channel < c.output.channels; ++channel)
    for (std::int64_t row = 0; row < c.output.rows; ++row) {
      std::int32_t* to = t.sums + channel * c.output.channel_stride + row * c.output.row_stride;
      if (c.adds)
        row_sums.start(to);
      else
        row_sums.start(t.bias ? static_cast<std::uint32_t>(t.bias[channel]) : 0u);
      row_sums.add(channel, row);
      row_sums.write(to);
    }
}

void requantize_tile(const SumTile& from, const TileByteSteps& steps, const ByteTile& to) {
  const TilePlanes& p = to.planes;
  for (std::int64_t channel = 0; channel < p.channels; ++channel)
    for (std::int64_t row = 0; row < p.rows; ++row) {
      const std::int32_t* source =
          from.sums + channel * from.planes.channel_stride + row * from.planes.row_stride;
      std::byte* target = to.bytes + channel * p.channel_stride + row * p.row_stride;
      for (std::int64_t x = 0; x < p.columns; ++x)
        target[x] = in_steps(static_cast<float>(source[x]) * steps.factors[channel], steps);
    }
}

void pool_bytes(const TilePool& pool, const TileBytes& input, std::byte* output) {
  if (input.is_signed)
    pool_integers<std::int8_t>(pool, input.data, output);
  else
    pool_integers<std::uint8_t>(pool, input.data, output);
}

}  // namespace millrace::kernels
