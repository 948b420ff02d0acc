#pragma once
// Inside quad_sums.h: the loops of each unit. On other processors' machines they do nothing.
#include <cstring>

#include "kernels/quads/quad_sums.h"

namespace millrace::kernels {

void multiply_by_avx2(const PanelProduct& product);
void multiply_by_avx2_signs(const PanelProduct& product);
void multiply_by_avx_vnni(const PanelProduct& product);
void multiply_by_neon(const PanelProduct& product);
void multiply_by_neon_dot(const PanelProduct& product);
void multiply_by_neon_i8mm(const PanelProduct& product);

/// Behind the weights of a panel for AVX2: the number of quads of bytes that some outputs need
/// twice, because halfwords do not hold all of their sums; where they begin in a row; and what is
/// left of the weights for them.
class MorePairs {
 public:
  static constexpr std::size_t quad_bytes = 64;  // of a panel, for four bytes of a row

  MorePairs(std::byte* panel, std::size_t depth)
      : head_(panel + depth / 4 * quad_bytes), depth_(depth) {}
  static std::size_t size(std::size_t depth) {
    return head_size(depth) + depth / 4 * quad_bytes;
  }
  static std::size_t head_size(std::size_t depth) { return (depth + 4 + 63) / 64 * 64; }

  /// For the weights of one more quad, which begins at that byte of a row.
  std::byte* add(std::size_t at) {
    std::uint32_t count = 0;
    std::memcpy(&count, head_, sizeof count);
    const auto begin = static_cast<std::uint32_t>(at);
    std::memcpy(head_ + 4 + 4 * count, &begin, sizeof begin);
    std::byte* const weights = head_ + head_size(depth_) + count * quad_bytes;
    ++count;
    std::memcpy(head_, &count, sizeof count);
    return weights;
  }

 private:
  std::byte* head_;
  std::size_t depth_;
};

}  // namespace millrace::kernels
