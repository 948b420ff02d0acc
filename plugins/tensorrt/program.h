#pragma once
// An engine that is loaded, and its runs on memory of the GPU.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "builder.h"
#include "driver.h"
#include "library.h"

namespace millrace_tensorrt {

/// Names of an engine's inputs and outputs, in the subnet's order, lie before it in a blob.
std::string blob_of(const MillraceSubnet& subnet, const std::string& engine);

/// One thread at a time.
class Program {
 public:
  /// SdkFailure if the blob is none, or of another TensorRT or GPU. Keeps the driver.
  Program(const Library& library, const Driver& driver, const Target& target,
          std::string_view blob);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Returns when the outputs are written.
  void run(const MillraceBuffer* in, const MillraceBuffer* out);
  const std::vector<MillraceTensor>& outputs() const { return outputs_; }
  std::size_t working_bytes() const;

 private:
  void describe_output(const std::string& name);

  const Driver& driver_;
  Log log_;
  std::unique_ptr<nvinfer1::IRuntime> runtime_;
  std::unique_ptr<nvinfer1::ICudaEngine> engine_;
  std::unique_ptr<nvinfer1::IExecutionContext> context_;
  std::vector<std::string> inputs_, output_names_;
  std::vector<std::vector<std::int64_t>> shapes_;  // of outputs
  std::vector<MillraceTensor> outputs_;
  Stream stream_ = nullptr;
};

}  // namespace millrace_tensorrt
