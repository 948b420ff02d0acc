#include "engine/cuda/library/products.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/random.h"
#include "engine/cuda/settings.h"
#include "kernels/float16.h"

namespace millrace::engine::cuda {
namespace {

constexpr std::size_t workspace_limit = std::size_t{4} << 20;

/// float16 holds x without rounding, as it does all numbers of these tests.
std::uint16_t to_half(float x) {
  if (x == 0) return 0;
  int exponent = 0;
  const float fraction = std::frexp(std::fabs(x), &exponent);
  const int bits = ((exponent + 14) << 10) | static_cast<int>(fraction * 2048 - 1024);
  return static_cast<std::uint16_t>(bits | (x < 0 ? 0x8000 : 0));
}

std::vector<char> stored(const std::vector<float>& numbers, bool half) {
  std::vector<char> result;
  for (const float number : numbers) {
    const std::uint16_t short_number = to_half(number);
    const char* const from = half ? reinterpret_cast<const char*>(&short_number)
                                  : reinterpret_cast<const char*>(&number);
    result.insert(result.end(), from, from + (half ? sizeof short_number : sizeof number));
  }
  return result;
}

std::vector<float> read(const std::vector<char>& bytes, bool half) {
  std::vector<float> result;
  const std::size_t size = half ? sizeof(std::uint16_t) : sizeof(float);
  for (std::size_t at = 0; at + size <= bytes.size(); at += size) {
    std::uint16_t short_number = 0;
    float number = 0;
    std::copy_n(bytes.data() + at, size,
                half ? reinterpret_cast<char*>(&short_number) : reinterpret_cast<char*>(&number));
    result.push_back(half ? kernels::from_float16(short_number) : number);
  }
  return result;
}

struct Numbers {
  std::vector<float> a, b, bias;
};

std::int64_t count_of(std::int64_t matrix, std::int64_t batch, std::int64_t stride) {
  return matrix + (batch - 1) * stride;
}

/// Quarters in [-1, 1]: with them every sum and product here is exact, in float16 too.
std::vector<float> quarters(std::int64_t count, Random& random) {
  std::vector<float> result(static_cast<std::size_t>(count));
  for (float& number : result) number = static_cast<float>(random.below(9)) / 4 - 1;
  return result;
}

Numbers numbers_for(const ProductProblem& p) {
  Random random(7);
  return {quarters(count_of(p.rows * p.depth, p.batch, p.batch_stride_a), random),
          quarters(count_of(p.depth * p.columns, p.batch, p.batch_stride_b), random),
          quarters(p.columns, random)};
}

float number_at(const std::vector<float>& numbers, std::int64_t at) {
  return numbers.at(static_cast<std::size_t>(at));
}

float expected_number(const ProductProblem& p, const Numbers& numbers, std::int64_t index) {
  const std::int64_t column = index % p.columns, row = index / p.columns % p.rows,
                     product = index / p.columns / p.rows;
  float sum = 0;
  for (std::int64_t i = 0; i < p.depth; ++i) {
    const std::int64_t a = p.transpose_a ? i * p.rows + row : row * p.depth + i;
    const std::int64_t b = p.transpose_b ? column * p.depth + i : i * p.columns + column;
    sum += number_at(numbers.a, product * p.batch_stride_a + a) *
           number_at(numbers.b, product * p.batch_stride_b + b);
  }
  sum *= p.alpha;
  if (p.bias) sum += number_at(numbers.bias, column);
  return p.activation == ProductActivation::relu ? std::max(sum, 0.0F) : sum;
}

/// y lies without gaps between the products.
std::vector<float> expected_numbers(const ProductProblem& problem, const Numbers& numbers) {
  std::vector<float> result;
  for (std::int64_t i = 0; i < problem.batch * problem.rows * problem.columns; ++i)
    result.push_back(expected_number(problem, numbers, i));
  return result;
}

class DeviceBuffer {
 public:
  DeviceBuffer(const Driver& driver, std::size_t size) : driver_(driver) {
    check(driver, driver.allocate(&address_, size));
  }
  DeviceBuffer(const Driver& driver, const std::vector<char>& bytes, std::size_t offset)
      : DeviceBuffer(driver, bytes.size() + offset) {
    check(driver, driver.copy_in(address_ + offset, bytes.data(), bytes.size()));
  }
  ~DeviceBuffer() { driver_.release(address_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  Address address() const { return address_; }

 private:
  const Driver& driver_;
  Address address_ = 0;
};

class ProductsOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    try {
      const std::vector<std::filesystem::path> folders = library_folders({});
      driver_ = load_driver(folders);
      Device device = 0;
      ContextObject* context = nullptr;
      check(driver_, driver_.device_at(&device, 0));
      check(driver_, driver_.retain_context(&context, device));
      check(driver_, driver_.set_context(context));
      // Waits for copy_in, which may return before the data have arrived.
      check(driver_, driver_.make_stream(&stream_, 0));
      products_.emplace(folders);
    } catch (const EngineError& error) {
      GTEST_SKIP() << error.what();
    }
  }

