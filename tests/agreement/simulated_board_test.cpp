// A plan for a board with more processors than this machine has cores runs here at the rate that
// its graph allows at the modelled times.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "analysis/rate.h"
#include "engine/reference/reference.h"
#include "engine/simulated/paced.h"
#include "plan/build.h"
#include "runtime/load.h"
#include "runtime/sketch.h"

namespace millrace {
namespace {

using namespace std::chrono_literals;

#ifdef MILLRACE_SANITIZED
constexpr double least_share = 0.6;
#else
constexpr double least_share = 0.95;
#endif
constexpr double most_share = 1.02;  // frames that were on their way at the start
constexpr int attempts = 20;

/// Six processors, eight layers, to and fro; the slowest takes 10 ms.
const std::vector<std::size_t> processors{0, 1, 2, 3, 4, 5, 0, 2};
const std::vector<Time> times{4ms, 10ms, 3ms, 8ms, 7ms, 2ms, 5ms, 6ms};

TEST(SimulatedBoard, runs_at_the_modelled_rate_on_fewer_cores) {
  const network::Network network = test::chain(processors.size());
  plan::Plan plan = plan::build(network, test::imagined_board(6), test::mapping(processors),
                                {.engine = plan::simulated_engine});
  const auto time_of = [](const std::vector<LayerId>& layers) {
    Time sum{};
    for (const LayerId layer : layers) sum += times[layer.index];
    return sum;
  };
  plan::PhaseTimes phases(plan);
  for (std::size_t s = 0; s < plan.stages.size(); ++s)
    for (std::size_t p = 0; p < phases[s].size(); ++p)
      phases[s][p] = time_of(plan.stages[s].phases[p].layers);
  const double limit = 1 / seconds(analysis::period_bound(plan, network, phases).value());
  const auto reference = engine::reference::make();
  engine::simulated::PacedEngine engine(
      *reference, board::this_machine().processors.front(),
      [&](const engine::SubnetRequest& request) { return time_of(request.layers); });
  runtime::Session session = runtime::deploy(plan, network, {{plan::simulated_engine, &engine}});
  double best = 0;
  for (int i = 0; i < attempts && best < least_share * limit; ++i) {
    const runtime::Load load = runtime::run_load(session, network, {.duration = 300ms});
    const double rate = static_cast<double>(load.frames) / seconds(load.elapsed);
    EXPECT_LE(rate, most_share * limit);
    best = std::max(best, rate);
  }
  EXPECT_GE(best, least_share * limit);
}

}  // namespace
}  // namespace millrace
