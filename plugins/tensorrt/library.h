#pragma once
// TensorRT's libraries, loaded at run time. Their objects are those of the headers that the plug-in
// was built with, so the versions must agree.
#include <NvInfer.h>
#include <NvOnnxParser.h>

#include <memory>
#include <mutex>
#include <string>

#include "settings.h"

namespace millrace_tensorrt {

/// Keeps the first error that TensorRT logs.
class Log final : public nvinfer1::ILogger {
 public:
  void log(Severity severity, const char* text) noexcept override;
  /// The first error since the last call; else the words given.
  std::string take(const std::string& or_else);

 private:
  std::mutex mutex_;
  std::string first_;
};

/// Never unloaded.
class Library {
 public:
  /// SdkFailure if a library is not here, or of another version than the headers.
  explicit Library(const Settings& settings);

  const std::string& version() const { return version_; }  // "10.13.3"
  std::unique_ptr<nvinfer1::IBuilder> make_builder(Log& log) const;
  std::unique_ptr<nvinfer1::IRuntime> make_runtime(Log& log) const;
  std::unique_ptr<nvonnxparser::IParser> make_parser(nvinfer1::INetworkDefinition& network,
                                                     Log& log) const;

 private:
  void* (*make_builder_)(void*, std::int32_t) = nullptr;
  void* (*make_runtime_)(void*, std::int32_t) = nullptr;
  void* (*make_parser_)(void*, void*, int) = nullptr;
  std::string version_;
};

}  // namespace millrace_tensorrt
