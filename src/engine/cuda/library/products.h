#pragma once
// Products of matrices, computed by NVIDIA's cuBLASLt: its versions 11, 12 and 13.
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

namespace blas {
struct Library;
struct Proposal;
}  // namespace blas

enum class ProductActivation { none, relu };

/// y = activation(alpha * a b + bias). Stored row by row without gaps: a is [rows, depth], or
/// [depth, rows] if transposed; b is [depth, columns], or [columns, depth]; y is [rows, columns].
struct ProductProblem {
  bool half = false;  // float16 numbers, added up in float32; else float32 numbers
  std::int64_t rows = 0, columns = 0, depth = 0;
  std::int64_t batch = 1;
  bool transpose_a = false, transpose_b = false;
  /// In elements, from one product of the batch to the next; 0 for a or b: they share it.
  std::int64_t batch_stride_a = 0, batch_stride_b = 0, batch_stride_y = 0;
  bool bias = false;  // one number for each column, of the type of y, for the whole batch
  ProductActivation activation = ProductActivation::none;
  float alpha = 1;
  bool allow_tensor_cores_for_float32 = false;  // factors rounded to 10 bits after the point
  std::uint32_t alignment = 256;                // of all addresses but the workspace, in bytes

  auto operator<=>(const ProductProblem&) const = default;
};

struct ProductBuffers {
  Address a = 0, b = 0, bias = 0, y = 0;
  Address workspace = 0;  // aligned to 256 bytes
};

/// One way to compute a product. The context of its GPU is current where it is run or destroyed.
class PreparedProduct {
 public:
  struct Description;

  PreparedProduct(std::shared_ptr<const blas::Library> library, const ProductProblem& problem,
                  const blas::Proposal& proposal);
  ~PreparedProduct();
  PreparedProduct(const PreparedProduct&) = delete;
  PreparedProduct& operator=(const PreparedProduct&) = delete;

  /// In bytes.
  std::size_t workspace() const;
  /// "cuBLASLt algorithm 66, tile 18, stages 35", with the numbers of NVIDIA's header.
  std::string kernel() const;
  /// Starts it; not from two threads at once. A stream may be captured, but not at the first run,
  /// which loads the kernel. EngineError if the library cannot.
  void run(Stream stream, const ProductBuffers& buffers) const;

 private:
  /// With Products and all that it prepared.
  std::shared_ptr<const blas::Library> library_;
  float alpha_;
  std::unique_ptr<const blas::Proposal> proposal_;
  std::unique_ptr<const Description> description_;
};

/// The names of the library that is loaded, the newest first.
std::vector<std::string> product_libraries();

class Products {
 public:
  /// For the GPU whose context is current on this thread. EngineError without the library.
  explicit Products(std::span<const std::filesystem::path> folders);

  /// "13.1.0"
  std::string version() const;
  /// What the library proposes, at most `most` ways, those that it expects to be fastest first.
  /// Each adds up in a fixed order. Empty if the library has none.
  std::vector<std::shared_ptr<PreparedProduct>> prepare(const ProductProblem& problem,
                                                        std::size_t most,
                                                        std::size_t workspace_limit);

 private:
  /// With all that it prepared.
  std::shared_ptr<const blas::Library> library_;
};

}  // namespace millrace::engine::cuda