  void TearDown() override {
    if (stream_ != nullptr) driver_.release_stream(stream_);
  }

  /// All that the library proposes compute what plain loops do.
  void expect_right(const ProductProblem& problem, bool in_graph = false) {
    const auto prepared = products_->prepare(problem, 8, workspace_limit);
    EXPECT_FALSE(prepared.empty()) << "cuBLASLt " << products_->version();
    const Numbers numbers = numbers_for(problem);
    const std::vector<float> expected = expected_numbers(problem, numbers);
    for (const auto& product : prepared) {
      EXPECT_LE(product->workspace(), workspace_limit);
      EXPECT_EQ(computed(problem, *product, numbers, in_graph), expected) << product->kernel();
    }
  }

 private:
  std::vector<float> computed(const ProductProblem& problem, const PreparedProduct& product,
                              const Numbers& numbers, bool in_graph) {
    const std::size_t offset = problem.alignment % 256;
    const DeviceBuffer a(driver_, stored(numbers.a, problem.half), offset);
    const DeviceBuffer b(driver_, stored(numbers.b, problem.half), offset);
    const DeviceBuffer bias(driver_, stored(numbers.bias, problem.half), offset);
    const DeviceBuffer workspace(driver_, std::max(product.workspace(), std::size_t{1}));
    const std::size_t count =
        static_cast<std::size_t>(problem.batch * problem.rows * problem.columns);
    // Bits of all ones are no number, so that what is not written is seen.
    std::vector<char> bytes(count * (problem.half ? 2 : 4), '\xff');
    const DeviceBuffer y(driver_, bytes, offset);
    const ProductBuffers buffers{a.address() + offset, b.address() + offset,
                                 bias.address() + offset, y.address() + offset,
                                 workspace.address()};
    product.run(stream_, buffers);
    check(driver_, driver_.wait_for_stream(stream_));
    if (in_graph) {
      check(driver_, driver_.copy_in(buffers.y, bytes.data(), bytes.size()));
      run_in_graph(product, buffers);
    }
    check(driver_, driver_.copy_out(bytes.data(), buffers.y, bytes.size()));
    return read(bytes, problem.half);
  }

  void run_in_graph(const PreparedProduct& product, const ProductBuffers& buffers) {
    GraphObject* graph = nullptr;
    ExecutableGraphObject* executable = nullptr;
    check(driver_, driver_.begin_capture(stream_, of_this_thread));
    product.run(stream_, buffers);
    check(driver_, driver_.end_capture(stream_, &graph));
    check(driver_, driver_.make_executable(&executable, graph, 0));
    check(driver_, driver_.launch_graph(executable, stream_));
    check(driver_, driver_.wait_for_stream(stream_));
    check(driver_, driver_.release_executable(executable));
    check(driver_, driver_.release_graph(graph));
  }

