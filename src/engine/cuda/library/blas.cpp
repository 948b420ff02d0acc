#include "engine/cuda/library/blas.h"

#include <fmt/format.h>

#include "base/error.h"
#include "engine/cuda/library/products.h"
#include "engine/cuda/library/shared_library.h"

namespace millrace::engine::cuda::blas {
namespace {

void find_descriptions(const SharedLibrary& library, Api& api) {
  library.find("cublasLtMatrixLayoutCreate", api.create_layout);
  library.find("cublasLtMatrixLayoutDestroy", api.destroy_layout);
  library.find("cublasLtMatrixLayoutSetAttribute", api.set_layout);
  library.find("cublasLtMatmulDescCreate", api.create_operation);
  library.find("cublasLtMatmulDescDestroy", api.destroy_operation);
  library.find("cublasLtMatmulDescSetAttribute", api.set_operation);
  library.find("cublasLtMatmulPreferenceCreate", api.create_preference);
  library.find("cublasLtMatmulPreferenceDestroy", api.destroy_preference);
  library.find("cublasLtMatmulPreferenceSetAttribute", api.set_preference);
}

Api api_in(const SharedLibrary& library) {
  Api api{};
  library.find("cublasLtCreate", api.create);
  library.find("cublasLtDestroy", api.destroy);
  library.find("cublasLtGetProperty", api.property);
  if (library.has("cublasLtGetStatusString"))
    library.find("cublasLtGetStatusString", api.status_text);
  find_descriptions(library, api);
  library.find("cublasLtMatmulAlgoGetHeuristic", api.propose);
  library.find("cublasLtMatmulAlgoConfigGetAttribute", api.get_algorithm);
  library.find("cublasLtMatmul", api.multiply);
  return api;
}

int property_of(const Api& api, Property property) {
  int value = 0;
  check(api, api.property(property, &value));
  return value;
}

}  // namespace

void check(const Api& api, int status) {
  if (status == success) return;
  const char* const text = api.status_text == nullptr ? nullptr : api.status_text(status);
  if (text == nullptr) throw EngineError(fmt::format("cuBLASLt reports status {}", status));
  throw EngineError(fmt::format("cuBLASLt reports '{}' (status {})", text, status));
}

Library::Library(std::span<const std::filesystem::path> folders)
    : api(api_in(SharedLibrary(folders, product_libraries()))),
      context(made(api, api.destroy, api.create)),
      major(property_of(api, major_version)),
      version(fmt::format("{}.{}.{}", major, property_of(api, minor_version),
                          property_of(api, patch_level))) {}

}  // namespace millrace::engine::cuda::blas
