#include "engine/tolerance.h"

namespace millrace::engine {

double tolerance_in(board::Precision precision) {
  switch (precision) {
    case board::Precision::f32:
      return 1e-4;
    case board::Precision::f16:
      return 0.01;
    case board::Precision::bf16:
      return 0.05;
    case board::Precision::int8:
      break;
  }
  return 0.25;
}

}  // namespace millrace::engine
