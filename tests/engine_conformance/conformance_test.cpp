// Every engine of the build, on every case: the same results as the plain loops, however the
// network is cut.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "board/instruction_sets.h"
#include "cases.h"
#include "engine/batch.h"
#include "engine/registry.h"
#include "network/batch.h"
#include "network/evaluate/evaluate.h"
#include "subnet_runner.h"

namespace millrace::test {
namespace {

using network::Array;
using network::Network;

/// What is known not to work, by the beginnings of the subject's name and of the case's.
struct Exception {
  std::string_view subject, prefix, reason;
  bool only_without_vnni = false;
};

bool has_vnni() {
  const std::vector<std::string> sets = board::instruction_sets();
  return std::ranges::any_of(
      sets, [](const std::string& set) { return set == "avx512_vnni" || set == "avx_vnni"; });
}

constexpr std::array wrong_values{
    Exception{"simulated", "", "its outputs are marks of what they depend on, not results"},
    Exception{"onnxruntime", "cast_from_uint8",
              "ONNX leaves open what numbers outside of an integer's range become"},
};
/// Right, but not to 1e-5.
constexpr std::array less_exact{
    Exception{"onnxruntime_gpu", "sin", "Vulkan asks for sines to 2^-11 only"},
    Exception{"onnxruntime_gpu", "cos", "Vulkan asks for cosines to 2^-11 only"},
};
constexpr std::string_view rounds = "OpenVINO rounds otherwise where it quantises";
constexpr std::string_view reduces_all = "OpenVINO reduces all dimensions, whichever are asked for";
constexpr std::array unsupported{
    Exception{"cuda", "", "NVIDIA's GPUs run what there is a kernel for; cores run nothing"},
    Exception{"onnxruntime", "quantized_product_of_inputs",
              "it multiplies uint8 by int8, or by uint8 to uint8, but not uint8 to int8"},
    Exception{"onnxruntime", "convolution_of_integers_",
              "it knows one zero point for all output channels, not one for each"},
    Exception{"onnxruntime", "quantized_convolution", "1.21 has no ConvInteger of int8"},
    Exception{"onnxruntime", "quantized_product", "without VNNI it cuts off sums of products",
              true},
    Exception{"onnxruntime", "quantized_network", "it has no QLinearConv from uint8 to int8"},
    Exception{"onnxruntime_gpu", "", "a GPU runs what its provider has, and refuses the rest"},
    Exception{"openvino", "cast_from_uint8", "OpenVINO casts negative numbers otherwise"},
    Exception{"openvino", "cast_to_half_and_back", "OpenVINO leaves the casts out"},
    Exception{"openvino", "convolution_between_quantised_tensors", rounds},
    Exception{"openvino", "convolution_of_integers", rounds},
    Exception{"openvino", "integer_arithmetic", "OpenVINO computes int64 with 32 bits"},
    Exception{"openvino", "max_pool_column_major_indices", "OpenVINO counts by rows"},
    Exception{"openvino", "quantize", rounds},
    Exception{"openvino", "reduce_l1_spatial", reduces_all},
    Exception{"openvino", "reduce_log_sum_spatial", reduces_all},
    Exception{"openvino", "resize_cubic_antialias", "OpenVINO ignores antialias"},
    Exception{"openvino", "resize_linear_antialias", "OpenVINO ignores antialias"},
};

template <std::size_t N>
std::string_view reason_of(const std::array<Exception, N>& list, std::string_view subject,
                           std::string_view name) {
  for (const Exception& exception : list)
    if (subject.starts_with(exception.subject) && name.starts_with(exception.prefix) &&
        !(exception.only_without_vnni && has_vnni()))
      return exception.reason;
  return {};
}

/// The largest difference over the largest reference.
double relative_error(const Array& found, const Array& expected) {
  const auto a = found.values<float>(), b = expected.values<float>();
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double d = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(d <= difference)) difference = d;
    largest = std::max(largest, std::fabs(static_cast<double>(b[i])));
  }
  return largest == 0 ? difference : difference / largest;
}

