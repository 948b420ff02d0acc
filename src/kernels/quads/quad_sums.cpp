#include "kernels/quads/quad_sums.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "kernels/own_convolution.h"
#include "kernels/quads/unit_loops.h"

namespace millrace::kernels {
namespace {

/// Where a weight lies in a panel: bytes.
std::size_t place_in_panel(ByteUnit unit, std::size_t output, std::size_t k) {
  const std::size_t outputs = shape_of(unit).outputs;
  if (unit == ByteUnit::neon_i8mm) return k / 8 * 8 * outputs + output * 8 + k % 8;
  const std::size_t quad = k / 4 * 4 * outputs;
  if (unit != ByteUnit::neon) return quad + output * 4 + k % 4;
  return quad + output / 4 * 16 + k % 4 / 2 * 8 + output % 4 * 2 + k % 2;
}

/// The part of two neighbours' weights with which the sum of both products is a halfword, whatever
/// the bytes are: weights of one sign add up to at most 128, and 255 * 128 < 2^15.
struct HalfwordPair {
  int first, second;

  HalfwordPair(int a, int b) : first(a), second(b) {
    constexpr int most = 128;
    if ((a > 0) != (b > 0) || std::abs(a + b) <= most) return;
    first = std::clamp(a, -most / 2, most / 2);
    second = a > 0 ? std::min(b, most - first) : std::max(b, -most - first);
  }
};

}  // namespace

std::size_t PanelWeights::size() const {
  const std::size_t bytes = depth * shape_of(unit).outputs;
  return round_up(unit == ByteUnit::avx2 ? bytes + MorePairs::size(depth) : bytes, 64);
}

void PanelWeights::pack(std::span<const std::int8_t> weights, std::byte* to) const {
  const std::size_t outputs = weights.size() / std::max<std::size_t>(depth, 1);
  const auto put = [&](std::size_t output, std::size_t k, int weight, std::byte* at) {
    at[place_in_panel(unit, output, k)] = static_cast<std::byte>(weight);
  };
  if (unit != ByteUnit::avx2) {
    for (std::size_t i = 0; i < weights.size(); ++i) put(i / depth, i % depth, weights[i], to);
    return;
  }
  MorePairs more(to, depth);
  for (std::size_t k = 0; k < depth; k += 4) {
    std::byte* again = nullptr;  // the same bytes of the row, once more
    for (std::size_t i = 0; i < 2 * outputs; ++i) {
      const std::size_t output = i / 2, at = output * depth + k + i % 2 * 2;
      const HalfwordPair pair(weights[at], weights[at + 1]);
      const int rest[]{weights[at] - pair.first, weights[at + 1] - pair.second};
      put(output, k + i % 2 * 2, pair.first, to);
      put(output, k + i % 2 * 2 + 1, pair.second, to);
      if (rest[0] == 0 && rest[1] == 0) continue;
      if (again == nullptr) again = more.add(k);
      put(output, i % 2 * 2, rest[0], again);
      put(output, i % 2 * 2 + 1, rest[1], again);
    }
  }
}

bool is_faster_by_signs(std::span<const std::int8_t> weights, std::size_t depth) {
  const std::size_t panel = shape_of(ByteUnit::avx2).outputs, steps = divided_up(depth, 4);
  std::vector<bool> again(divided_up(weights.size() / depth, panel) * steps);  // by panel, by quad
  for (std::size_t i = 0; i + 1 < weights.size(); ++i) {
    const std::size_t k = i % depth;
    if (k % 2 != 0 || k + 1 == depth) continue;
    const HalfwordPair pair(weights[i], weights[i + 1]);
    if (pair.first != weights[i] || pair.second != weights[i + 1])
      again[i / depth / panel * steps + k / 4] = true;
  }
  return 3 * static_cast<std::size_t>(std::ranges::count(again, true)) > again.size();
}

void multiply(ByteUnit unit, const PanelProduct& product) {
  switch (unit) {
    case ByteUnit::avx2:
      return multiply_by_avx2(product);
    case ByteUnit::avx2_signs:
      return multiply_by_avx2_signs(product);
    case ByteUnit::avx_vnni:
      return multiply_by_avx_vnni(product);
    case ByteUnit::neon:
      return multiply_by_neon(product);
    case ByteUnit::neon_dot:
      return multiply_by_neon_dot(product);
    case ByteUnit::neon_i8mm:
      return multiply_by_neon_i8mm(product);
  }
}

}  // namespace millrace::kernels
