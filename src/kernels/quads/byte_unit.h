#pragma once
// How processors without AVX-512 multiply bytes.
#include <cstddef>
#include <vector>

namespace millrace::kernels {

/// avx2: sums of two products as halfwords, which are added in pairs, where some weights take a
/// second turn; avx2_signs: the same for any weights, by magnitudes of bytes with signs; avx_vnni:
/// four products at once. neon: two products as halfwords; neon_dot: four products at once;
/// neon_i8mm: products of two by two rows of eight bytes.
enum class ByteUnit { avx2, avx2_signs, avx_vnni, neon, neon_dot, neon_i8mm };

/// The units that this processor has; the fastest first.
std::vector<ByteUnit> byte_units();
/// Whether no weight may be -128.
inline bool wants_symmetric(ByteUnit unit) {
  return unit == ByteUnit::neon || unit == ByteUnit::avx2_signs;
}
const char* name_of(ByteUnit unit);

/// What such a unit multiplies: some rows of bytes with a panel, the weights of some outputs.
struct UnitShape {
  std::size_t outputs = 8;  // of a panel
  std::size_t step = 16;    // bytes of rows: whole steps
  bool is_signed = true;    // the bytes of rows; weights always are
  std::size_t lanes = 4;    // float32 numbers of a vector
};
UnitShape shape_of(ByteUnit unit);

}  // namespace millrace::kernels