 protected:
  Driver driver_{};
  Stream stream_ = nullptr;
  std::optional<Products> products_;
};

ProductProblem problem_of(std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  ProductProblem problem;
  problem.rows = rows;
  problem.columns = columns;
  problem.depth = depth;
  return problem;
}

/// 3 products, in y one after the other.
ProductProblem batch_of(ProductProblem problem) {
  problem.batch = 3;
  problem.batch_stride_a = problem.rows * problem.depth;
  problem.batch_stride_b = problem.depth * problem.columns;
  problem.batch_stride_y = problem.rows * problem.columns;
  return problem;
}

TEST_F(ProductsOnGpu, compute_float32_numbers) {
  expect_right(problem_of(24, 40, 32));
  expect_right(problem_of(5, 7, 3));
  expect_right(problem_of(1, 16, 64));
  expect_right(problem_of(16, 1, 64));
}

TEST_F(ProductsOnGpu, take_transposed_matrices) {
  ProductProblem problem = problem_of(24, 40, 32);
  problem.transpose_a = true;
  expect_right(problem);
  problem.transpose_b = true;
  expect_right(problem);
  problem.transpose_a = false;
  expect_right(problem);
}

TEST_F(ProductsOnGpu, compute_a_batch) {
  ProductProblem problem = batch_of(problem_of(24, 40, 32));
  expect_right(problem);
  problem.transpose_a = problem.transpose_b = true;
  expect_right(problem);
}

TEST_F(ProductsOnGpu, share_a_matrix_in_a_batch) {
  ProductProblem problem = batch_of(problem_of(24, 40, 32));
  problem.batch_stride_b = 0;
  expect_right(problem);
  problem = batch_of(problem_of(24, 40, 32));
  problem.batch_stride_a = 0;
  expect_right(problem);
}

TEST_F(ProductsOnGpu, scale_the_sums_before_the_bias) {
  ProductProblem problem = problem_of(24, 40, 32);
  problem.alpha = 0.5F;
  expect_right(problem);
  problem.bias = true;
  expect_right(problem);
}

TEST_F(ProductsOnGpu, add_a_bias_for_each_column) {
  ProductProblem problem = problem_of(24, 40, 32);
  problem.bias = true;
  expect_right(problem);
  expect_right(batch_of(problem));
}

TEST_F(ProductsOnGpu, apply_relu_after_the_bias) {
  ProductProblem problem = problem_of(24, 40, 32);
  problem.activation = ProductActivation::relu;
  expect_right(problem);
  problem.bias = true;
  expect_right(problem);
}

TEST_F(ProductsOnGpu, compute_float16_numbers) {
  ProductProblem problem = problem_of(24, 40, 32);
  problem.half = true;
  expect_right(problem);
  expect_right(batch_of(problem));
  problem.transpose_b = true;
  problem.bias = true;
  problem.activation = ProductActivation::relu;
  problem.alpha = 0.5F;
  expect_right(problem);
}

TEST_F(ProductsOnGpu, round_float32_numbers_for_tensor_cores_if_allowed) {
  // The numbers are quarters, which stay as they are.
  ProductProblem problem = problem_of(64, 64, 32);
  problem.allow_tensor_cores_for_float32 = true;
  expect_right(problem);
}

TEST_F(ProductsOnGpu, take_matrices_at_any_address) {
  ProductProblem problem = problem_of(24, 40, 32);
  problem.alignment = 4;
  expect_right(problem);
  problem.bias = true;
  expect_right(problem);
}

TEST_F(ProductsOnGpu, run_in_a_captured_graph) {
  ProductProblem problem = problem_of(24, 40, 32);
  problem.bias = true;
  expect_right(problem, true);
}

TEST_F(ProductsOnGpu, are_none_without_rows) {
  EXPECT_TRUE(products_->prepare(problem_of(0, 40, 32), 8, workspace_limit).empty());
  EXPECT_TRUE(products_->prepare(problem_of(24, 40, 32), 0, workspace_limit).empty());
}

}  // namespace
}  // namespace millrace::engine::cuda
