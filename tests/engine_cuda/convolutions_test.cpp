#include "engine/cuda/library/convolutions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "engine/cuda/settings.h"
#include "kernels/float16.h"
#include "network/tensor.h"

namespace millrace::engine::cuda {
namespace {

using Sizes = std::vector<std::int64_t>;
using RawBytes = std::vector<std::uint8_t>;

constexpr std::size_t most_kernels = 16;
constexpr std::size_t workspace_limit_of_convolutions = std::size_t{64} << 20;

std::size_t elements_of(const Sizes& shape) {
  return static_cast<std::size_t>(network::element_count(shape));
}

/// Row-major, as the loops read them.
struct Operands {
  std::vector<float> x, w, bias, residual;
};

/// Eighths from -1 to 1: float16 holds them exactly.
std::vector<float> eighths(std::size_t count, Random& random) {
  std::vector<float> result(count);
  for (float& number : result) number = static_cast<float>(random.below(17)) / 8 - 1;
  return result;
}

Operands operands_of(const ConvolutionProblem& problem) {
  Random random(11);
  return {eighths(elements_of(problem.x), random), eighths(elements_of(problem.w), random),
          eighths(static_cast<std::size_t>(problem.y[1]), random),
          eighths(elements_of(problem.y), random)};
}

/// The loops have three spatial dimensions: `filler` stands for those that are missing.
Sizes three_of(const Sizes& sizes, std::size_t from, std::int64_t filler) {
  Sizes result(3 - (sizes.size() - from), filler);
  result.insert(result.end(), sizes.begin() + static_cast<std::ptrdiff_t>(from), sizes.end());
  return result;
}

struct Window {
  Sizes x, w, y, strides, dilations, pads;
};

Window window_of(const ConvolutionProblem& problem) {
  return {three_of(problem.x, 2, 1),         three_of(problem.w, 2, 1),
          three_of(problem.y, 2, 1),         three_of(problem.strides, 0, 1),
          three_of(problem.dilations, 0, 1), three_of(problem.pads_begin, 0, 0)};
}

Sizes place_of(std::int64_t index, const Sizes& sizes) {
  return {index / (sizes[1] * sizes[2]), index / sizes[2] % sizes[1], index % sizes[2]};
}

/// In x, of one place of the result and one of the weights; nothing in the padding.
std::optional<std::int64_t> read_at(const Window& window, const Sizes& out, const Sizes& in_w) {
  std::int64_t index = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t at =
        out[d] * window.strides[d] + in_w[d] * window.dilations[d] - window.pads[d];
    if (at < 0 || at >= window.x[d]) return std::nullopt;
    index = index * window.x[d] + at;
  }
  return index;
}

struct Sum {
  double value = 0;
  double magnitude = 0;  // of what was added: rounding errors are shares of it

  void add(double term) {
    value += term;
    magnitude += std::fabs(term);
  }
};

/// One channel of an image, and the weights for one result's channel.
struct Channel {
  const float* x;
  const float* w;
};

/// What the channel adds at one place of the result.
void add_channel(Sum& sum, const Window& window, const Channel& channel, const Sizes& out) {
  const std::int64_t weights = window.w[0] * window.w[1] * window.w[2];
  for (std::int64_t k = 0; k < weights; ++k)
    if (const auto at = read_at(window, out, place_of(k, window.w)))
      sum.add(static_cast<double>(channel.x[*at]) * static_cast<double>(channel.w[k]));
}

std::vector<Sum> by_loops(const ConvolutionProblem& problem, const Operands& operands) {
  const Window window = window_of(problem);
  const std::int64_t x_size = window.x[0] * window.x[1] * window.x[2],
                     w_size = window.w[0] * window.w[1] * window.w[2],
                     y_size = window.y[0] * window.y[1] * window.y[2];
  const std::int64_t maps = problem.y[1], depth = problem.w[1];
  std::vector<Sum> result(elements_of(problem.y));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    const std::int64_t map = index / y_size % maps, image = index / y_size / maps;
    const std::int64_t first = map / (maps / problem.groups) * depth;
    for (std::int64_t c = 0; c < depth; ++c)
      add_channel(result[i], window,
                  {operands.x.data() + (image * problem.x[1] + first + c) * x_size,
                   operands.w.data() + (map * depth + c) * w_size},
                  place_of(index % y_size, window.y));
    if (problem.bias) result[i].add(operands.bias[static_cast<std::size_t>(map)]);
    if (problem.residual) result[i].add(operands.residual[i]);
    if (problem.activation == Activation::relu) result[i].value = std::max(result[i].value, 0.0);
  }
  return result;
}

