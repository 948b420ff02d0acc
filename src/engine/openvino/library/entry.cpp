#include "engine/openvino/library/entry.h"

#include "engine/openvino/library/devices.h"
#include "engine/openvino/library/engine.h"

extern "C" __attribute__((visibility("default"))) const millrace::engine::openvino::Library*
millrace_openvino() {
  using namespace millrace::engine::openvino;
  static constexpr Library library{make_openvino, reached_devices};
  return &library;
}
