#include "library.h"

#include <dlfcn.h>

#include <array>

#include "failure.h"

namespace millrace_tensorrt {
namespace {

constexpr int of_headers[] = {NV_TENSORRT_MAJOR, NV_TENSORRT_MINOR, NV_TENSORRT_PATCH};

/// Since 10 the version has five digits, before four.
std::string version_of(int number) {
  const bool is_new = number >= 10000;
  const int major = number / (is_new ? 10000 : 1000);
  const int minor = number / 100 % (is_new ? 100 : 10);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(number % 100);
}

bool is_of_headers(const std::string& version) {
  return version.starts_with(std::to_string(of_headers[0]) + "." + std::to_string(of_headers[1]) +
                             ".");
}

void* open_library(const std::filesystem::path& named, const std::string& usual) {
  const std::array<std::string, 2> names{usual + ".so." + std::to_string(of_headers[0]),
                                         usual + ".so"};
  if (!named.empty()) {
    if (void* const library = ::dlopen(named.c_str(), RTLD_NOW | RTLD_GLOBAL)) return library;
    throw SdkFailure(named.string() + " cannot be loaded: " + ::dlerror());
  }
  for (const std::string& name : names)
    if (void* const library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL)) return library;
  throw SdkFailure(names.front() + " was not found; install TensorRT " +
                   std::to_string(of_headers[0]) + "." + std::to_string(of_headers[1]) +
                   ", or name its folder in LD_LIBRARY_PATH");
}

template <class Function>
void take(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr) throw SdkFailure(std::string("TensorRT has no function ") + name);
}

template <class T>
std::unique_ptr<T> owned(void* object, Log& log, const char* what) {
  if (object == nullptr)
    throw SdkFailure(std::string("TensorRT gives no ") + what + ": " + log.take("no reason given"));
  return std::unique_ptr<T>(static_cast<T*>(object));
}

}  // namespace

void Log::log(Severity severity, const char* text) noexcept {
  if (severity > Severity::kERROR) return;
  const std::lock_guard lock(mutex_);
  if (first_.empty()) first_ = text;
}

std::string Log::take(const std::string& or_else) {
  const std::lock_guard lock(mutex_);
  std::string text = std::move(first_);
  first_.clear();
  return text.empty() ? or_else : text;
}

Library::Library(const Settings& settings) {
  void* const library = open_library(settings.library, "libnvinfer");
  int (*version)() = nullptr;
  take(library, version, "getInferLibVersion");
  version_ = version_of(version());
  if (!is_of_headers(version_))
    throw SdkFailure("TensorRT here is " + version_ + ", but the plug-in was built for " +
                     std::to_string(of_headers[0]) + "." + std::to_string(of_headers[1]) + "." +
                     std::to_string(of_headers[2]) + "; build it again with the headers of " +
                     version_);
  take(library, make_builder_, "createInferBuilder_INTERNAL");
  take(library, make_runtime_, "createInferRuntime_INTERNAL");
  take(open_library(settings.parser, "libnvonnxparser"), make_parser_,
       "createNvOnnxParser_INTERNAL");
}

std::unique_ptr<nvinfer1::IBuilder> Library::make_builder(Log& log) const {
  return owned<nvinfer1::IBuilder>(make_builder_(&log, NV_TENSORRT_VERSION), log, "builder");
}

std::unique_ptr<nvinfer1::IRuntime> Library::make_runtime(Log& log) const {
  return owned<nvinfer1::IRuntime>(make_runtime_(&log, NV_TENSORRT_VERSION), log, "runtime");
}

std::unique_ptr<nvonnxparser::IParser> Library::make_parser(nvinfer1::INetworkDefinition& network,
                                                            Log& log) const {
  return owned<nvonnxparser::IParser>(make_parser_(&network, &log, NV_ONNX_PARSER_VERSION), log,
                                      "parser");
}

}  // namespace millrace_tensorrt
