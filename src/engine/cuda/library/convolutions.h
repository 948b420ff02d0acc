#pragma once
// Convolutions by cuDNN: the kernels it proposes for one, and a run of a kernel.
#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/cuda/library/driver.h"

namespace millrace::engine::cuda {

class Dnn;

enum class Activation { none, relu };

/// y = activation(conv(x, w) + bias + residual), without flipping w. Sums are in float32. Tensors
/// are dense, and shapes are [N, C, spatial...] with 1 to 3 spatial dimensions; w is
/// [M, C / groups, spatial...]. In memory all of them are row-major (NCHW, MCRS) or have the
/// channels last (NHWC, MRSC). The bias has M values, the residual is like y. Both have the type of
/// the data: the bias of a float16 problem is float16.
struct ConvolutionProblem {
  bool half = false;  // float16, else float32
  bool channels_last = false;
  std::vector<std::int64_t> x, w, y;
  // One for each spatial dimension.
  std::vector<std::int64_t> strides, dilations, pads_begin, pads_end;
  std::int64_t groups = 1;
  bool bias = false;
  bool residual = false;
  Activation activation = Activation::none;
  /// Else float32 is within a few roundings of plain loops: no TensorFloat-32, no FFT.
  bool allow_tensor_cores_for_float32 = false;

  auto operator<=>(const ConvolutionProblem&) const = default;
};

/// Multiples of 16, the workspace of 256. Those the problem does not have are not read. y overlaps
/// none of the others.
struct ConvolutionBuffers {
  Address x = 0, w = 0, bias = 0, residual = 0, y = 0;
  Address workspace = 0;
};

/// One kernel for one problem. It must live as long as a CUDA graph that its run was captured in.
class PreparedConvolution {
 public:
  struct Plan;
  explicit PreparedConvolution(std::unique_ptr<const Plan> plan);
  ~PreparedConvolution();
  PreparedConvolution(const PreparedConvolution&) = delete;
  PreparedConvolution& operator=(const PreparedConvolution&) = delete;

  /// In bytes.
  std::size_t workspace() const;
  /// "cudnn:engine 7 k2=3": the engine's number and its settings, the same in each process. A
  /// "form=1" after them says which order of sums cuDNN was asked for, if not the usual one.
  const std::string& kernel() const;
  /// Queues it, from any thread in which the context is current. The first run may load code: run
  /// it once before capturing it. EngineError with cuDNN's words.
  void run(Stream stream, const ConvolutionBuffers& buffers) const;

 private:
  std::unique_ptr<const Plan> plan_;
};

/// The names of the library that is loaded.
std::vector<std::string> convolution_libraries();

/// For the context that is current where it is made. Functions may be called from any thread in
/// which that context is current; one at a time does its work.
class Convolutions {
 public:
  /// Loads libcudnn.so.9 from one of the folders, or from where the system looks. EngineError that
  /// says why it cannot.
  explicit Convolutions(std::span<const std::filesystem::path> folders);
  ~Convolutions();

  /// "9.28.1"
  std::string version() const;

  /// The kernels that cuDNN proposes and builds, at most `most` of them, its favourite first. Their
  /// results are the same bytes in each run. Empty if it has none for the problem: then it may have
  /// some for the convolution alone. The caller's programs share them; they may outlive this.
  std::vector<std::shared_ptr<const PreparedConvolution>> prepare(const ConvolutionProblem& problem,
                                                                  std::size_t most,
                                                                  std::size_t workspace_limit);
  /// The kernel of this name, as kernel() gave it in an earlier process, without a search. Null
  /// where this cuDNN does not build it: another version, a changed filter, a damaged name. The
  /// workspace has no limit here.
  std::shared_ptr<const PreparedConvolution> prepare(const ConvolutionProblem& problem,
                                                     const std::string& kernel);

 private:
  std::shared_ptr<const Dnn> library_;  // shared with what was prepared
};

}  // namespace millrace::engine::cuda