bool same_bytes(const Array& a, const Array& b) {
  return std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin(), b.bytes().end());
}

struct Subject {
  std::string engine;
  board::Processor processor;
  ConformanceCase test;
};
/// "onednn", "onnxruntime_gpu0".
std::string name_of(const Subject& subject) {
  const bool is_core = subject.processor.kind == board::ProcessorKind::cpu;
  return is_core ? subject.engine : subject.engine + "_" + subject.processor.name;
}
void PrintTo(const Subject& subject, std::ostream* out) {
  *out << name_of(subject) << " " << subject.test.name;
}

const board::Board& this_board() {
  static const board::Board board = board::this_machine();
  return board;
}

class EngineConformance : public testing::TestWithParam<Subject> {
 protected:
  void SetUp() override {
    if (const Verdict verdict = engine::can_start(GetParam().engine); !verdict)
      GTEST_SKIP() << verdict.reason();
    engine_ = engine::make_engine(GetParam().engine);
    for (std::size_t i = 0; i < network_.layers.size(); ++i) {
      const Verdict verdict = engine_->supports(network_, LayerId(i), processor_);
      const bool excused =
          !reason_of(unsupported, name_of(GetParam()), GetParam().test.name).empty();
      if (verdict) continue;
      EXPECT_FALSE(verdict.reason().empty());
      EXPECT_THROW(engine_->prepare(engine::whole_network(network_, processor_)), InputError);
      ASSERT_TRUE(excused) << network_.layers[i].name << ": " << verdict.reason();
      GTEST_SKIP() << verdict.reason();
    }
    const auto request = engine::whole_network(network_, processor_);
    if (const Verdict together = engine_->supports(network_, request.layers, processor_);
        !together) {
      EXPECT_FALSE(together.reason().empty());
      EXPECT_ANY_THROW(engine_->prepare(request));
      GTEST_SKIP() << together.reason();
    }
    Random random(5);
    inputs_ = random_inputs(random, network_);
  }

  void expect_right(const std::vector<Array>& found) const {
    if (!reason_of(wrong_values, name_of(GetParam()), GetParam().test.name).empty()) return;
    const std::vector<Array> expected = network::evaluate(network_, inputs_);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (expected[i].type == network::DataType::float32) {
        EXPECT_LE(relative_error(found[i], expected[i]), largest_error()) << "output " << i;
      } else {
        EXPECT_TRUE(same_bytes(found[i], expected[i])) << "output " << i;
      }
    }
  }

  static double largest_error() {
    const bool is_exact = reason_of(less_exact, name_of(GetParam()), GetParam().test.name).empty();
    return is_exact ? 1e-5 : 0x1p-11;
  }

  std::unique_ptr<engine::Engine> engine_;
  board::Processor processor_ = GetParam().processor;
  Network network_ = network_of(GetParam().test);
  std::vector<Array> inputs_;
};

TEST_P(EngineConformance, a_whole_network_gives_the_results_of_the_loops) {
  SubnetRunner runner(*engine_, engine::whole_network(network_, processor_));
  expect_right(runner.run(inputs_));
}

TEST_P(EngineConformance, all_cores_together_give_the_same) {
  if (processor_.kind != board::ProcessorKind::cpu) GTEST_SKIP() << "it has no cores";
  SubnetRunner runner(*engine_, engine::whole_network(network_, board::all_cores(this_board())));
  expect_right(runner.run(inputs_));
}

TEST_P(EngineConformance, a_second_run_gives_the_same_bytes) {
  SubnetRunner runner(*engine_, engine::whole_network(network_, processor_));
  const std::vector<Array> first = runner.run(inputs_), second = runner.run(inputs_);
  for (std::size_t i = 0; i < first.size(); ++i)
    EXPECT_TRUE(same_bytes(first[i], second[i])) << "output " << i;
}

