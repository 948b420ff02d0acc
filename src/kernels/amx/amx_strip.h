#pragma once
// How amx_convolution.h goes through an image: in strips, in a form whose rows are rows of tiles.
#include <cstddef>
#include <vector>

#include "kernels/amx/amx_convolution.h"

namespace millrace::kernels {

/// Worked out once for a convolution. A strip holds what `rows` rows of the result need, as numbers
/// of 8 or 16 bits, with the padding. Where the stride is more than 1 it consists of planes, one
/// for each place of a tap between strides. Within a plane all pixels follow each other at the same
/// distance, across rows too: so the tile rows of any run of results are a tap's offset and a
/// constant stride. A few results at the end of each row belong to no pixel and are dropped.
struct AmxStrips {
  explicit AmxStrips(const AmxConvolution& convolution);

  /// The numbers of a tile's row, 64 bytes: row, column and channel of the first one.
  struct Step {
    std::size_t row = 0, column = 0, channel = 0;
  };
  /// Bytes of the packed weights of 32 outputs.
  std::size_t weights_of_block() const;

  std::size_t number = 2;          // bytes of a number
  std::size_t step_numbers = 32;   // of a step
  bool folded = false;             // a step takes numbers of several columns that follow each other
  std::size_t pixel = 0;           // bytes from one pixel to the next
  std::size_t width = 0;           // pixels from one row to the next
  std::size_t rows = 0;            // of the result, per strip
  std::size_t more_rows = 0;       // of a plane, beyond those
  std::size_t plane = 0;           // bytes of a plane
  std::size_t low = 0;             // bytes from a high term to the low one
  std::vector<Step> taps;          // of each step
  std::vector<std::size_t> steps;  // by step: the byte where it begins for the first pixel

  /// Rows and columns of the image that fall into a plane: `at` plus a multiple of the stride.
  struct Plane {
    std::size_t row = 0, column = 0;
    bool operator==(const Plane&) const = default;
  };
  std::vector<Plane> planes;

  std::size_t terms = 1;  // of a number
};

/// Which part of the result a strip is for.
struct StripPlace {
  std::size_t image = 0, first_row = 0, rows = 0;
};

/// Runs on the calling thread and its OpenMP helpers; allocates nothing. `strips`: of this
/// convolution. Precondition: the processor has AMX for the factors, and the process may use it.
void convolve(const AmxConvolution& convolution, const AmxStrips& strips,
              const AmxOperands& operands);

/// Inside: brings what the strip needs from the source into the working memory.
void fill_strip(const AmxConvolution& convolution, const AmxStrips& strips,
                const AmxOperands& operands, const StripPlace& place);

}  // namespace millrace::kernels
