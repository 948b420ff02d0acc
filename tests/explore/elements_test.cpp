// What of a board can hold a network alone, and how fast that is.
#include "explore/admission/elements.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "board/shipped.h"
#include "explore/admission/variants.h"
#include "formats/zoo.h"
#include "support/network_builder.h"

namespace millrace::explore {
namespace {

board::Board xavier() { return board::find_board("jetson-agx-xavier"); }

std::vector<std::string> names(const Elements& elements) {
  std::vector<std::string> result;
  for (const SharedProcessor& processor : elements.problem.processors)
    result.push_back(processor.name);
  return result;
}

TEST(Elements, of_the_xavier_are_those_of_the_paper) {
  ElementOptions options;
  options.reserved_cores = 2;
  const Elements elements = elements_of(xavier(), options);
  EXPECT_EQ(elements.problem.units, (std::vector<std::string>{"cores0-1", "cores2-3", "cores4-5",
                                                              "gpu/0", "gpu/1", "dla0", "dla1"}));
  // 1, 2 and 3 clusters; halves and the whole GPU with both of its units; NPUs alone and together.
  EXPECT_EQ(elements.elements.size(), 3u + 2 + 1 + 2 * 3 + 3);
  EXPECT_NO_THROW(check(elements.problem));
}

TEST(Elements, kinds_restrict_them) {
  ElementOptions options;
  options.kinds = {"npu.together", "gpu.tensor_cores.alone"};
  EXPECT_EQ(names(elements_of(xavier(), options)),
            (std::vector<std::string>{"gpu/0:tensor_cores", "gpu/1:tensor_cores", "dla0..dla1"}));
  options.kinds = {"tpu"};
  try {
    elements_of(xavier(), options);
    FAIL() << "nothing was thrown";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "kinds: the board 'NVIDIA Jetson AGX Xavier (32 GB)' has no 'tpu'; it "
                 "has cpu, gpu.cuda_cores, gpu.tensor_cores, npu");
  }
}

/// Arithmetic only, so that times are in proportion to rates.
network::Network one_convolution() {
  millrace::test::NetworkBuilder net;
  net.output(net.conv(net.input({1, 256, 64, 64}), 256, millrace::test::window(3, {.pad = 1})));
  return net.build();
}

double time_on(const Elements& elements, const std::string& name) {
  const auto& processors = elements.problem.processors;
  const auto found = std::ranges::find(processors, name, &SharedProcessor::name);
  const auto index = static_cast<std::size_t>(found - processors.begin());
  const VariantTime variant = modelled_variant(one_convolution(), elements.elements[index],
                                               xavier(), std::array{board::Precision::f16});
  EXPECT_TRUE(variant.time) << name << ": " << variant.refusal;
  return variant.time ? seconds(*variant.time) : 0;
}

TEST(Elements, more_silicon_is_faster_in_proportion) {
  const Elements elements = elements_of(xavier(), {.reserved_cores = 2, .together = 0.9});
  const double cluster = time_on(elements, "cores0-1");
  EXPECT_NEAR(cluster / time_on(elements, "cores0-1..cores4-5"), 3 * 0.9, 0.05);
  EXPECT_NEAR(time_on(elements, "gpu/0:cuda_cores") / time_on(elements, "gpu/0..gpu/1:cuda_cores"),
              2, 0.05);
  EXPECT_NEAR(time_on(elements, "gpu/1:cuda_cores") / time_on(elements, "gpu/1:tensor_cores"), 4,
              0.2);
  EXPECT_LT(time_on(elements, "dla0..dla1"), time_on(elements, "dla0"));
}

TEST(Elements, what_an_npu_refuses_goes_to_a_core) {
  ElementOptions options;
  options.kinds = {"npu.alone"};
  const Elements elements = elements_of(xavier(), options);
  millrace::test::NetworkBuilder net;
  const TensorId x =
      net.conv(net.input({1, 16, 32, 32}), 16, millrace::test::window(3, {.pad = 1}));
  net.output(net.unary(network::UnaryKind::leaky_relu, x, 0.1));
  const std::array precisions{board::Precision::f16};
  const VariantTime with_leaky =
      modelled_variant(net.build(), elements.elements[0], xavier(), precisions);
  ASSERT_TRUE(with_leaky.time) << with_leaky.refusal;
  board::Board no_core = xavier();
  std::erase_if(no_core.devices, [](const board::Device& device) {
    return device.kind == board::ProcessorKind::cpu;
  });
  const VariantTime refused =
      modelled_variant(net.build(), elements.elements[0], no_core, precisions);
  EXPECT_FALSE(refused.time);
  EXPECT_NE(refused.refusal.find("LeakyRelu"), std::string::npos) << refused.refusal;
}

TEST(Elements, a_device_with_a_memory_of_its_own_has_a_link) {
  const board::Board hailo = board::find_board("hailo-8");
  const Elements elements = elements_of(hailo, {.kinds = {"npu"}});
  ASSERT_EQ(elements.problem.units, (std::vector<std::string>{"hailo8", "hailo8 link"}));
  EXPECT_EQ(elements.problem.processors.front().link, std::size_t{1});
  const std::array precisions{board::Precision::int8};
  const VariantTime variant =
      modelled_variant(one_convolution(), elements.elements.front(), hailo, precisions);
  ASSERT_TRUE(variant.time) << variant.refusal;
  const network::Network network = one_convolution();
  const auto bytes = [&](const std::vector<TensorId>& tensors) {
    return static_cast<double>(network::element_count(network[tensors.front()].shape));
  };
  EXPECT_NEAR(seconds(variant.transfers.in), bytes(network.inputs) / 0.985e9, 2e-9);
  EXPECT_NEAR(seconds(variant.transfers.out), bytes(network.outputs) / 0.985e9, 2e-9);
  for (const SharedProcessor& processor : elements_of(xavier()).problem.processors)
    EXPECT_FALSE(processor.link);
}

}  // namespace
}  // namespace millrace::explore