/// float16 holds x without rounding, as it does all operands of these tests.
std::uint16_t half_of(float x) {
  if (x == 0) return 0;
  int exponent = 0;
  const float fraction = std::frexp(std::fabs(x), &exponent);
  const int bits = ((exponent + 14) << 10) | static_cast<int>(fraction * 2048 - 1024);
  return static_cast<std::uint16_t>(bits | (x < 0 ? 0x8000 : 0));
}

/// Where the row-major element lies in memory.
std::size_t place_in_memory(const ConvolutionProblem& problem, const Sizes& shape,
                            std::size_t index) {
  if (!problem.channels_last) return index;
  const auto channels = static_cast<std::size_t>(shape[1]);
  const std::size_t inner = elements_of(shape) / channels / static_cast<std::size_t>(shape[0]);
  const std::size_t image = index / inner / channels;
  return (image * inner + index % inner) * channels + index / inner % channels;
}

std::size_t size_of_element(const ConvolutionProblem& problem) { return problem.half ? 2 : 4; }

RawBytes in_memory(const ConvolutionProblem& problem, const Sizes& shape,
                   const std::vector<float>& numbers) {
  const std::size_t size = size_of_element(problem);
  RawBytes bytes(numbers.size() * size);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::uint16_t half = half_of(numbers[i]);
    const auto* const from = problem.half ? reinterpret_cast<const std::uint8_t*>(&half)
                                          : reinterpret_cast<const std::uint8_t*>(&numbers[i]);
    std::copy_n(from, size, bytes.data() + place_in_memory(problem, shape, i) * size);
  }
  return bytes;
}

float number_in_memory(const ConvolutionProblem& problem, const RawBytes& bytes,
                       std::size_t index) {
  const std::size_t size = size_of_element(problem);
  const std::uint8_t* const from = bytes.data() + place_in_memory(problem, problem.y, index) * size;
  std::uint16_t half = 0;
  float number = 0;
  std::copy_n(from, size,
              problem.half ? reinterpret_cast<std::uint8_t*>(&half)
                           : reinterpret_cast<std::uint8_t*>(&number));
  return problem.half ? kernels::from_float16(half) : number;
}

class Memory {
 public:
  Memory(const Driver& driver, std::size_t bytes) : driver_(driver) {
    check(driver, driver.allocate(&address_, std::max<std::size_t>(bytes, 1)));
  }
  Memory(const Driver& driver, const RawBytes& bytes) : Memory(driver, bytes.size()) {
    check(driver, driver.copy_in(address_, bytes.data(), bytes.size()));
  }
  ~Memory() { driver_.release(address_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  Address address() const { return address_; }

 private:
  const Driver& driver_;
  Address address_ = 0;
};

class DeviceConvolution : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::vector<std::filesystem::path> folders = library_folders(EngineOptions{});
    try {
      driver_ = load_driver(folders);
      ContextObject* context = nullptr;
      check(driver_, driver_.retain_context(&context, 0));
      check(driver_, driver_.set_context(context));
      convolutions_.emplace(folders);
    } catch (const EngineError& error) {
      GTEST_SKIP() << "needs a GPU and cuDNN 9: " << error.what();
    }
    check(driver_, driver_.make_stream(&stream_, non_blocking));
  }
  void TearDown() override {
    if (stream_ != nullptr) driver_.release_stream(stream_);
  }

