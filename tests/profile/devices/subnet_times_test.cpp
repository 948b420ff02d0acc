#include "profile/devices/subnet_times.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "engine/simulated/simulated.h"
#include "support/network_builder.h"

namespace millrace::profile {
namespace {

std::vector<LayerId> layers_in(std::size_t begin, std::size_t end) {
  std::vector<LayerId> result;
  for (std::size_t i = begin; i < end; ++i) result.emplace_back(i);
  return result;
}

/// Twelve layers whose times are known, and what subnets of them take.
struct KnownDevice {
  double launch = 40'000, element = 0.5;
  std::vector<double> times,
      elements;  // of the layers, and at the borders before each and at the end

  explicit KnownDevice(std::uint64_t seed) {
    Random random(seed);
    for (int i = 0; i < 12; ++i) times.push_back(1'000 + 100'000 * random.unit());
    for (int i = 0; i < 13; ++i) elements.push_back(1'000 + 50'000 * random.unit());
  }
  SubnetTime subnet(std::size_t begin, std::size_t end) const {
    SubnetTime result{layers_in(begin, end), launch, elements[begin] + elements[end]};
    result.time += element * result.elements;
    for (std::size_t i = begin; i < end; ++i) result.time += times[i];
    return result;
  }
};

TEST(SubnetTimes, are_found_again_in_sums_and_differences) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const KnownDevice device(seed);
    std::vector<SubnetTime> singles, rows;
    for (std::size_t i = 0; i < 12; ++i) singles.push_back(device.subnet(i, i + 1));
    for (const auto& [begin, end] : {std::pair{0, 12}, {0, 6}, {6, 12}, {3, 6}})
      rows.push_back(device.subnet(static_cast<std::size_t>(begin), static_cast<std::size_t>(end)));
    const SubnetModel model = fit_subnets(12, singles, rows);
    EXPECT_NEAR(model.launch, device.launch, 1e-3 * device.launch) << seed;
    EXPECT_NEAR(model.element, device.element, 1e-3 * device.element) << seed;
    for (std::size_t i = 0; i < 12; ++i)
      EXPECT_NEAR(model.layers[i], device.times[i], 1e-3 * device.times[i]) << seed;
  }
}

TEST(SubnetTimes, sum_up_to_the_largest_subnet_where_kernels_are_fused) {
  const std::vector<SubnetTime> singles{{layers_in(0, 1), 1000, 10}, {layers_in(1, 2), 500, 10}};
  const std::vector<SubnetTime> rows{{layers_in(0, 2), 900, 10}};
  const SubnetModel model = fit_subnets(2, singles, rows);
  EXPECT_NEAR(model.launch + 10 * model.element + model.layers[0] + model.layers[1], 900, 1);
  EXPECT_GT(model.layers[0], model.layers[1]);
}

TEST(SubnetTimes, of_an_impossible_difference_cost_nothing_at_borders) {
  const std::vector<SubnetTime> singles{{layers_in(0, 1), 1000, 10}, {layers_in(1, 2), 500, 10}};
  const std::vector<SubnetTime> rows{{layers_in(0, 2), 1800, 10}};
  const SubnetModel model = fit_subnets(2, singles, rows);
  EXPECT_EQ(model.launch, 0);
  EXPECT_EQ(model.element, 0);
  EXPECT_NEAR(model.layers[0] + model.layers[1], 1800, 1);
}

// The simulated engine takes the sum of its layers' times and has no launch.
TEST(SubnetTimes, of_an_engine_are_those_of_its_layers) {
  test::NetworkBuilder builder;
  TensorId x = builder.input({1, 512});
  for (int i = 0; i < 4; ++i)
    x = builder.layer(network::MatMul{}, {x, builder.constant({512, 512})}, {1, 512});
  builder.output(x);
  const network::Network network = builder.build();
  const auto engine = engine::simulated::make();
  const board::Processor gpu{"gpu0", board::ProcessorKind::gpu, {}};
  MeasureOptions options;
  options.least = 60;  // what interrupts some of them does not matter
  options.duration = std::chrono::milliseconds(300);
  const ProcessorProfile found =
      measure_by_subnets({network, *engine, gpu, options}, board::Precision::f32);
  ASSERT_EQ(found.layers.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const Time expected = engine::simulated::one_gmac_per_second(network, LayerId(i), gpu);
    EXPECT_NEAR(seconds(found.layers[i].together.median), seconds(expected),
                0.3 * seconds(expected));
  }
}

}  // namespace
}  // namespace millrace::profile
