#pragma once
// What the kernels of single kinds of layers are told; parameters.h says how.
#include "engine/cuda/kernels/parameters.h"

namespace millrace::engine::cuda {

/// How positions beyond the input are filled.
enum Filling : int { fill_value, fill_reflected, fill_edge, fill_wrapped };

/// out[i] = in[i - begin], of any type of 1, 2, 4 or 8 bytes. Without padding begin is 0 and the
/// input has the work's shape.
struct MoveWork {
  int dimensions;
  int shape[max_dimensions];     // of the output
  int in_shape[max_dimensions];  // for positions before and after the input
  int begin[max_dimensions];
  unsigned count;
  int bytes;  // of an element
  int pads;   // 0: every position lies in the input
  int filling;
  unsigned long long value;  // the bits of an element
  Place in, out;
};

constexpr int max_parts = 8;

/// Some of the parts of rows of `row` elements, each from a dense tensor of its own: positions
/// [first, first + covered) of each of the `outer` rows.
struct ConcatWork {
  int outer, row, first, covered;
  unsigned count;
  int bytes;  // of an element
  int parts;
  int begins[max_parts], sizes[max_parts];  // in a row
  const void* from[max_parts];
  Place out;  // dense
};

/// A convolution of real numbers, over up to three spatial dimensions (missing ones have size 1).
struct ConvolutionWork {
  int frames, channels, filters, groups;  // `channels` of the input
  int in[3], out[3], kernel[3], strides[3], dilations[3], pads[3];
  int transposed;
  unsigned count;  // of the output
  Place x, w, y;   // x and y along frame, channel, three spatial dimensions; w dense
  Epilogue epilogue;
};

/// y[b, m, n] = epilogue(sum over k of a[b, m, k] * b[b, k, n]); the batch has up to 6 dimensions,
/// which come first in the strides.
struct ProductWork {
  int batch_dimensions;
  int batch[max_dimensions];
  int rows, columns, depth;
  Place a, b, y;
  Epilogue epilogue;
};

/// Over up to three spatial dimensions.
struct PoolWork {
  int frames, channels;
  int in[3], out[3], kernel[3], strides[3], dilations[3], pads[3], pads_end[3];
  int maximum, count_include_pad, column_major;
  unsigned count;
  Place x, y;
  long long* indices;  // of the maxima; may be null
};

enum Reduction : int {
  reduction_mean,
  reduction_min,
  reduction_max,
  reduction_sum,
  reduction_prod,
  reduction_l1,
  reduction_l2,
  reduction_log_sum,
  reduction_log_sum_exp,
  reduction_sum_square
};

/// One output for each position of the kept dimensions.
struct ReduceWork {
  int reduction;
  int kept_dimensions, reduced_dimensions;
  int kept[max_dimensions], reduced[max_dimensions];
  int kept_strides[max_dimensions], reduced_strides[max_dimensions];  // in x
  unsigned outputs, size;                                             // size: of what is reduced
  Place x, y;                                                         // y dense
};

/// Rows of `length` elements that lie `inner` apart: element i of row (o, n) is at
/// o * length * inner + i * inner + n.
struct RowWork {
  int outer, length, inner;
  int logarithm;  // softmax: of the result
  int centred;    // normalisation: around the mean
  float epsilon;  // normalisation
  Place x, y;     // dense
  Place scale,
      shift;    // normalisation: strides[0] along a row, strides[1] along `outer`; data may be null
  float* mean;  // normalisation: by row; may be null
  float* deviation;  // one over the root; may be null
};

/// Over channels: [frames, channels, inner].
struct LrnWork {
  int channels, inner, size;
  float alpha, beta, bias;
  unsigned count;
  Place x, y;
};

/// How an axis of the output is made of the input: `taps` positions and weights for each output.
struct Axis {
  int taps;  // 0: each output is made of the input at its own position
  const int* positions;
  const float* weights;
  const unsigned char* outside;  // by output: the value is the extrapolation value
};
struct ResizeWork {
  int dimensions;
  int shape[max_dimensions];  // of the output
  unsigned count;
  float extrapolation;
  Axis axes[max_dimensions];
  Place x, y;
};

/// out[o, i, n] = data[o, indices[i], n], of elements of so many bytes. `fault` is set to 1 where
/// an index is not in [-size, size).
struct GatherWork {
  int outer, size, indices_count, inner, bytes;
  unsigned count;
  Place data, indices, out;  // dense
  int* fault;
};

/// To another type, as network::evaluate casts.
struct CastWork {
  unsigned count;
  Place in, out;  // dense
};

/// int64 positions of the largest or smallest, over [outer, length, inner].
struct ArgWork {
  int outer, length, inner;
  int select_last, smallest;
  unsigned count;
  Place x;
  long long* y;
};

enum Comparison : int {
  compare_equal,
  compare_less,
  compare_greater,
  compare_less_equal,
  compare_greater_equal
};
/// Booleans of a and b, of real numbers or of integers.
struct CompareWork {
  int dimensions;
  int shape[max_dimensions];
  unsigned count;
  int comparison;
  Place a, b, out;
};

/// out = condition ? a : b, of elements of so many bytes.
struct SelectWork {
  int dimensions;
  int shape[max_dimensions];
  unsigned count;
  int bytes;
  Place condition, a, b, out;
};

}  // namespace millrace::engine::cuda
