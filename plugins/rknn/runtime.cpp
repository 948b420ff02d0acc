#include "runtime.h"

#include <dlfcn.h>

#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "toolkit.h"

namespace millrace_rknn {
namespace {

constexpr const char* file_name = "librknnrt.so";
constexpr std::string_view before_version = "librknnrt version: ";

/// The library tells its version only for a model, but the text that it prints lies in the file.
std::string version_in(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::size_t at = bytes.find(before_version);
  return at == std::string::npos ? "" : release_of(bytes.substr(at + before_version.size(), 32));
}

template <class Function>
bool take(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  return function != nullptr;
}

/// The first function that it lacks; null: none.
const char* take_functions(void* library, Functions& f) {
  if (!take(library, "rknn_init", f.init)) return "rknn_init";
  if (!take(library, "rknn_destroy", f.destroy)) return "rknn_destroy";
  if (!take(library, "rknn_query", f.query)) return "rknn_query";
  if (!take(library, "rknn_inputs_set", f.set_inputs)) return "rknn_inputs_set";
  if (!take(library, "rknn_run", f.run)) return "rknn_run";
  if (!take(library, "rknn_outputs_get", f.get_outputs)) return "rknn_outputs_get";
  if (!take(library, "rknn_outputs_release", f.release_outputs)) return "rknn_outputs_release";
  take(library, "rknn_set_core_mask", f.set_cores);
  return nullptr;
}

Runtime not_usable(const std::filesystem::path& path, const std::string& reason) {
  return {path, {}, path.string() + " cannot be used as Rockchip's runtime: " + reason, {}};
}

Runtime load(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return not_usable(path, "it is no file");
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return not_usable(path, ::dlerror());
  Runtime runtime{path, {}, {}, {}};
  if (const char* const lacking = take_functions(library, runtime.functions))
    return not_usable(path, std::string("it has no function ") + lacking);
  const std::string version = version_in(path);
  if (major_of(version) != 2)
    return not_usable(path, "it is version " + (version.empty() ? "unknown" : version) +
                                ", expected a version 2");
  runtime.version = version;
  return runtime;
}

}  // namespace

Runtime find_runtime(const std::filesystem::path& named) {
  if (!named.empty()) return load(named);
  std::error_code error;
  for (const char* folder : {"/usr/lib", "/usr/local/lib", "/usr/lib/aarch64-linux-gnu", "/lib64"})
    if (const auto path = std::filesystem::path(folder) / file_name;
        std::filesystem::exists(path, error))
      return load(path);
  return {{}, {}, std::string(file_name) + " is in none of the usual places", {}};
}

std::string meaning_of(int code) {
  constexpr std::array<const char*, 14> meanings{
      "done", "failed", "took too long", "no NPU is available", "no memory", "wrong parameter",
      "the model is damaged or of another version", "wrong context", "wrong input", "wrong output",
      "the NPU's driver does not fit the library", "the model does not fit the driver",
      "the model's optimisation does not fit the driver", "the model is for another platform"};
  const auto at = static_cast<std::size_t>(-code);
  return at < meanings.size() ? meanings[at] : "error " + std::to_string(code);
}

}  // namespace millrace_rknn