  /// Where y was not a number before, so that what is not written is seen.
  RawBytes result_of(const ConvolutionProblem& problem, const PreparedConvolution& kernel) const {
    const Operands operands = operands_of(problem);
    const Memory x(driver_, in_memory(problem, problem.x, operands.x)),
        w(driver_, in_memory(problem, problem.w, operands.w)),
        bias(driver_, in_memory(problem, {1, problem.y[1]}, operands.bias)),
        residual(driver_, in_memory(problem, problem.y, operands.residual));
    RawBytes result(elements_of(problem.y) * size_of_element(problem), 0xff);
    const Memory y(driver_, result), workspace(driver_, kernel.workspace());
    kernel.run(stream_, {x.address(), w.address(), bias.address(), residual.address(), y.address(),
                         workspace.address()});
    check(driver_, driver_.wait_for_stream(stream_));
    check(driver_, driver_.copy_out(result.data(), y.address(), result.size()));
    return result;
  }

  void expect_as_loops(const ConvolutionProblem& problem) {
    const auto kernels =
        convolutions_->prepare(problem, most_kernels, workspace_limit_of_convolutions);
    EXPECT_FALSE(kernels.empty());
    const std::vector<Sum> expected = by_loops(problem, operands_of(problem));
    for (const auto& kernel : kernels) {
      SCOPED_TRACE(kernel->kernel());
      const RawBytes result = result_of(problem, *kernel);
      expect_near(problem, expected, result);
      EXPECT_EQ(result_of(problem, *kernel), result);
    }
  }

  /// The first and the last that cuDNN proposes, and what their names build.
  void expect_same_by_name(const ConvolutionProblem& problem) {
    const auto kernels =
        convolutions_->prepare(problem, most_kernels, workspace_limit_of_convolutions);
    ASSERT_FALSE(kernels.empty());
    for (const auto& proposed : {kernels.front(), kernels.back()}) {
      const auto rebuilt = convolutions_->prepare(problem, proposed->kernel());
      ASSERT_NE(rebuilt, nullptr) << proposed->kernel();
      EXPECT_EQ(rebuilt->kernel(), proposed->kernel());
      EXPECT_EQ(rebuilt->workspace(), proposed->workspace());
      EXPECT_EQ(result_of(problem, *rebuilt), result_of(problem, *proposed));
    }
  }

  /// The same with what can follow it, in both types and orders.
  void expect_all_as_loops(ConvolutionProblem problem) {
    for (const auto& [half, channels_last] :
         {std::pair{false, false}, std::pair{false, true}, std::pair{true, true}}) {
      problem.half = half;
      problem.channels_last = channels_last;
      SCOPED_TRACE(half ? "float16" : channels_last ? "float32, channels last" : "float32");
      expect_as_loops(problem);
    }
  }

  static void expect_near(const ConvolutionProblem& problem, const std::vector<Sum>& expected,
                          const RawBytes& result) {
    const double share = problem.half ? 1e-3 : 1e-5;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double got = number_in_memory(problem, result, i);
      ASSERT_LE(std::fabs(got - expected[i].value), share * expected[i].magnitude + 1e-6)
          << "element " << i << ": " << got << ", expected " << expected[i].value;
    }
  }

  Driver driver_{};
  Stream stream_ = nullptr;
  std::optional<Convolutions> convolutions_;
};

/// 3x3, of two images with 8 channels and 9x9 places, to 16 channels: the padding keeps the places.
ConvolutionProblem plain_problem() {
  return {.x = {2, 8, 9, 9},
          .w = {16, 8, 3, 3},
          .y = {2, 16, 9, 9},
          .strides = {1, 1},
          .dilations = {1, 1},
          .pads_begin = {1, 1},
          .pads_end = {1, 1}};
}

TEST_F(DeviceConvolution, the_version_is_9) {
  EXPECT_EQ(convolutions_->version().substr(0, 2), "9.");
}

TEST_F(DeviceConvolution, pads) { expect_all_as_loops(plain_problem()); }

TEST_F(DeviceConvolution, strides) {
  ConvolutionProblem problem = plain_problem();
  problem.strides = {2, 2};
  problem.y = {2, 16, 5, 5};
  expect_all_as_loops(problem);
}

