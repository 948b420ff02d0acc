#pragma once
// What processors can do at most: the two slopes of a roofline.
#include <map>

#include "board/variant.h"

namespace millrace::board {

/// Peaks of one processor, all its cores together.
struct Peaks {
  /// Per second; a multiply-accumulate is two. Precisions that the processor lacks are absent,
  /// f32 never is.
  std::map<Precision, double> operations;
  double bytes = 0;  // per second, between memory and processor
};

}  // namespace millrace::board