TEST_P(EngineConformance, a_run_of_other_inputs_leaves_no_trace) {
  SubnetRunner runner(*engine_, engine::whole_network(network_, processor_));
  Random random(6);
  const std::vector<Array> first = runner.run(inputs_);
  runner.run(random_inputs(random, network_));
  const std::vector<Array> again = runner.run(inputs_);
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(same_bytes(first[i], again[i]));
}

TEST_P(EngineConformance, every_layer_is_timed_once) {
  SubnetRunner runner(*engine_, engine::whole_network(network_, processor_));
  std::vector<Array> results;
  std::vector<LayerId> timed;
  for (const engine::GroupTime& group : runner.run_timed(inputs_, results)) {
    EXPECT_FALSE(group.kernel.empty());
    EXPECT_GE(group.time.count(), 0);
    timed.insert(timed.end(), group.layers.begin(), group.layers.end());
  }
  std::sort(timed.begin(), timed.end());
  EXPECT_EQ(timed, engine::whole_network(network_, processor_).layers);
  expect_right(results);
}

TEST_P(EngineConformance, layers_alone_with_the_engines_own_layouts_between_give_the_same) {
  expect_right(run_in_parts(*engine_, {network_, processor_, 1, false}, inputs_));
}

TEST_P(EngineConformance, frames_at_once_give_the_results_of_each) {
  const auto request = engine::whole_network(network_, processor_);
  for (const LayerId layer : request.layers)
    if (const Verdict verdict = network::can_batch(network_, layer); !verdict) {
      EXPECT_THROW(engine::prepare_batch(*engine_, request, 3), InputError) << verdict.reason();
      GTEST_SKIP() << verdict.reason();
    }
  Random random(6);
  const std::vector<std::vector<Array>> frames{random_inputs(random, network_), inputs_,
                                               random_inputs(random, network_)};
  expect_right(run_at_once(*engine_, request, frames)[1]);
}

TEST_P(EngineConformance, layers_alone_with_plain_borders_give_the_same) {
  expect_right(run_in_parts(*engine_, {network_, processor_, 1, true}, inputs_));
}

TEST_P(EngineConformance, a_cut_after_every_third_layer_gives_the_same) {
  expect_right(run_in_parts(*engine_, {network_, processor_, 3, false}, inputs_));
}

TEST_P(EngineConformance, memory_is_planned_within_the_naive_sum_but_for_alignment) {
  SubnetRunner runner(*engine_, engine::whole_network(network_, processor_));
  const auto buffers = static_cast<std::int64_t>(network_.tensors.size());
  const Bytes alignment{static_cast<std::int64_t>(network::tensor_alignment)};
  EXPECT_LE(runner.memory().arena, runner.memory().naive + alignment * buffers);
}

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  const auto add = [&](const std::string& engine, const board::Processor& processor) {
    for (const ConformanceCase& test : all_cases()) all.push_back({engine, processor, test});
  };
  for (const std::string& engine : engine::engine_names())
    add(engine, this_board().processors.front());
  for (const std::string& engine : engine::engine_names())
    for (const engine::ReachedDevice& reached : engine::reached_devices(engine, {}))
      add(engine, board::processors_of(reached.device).front());
  return all;
}

INSTANTIATE_TEST_SUITE_P(each, EngineConformance, testing::ValuesIn(subjects()),
                         [](const auto& subject) {
                           return name_of(subject.param) + "_" + subject.param.test.name;
                         });

TEST(Exceptions, each_names_a_case_and_an_engine_of_this_build_or_none) {
  const std::vector<ConformanceCase> cases = all_cases();
  const auto check = [&](const Exception& exception) {
    EXPECT_FALSE(exception.reason.empty());
    EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [&](const ConformanceCase& test) {
      return test.name.starts_with(exception.prefix);
    })) << exception.prefix;
  };
  std::for_each(wrong_values.begin(), wrong_values.end(), check);
  std::for_each(less_exact.begin(), less_exact.end(), check);
  std::for_each(unsupported.begin(), unsupported.end(), check);
}

}  // namespace
}  // namespace millrace::test
