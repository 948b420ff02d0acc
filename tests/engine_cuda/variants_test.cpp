// What the engine offers in float16, how exact that is, and what it refuses.
#include <gtest/gtest.h>

#include "emulated_gpu.h"
#include "engine/cuda/cuda.h"
#include "prepared.h"
#include "support/message_of.h"

namespace millrace::engine::cuda {
namespace {

using network::Network;

class CudaVariants : public testing::Test {
 protected:
  /// A request for all layers in this variant.
  SubnetRequest in_variant(const board::Variant& variant) {
    SubnetRequest request = whole_network(network_, gpu0);
    request.variants.assign(network_.layers.size(), variant);
    return request;
  }
  double error_in(const board::Variant& variant) {
    Prepared whole(*engine_, in_variant(variant), network::random_inputs(network_, 5));
    whole.run();
    return largest_error(whole, network_);
  }

  std::unique_ptr<Engine> engine_ = make(emulated_gpu());
  Network network_ = branches();
};

TEST_F(CudaVariants, are_f32_and_for_convolutions_and_products_f16) {
  using board::Precision;
  for (std::size_t i = 0; i < network_.layers.size(); ++i) {
    const auto& op = network_.layers[i].op;
    const bool has_half =
        std::holds_alternative<network::Conv>(op) || std::holds_alternative<network::Gemm>(op);
    std::vector<board::Variant> expected{{Precision::f32, {}}};
    if (has_half) expected.push_back({Precision::f16, {}});
    EXPECT_EQ(engine_->variants(network_, LayerId(i), gpu0), expected) << network_.layers[i].name;
  }
  EXPECT_TRUE(engine_->variants(network_, LayerId(0), gpu1).empty());
}

TEST_F(CudaVariants, in_f16_are_as_exact_as_its_digits) {
  const double error = error_in({board::Precision::f16, {}});
  EXPECT_LE(error, 1e-2);
  EXPECT_GT(error, 1e-6);  // else it was f32 that ran
}

TEST_F(CudaVariants, of_a_batched_product_in_f16_are_as_exact_as_its_digits) {
  test::NetworkBuilder builder;
  const TensorId a = builder.input({3, 17, 40}), b = builder.input({3, 40, 70});
  const TensorId y = builder.layer(network::MatMul{}, {a, b}, {3, 17, 70});
  builder.output(builder.unary(network::UnaryKind::tanh, y));
  network_ = builder.build();
  const double error = error_in({board::Precision::f16, {}});
  EXPECT_LE(error, 1e-2);
  EXPECT_GT(error, 1e-6);
}

TEST_F(CudaVariants, of_neighbours_may_differ) {
  SubnetRequest request = in_variant({board::Precision::f32, {}});
  request.variants[2].precision = board::Precision::f16;
  Prepared whole(*engine_, request, network::random_inputs(network_, 5));
  whole.run();
  EXPECT_LE(largest_error(whole, network_), 1e-2);
}

TEST_F(CudaVariants, that_the_engine_lacks_are_refused_with_those_it_has) {
  for (const board::Variant& variant :
       std::vector<board::Variant>{{board::Precision::bf16, {}},
                                   {board::Precision::int8, {}},
                                   {board::Precision::f32, "winograd"},
                                   {board::Precision::f16, "winograd"}}) {
    const std::string text = test::message_of([&] { engine_->prepare(in_variant(variant)); });
    EXPECT_EQ(text, "layer0: the engine cuda has no variant " + to_text(variant) +
                        "; it has f32 and, for convolutions and products, f16");
  }
}

TEST(CudaSupport, is_refused_for_layers_without_a_kernel_and_for_processors_that_are_not_there) {
  const std::unique_ptr<Engine> engine = make(emulated_gpu());
  test::NetworkBuilder builder;
  builder.output(
      builder.layer(network::CumSum{}, {builder.input({4}), builder.integers({}, {0})}, {4}));
  const Network network = builder.build();
  EXPECT_EQ(engine->supports(network, LayerId(0), gpu0).reason(),
            "the engine cuda has no kernel for CumSum");
  const std::string text = test::message_of([&] { engine->prepare(whole_network(network, gpu0)); });
  EXPECT_NE(text.find("layer0"), std::string::npos) << text;
  EXPECT_NE(text.find("the engine cuda has no kernel for CumSum"), std::string::npos) << text;
  const Network relu = one_relu(4);
  const std::string far = test::message_of([&] { engine->prepare(whole_network(relu, gpu1)); });
  EXPECT_NE(far.find("the engine cuda does not reach gpu1; it reaches gpu0"), std::string::npos)
      << far;
}

}  // namespace
}  // namespace millrace::engine::cuda
