#pragma once
// Transposed convolutions whose windows do not overlap: a matrix product gives every pixel a patch
// of the result, which is then put into its place.
#include <cstddef>
#include <vector>

#include "kernels/own_convolution.h"

namespace millrace::kernels {

/// An image of `height` x `width` patches, each of `rows` x `columns` pixels of `channels` numbers.
struct Patches {
  std::size_t images = 1, height = 1, width = 1;
  std::size_t rows = 1, columns = 1, channels = 1;
  const float* bias = nullptr;  // by channel; null: none
  Activation activation = {};   // after the bias
};

/// Puts the patches, which lie one after the other, into images with the channels inside. `from`
/// and `to` are dense and do not overlap. Runs on the calling thread and its OpenMP helpers.
void place_patches(const Patches& patches, const float* from, float* to);

/// A product with a matrix of few columns, for which matrix kernels are slow.
struct NarrowProduct {
  static constexpr std::size_t most_columns = 16;
  std::size_t rows = 1, inner = 1, columns = 1;
  std::vector<float> weights;  // inner x most_columns; those beyond `columns` are 0
};
/// `from` has rows x inner numbers, `to` rows x columns. Runs like place_patches.
void multiply(const NarrowProduct& product, const float* from, float* to);

/// The same for images with the channels outside: `from` has an image of `inner` planes for each
/// of `images`, `to` one of `columns` planes. Precondition: planes have at least `least_pixels`.
constexpr std::size_t least_pixels = 64;
void multiply_planes(const NarrowProduct& product, std::size_t images, const float* from,
                     float* to);
/// Puts patches of few numbers, which lie as multiply_planes leaves them: a plane for each number.
void place_planes(const Patches& patches, const float* from, float* to);

}  // namespace millrace::kernels