TEST_F(DeviceConvolution, dilates) {
  ConvolutionProblem problem = plain_problem();
  problem.dilations = problem.pads_begin = problem.pads_end = {2, 2};
  expect_all_as_loops(problem);
}

TEST_F(DeviceConvolution, pads_the_sides_differently) {
  ConvolutionProblem problem = plain_problem();
  problem.pads_begin = {0, 2};
  problem.pads_end = {1, 0};
  problem.y = {2, 16, 8, 9};
  expect_all_as_loops(problem);
}

TEST_F(DeviceConvolution, has_groups) {
  ConvolutionProblem problem = plain_problem();
  problem.groups = 2;
  problem.w = {16, 4, 3, 3};
  expect_all_as_loops(problem);
}

TEST_F(DeviceConvolution, is_depthwise) {
  ConvolutionProblem problem = plain_problem();
  problem.groups = 8;
  problem.w = {8, 1, 3, 3};
  problem.y = {2, 8, 9, 9};
  expect_all_as_loops(problem);
}

TEST_F(DeviceConvolution, has_one_spatial_dimension) {
  expect_all_as_loops({.x = {2, 8, 20},
                       .w = {16, 8, 5},
                       .y = {2, 16, 10},
                       .strides = {2},
                       .dilations = {1},
                       .pads_begin = {1},
                       .pads_end = {2}});
}

TEST_F(DeviceConvolution, has_three_spatial_dimensions) {
  expect_all_as_loops({.x = {1, 8, 5, 6, 7},
                       .w = {8, 8, 3, 3, 3},
                       .y = {1, 8, 5, 6, 7},
                       .strides = {1, 1, 1},
                       .dilations = {1, 1, 1},
                       .pads_begin = {1, 1, 1},
                       .pads_end = {1, 1, 1}});
}

TEST_F(DeviceConvolution, adds_a_bias) {
  ConvolutionProblem problem = plain_problem();
  problem.bias = true;
  expect_all_as_loops(problem);
}

TEST_F(DeviceConvolution, adds_a_bias_and_a_residual_before_relu) {
  ConvolutionProblem problem = plain_problem();
  problem.bias = problem.residual = true;
  problem.activation = Activation::relu;
  expect_all_as_loops(problem);
}

TEST_F(DeviceConvolution, has_nothing_for_shapes_that_do_not_fit) {
  ConvolutionProblem problem = plain_problem();
  problem.y = {2, 16, 9, 10};
  EXPECT_TRUE(
      convolutions_->prepare(problem, most_kernels, workspace_limit_of_convolutions).empty());
  problem = plain_problem();
  problem.groups = 3;
  EXPECT_TRUE(
      convolutions_->prepare(problem, most_kernels, workspace_limit_of_convolutions).empty());
  EXPECT_EQ(convolutions_->prepare(problem, "cudnn:engine 0"), nullptr);
}

TEST_F(DeviceConvolution, is_the_same_kernel_when_built_by_its_name) {
  ConvolutionProblem problem = plain_problem();
  expect_same_by_name(problem);
  problem.bias = problem.residual = true;
  problem.activation = Activation::relu;
  expect_same_by_name(problem);
  problem.half = problem.channels_last = true;
  expect_same_by_name(problem);
}

TEST_F(DeviceConvolution, has_no_kernel_of_a_damaged_name) {
  const ConvolutionProblem problem = plain_problem();
  for (const char* const name :
       {"", "millrace_convolve", "cudnn:engine", "cudnn:engine ", "cudnn:engine x",
        "cudnn:engine -1", "cudnn:engine 4000000", "cudnn:engine 99999999999999999999",
        "cudnn:engine 00", "cudnn:engine 0 k2", "cudnn:engine 0 k2=", "cudnn:engine 0 k2=1 k2=1",
        "cudnn:engine 0 k4000=1", "cudnn:engine 0 form=0", "cudnn:engine 0 form=1"})
    EXPECT_EQ(convolutions_->prepare(problem, name), nullptr) << name;
}

}  // namespace
}  // namespace millrace::engine::cuda
