#pragma once
// Operators that pick elements by computed positions. Indices are int32 or int64; negative ones
// count from the end.
#include <cstdint>

namespace millrace::network {

/// Inputs data, indices: output[i, j, ...] = data[indices[i, j, ...], j, ...] along the axis.
struct GatherElements {
  std::int64_t axis = 0;
};
/// Inputs data, indices: the last dimension of the indices says where a slice of data begins.
struct GatherNd {
  std::int64_t batch_dimensions = 0;
};
enum class Reduction { none, add, mul, max, min };
/// Inputs data, indices, updates: a copy of data with the updates put in, or combined with what is
/// there. Among several updates of one element without a reduction the last one wins.
struct ScatterElements {
  std::int64_t axis = 0;
  Reduction reduction = Reduction::none;
};
struct ScatterNd {
  Reduction reduction = Reduction::none;
};
/// Outputs the largest (or smallest) values along the axis, best first, and their int64 indices.
/// How many is in the outputs' shape. Of equal values the one with the lower index comes first.
struct TopK {
  std::int64_t axis = 0;
  bool largest = true;
};
/// Inputs indices, values [off, on]. The new dimension is the output's `axis`.
struct OneHot {
  std::int64_t axis = 0;
};
enum class SampleMode { nearest, linear, cubic };
enum class SamplePadding { zeros, border, reflection };
/// Inputs X [N,C,H,W], grid [N,H_out,W_out,2] of (x, y) in [-1, 1].
struct GridSample {
  SampleMode mode = SampleMode::linear;
  SamplePadding padding = SamplePadding::zeros;
  bool align_corners = false;
};
/// Inputs boxes [N,boxes,4], scores [N,classes,boxes]. Output int64 [largest number, 3] of (batch,
struct NonMaxSuppression {
  std::int64_t most_per_class = 0;
  float overlap = 0;  // boxes of one class that overlap more than this are left out
  float score = 0;    // with has_score: only boxes that score more
  bool has_score = false;
  bool centre_and_size = false;  // boxes: centre, width and height; else two corners
};
/// Inputs X [N,C,H,W], regions [R,4] of (x1, y1, x2, y2), batch indices [R].
/// Output [R,C,height,width].
struct RoiAlign {
  float scale = 1;
  std::int64_t sampling_ratio = 0;
  bool maximum = false;
  bool half_pixel = true;
};

}  // namespace millrace::network
