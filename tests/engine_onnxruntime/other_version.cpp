// A library that says it is an ONNX Runtime of another version.
#include <cstdint>

namespace {
const void* const* no_functions(std::uint32_t) { return nullptr; }
const char* version() { return MILLRACE_TEST_VERSION; }
}  // namespace

extern "C" const void* OrtGetApiBase() {
  struct ApiBase {
    const void* const* (*get_api)(std::uint32_t);
    const char* (*get_version)();
  };
  static const ApiBase base{no_functions, version};
  return &base;
}
