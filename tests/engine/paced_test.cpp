#include "engine/simulated/paced.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <thread>

#include "engine/reference/reference.h"
#include "support/network_builder.h"

namespace millrace::engine::simulated {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

const board::Processor host{"core0", board::ProcessorKind::cpu, {0}};
const board::Processor gpu{"gpu", board::ProcessorKind::gpu, {}};

/// y = relu(x), z = relu(y) of 16 numbers.
network::Network small_network() {
  test::NetworkBuilder builder;
  const TensorId y = builder.unary(network::UnaryKind::relu, builder.input({16}));
  builder.output(builder.unary(network::UnaryKind::relu, y));
  return builder.build();
}

class PacedEngineTest : public testing::Test {
 protected:
  std::unique_ptr<PacedEngine> paced(Time time) {
    return std::make_unique<PacedEngine>(*reference_, host,
                                         [time](const SubnetRequest&) { return time; });
  }
  std::unique_ptr<Subnet> prepare(Engine& engine, const board::Processor& processor = gpu) {
    return engine.prepare(whole_network(network_, processor));
  }
  void run(Subnet& subnet) {
    const std::byte* const in = input_.data();
    network::Buffer output(Bytes{64});
    std::byte* const out = output.data();
    subnet.run({&in, 1}, {&out, 1});
  }

  network::Network network_ = small_network();
  std::unique_ptr<Engine> reference_ = reference::make();
  network::Buffer input_{Bytes{64}};
};

Time time_of_this_thread() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + Time(used.tv_nsec);
}

TEST_F(PacedEngineTest, computes_what_the_other_engine_computes) {
  Random random(1);
  const auto inputs = test::random_inputs(random, network_);
  const auto engine = paced(1us);
  network::Buffer found(Bytes{64}), expected(Bytes{64});
  const std::byte* const in = inputs[0].bytes().data();
  std::byte* out = found.data();
  prepare(*engine)->run({&in, 1}, {&out, 1});
  out = expected.data();
  prepare(*reference_, host)->run({&in, 1}, {&out, 1});
  EXPECT_TRUE(std::ranges::equal(found.bytes(), expected.bytes()));
}

TEST_F(PacedEngineTest, runs_that_follow_each_other_never_take_less_than_their_sum) {
  const auto engine = paced(1ms);
  const auto subnet = prepare(*engine);
  const auto start = Clock::now();
  for (int i = 0; i < 30; ++i) run(*subnet);
  EXPECT_GE(Clock::now() - start, 30ms);
}

TEST_F(PacedEngineTest, a_lower_clock_takes_longer_in_proportion) {
  const auto engine = paced(10ms);
  engine->set_slowdown("gpu", 3);  // nothing was prepared for it yet
  const auto subnet = prepare(*engine);
  const auto time_now = [&] {
    const auto start = Clock::now();
    run(*subnet);
    return Clock::now() - start;
  };
  const auto slow = time_now();
  EXPECT_GE(slow, 30ms);
  engine->set_slowdown("gpu", 1);
  auto at_the_highest = time_now();
  EXPECT_GE(slow + at_the_highest, 40ms);  // it may make up for the last one, which was woken late
  for (int i = 0; i < 4; ++i) at_the_highest = std::min(at_the_highest, time_now());
  EXPECT_LT(at_the_highest, 30ms);
}

TEST_F(PacedEngineTest, other_work_says_its_time_at_the_clock) {
  const auto engine = paced(1ms);
  const PacedEngine::Pacer pacer = engine->pacer(gpu);
  engine->set_slowdown("gpu", 2);
  bool is_done = false;
  const auto start = Clock::now();
  EXPECT_EQ(pacer(5ms, [&] { is_done = true; }), 10ms);
  EXPECT_GE(Clock::now() - start, 10ms);
  EXPECT_TRUE(is_done);
}

TEST_F(PacedEngineTest, what_is_no_core_runs_one_subnet_at_a_time) {
  const auto engine = paced(10ms);
  const auto first = prepare(*engine), second = prepare(*engine);
  const auto start = Clock::now();
  {
    std::jthread other([&] { run(*first); });
    run(*second);
  }
  EXPECT_GE(Clock::now() - start, 20ms);
}

TEST_F(PacedEngineTest, waiting_takes_no_core) {
  const auto engine = paced(10ms);
  const auto subnet = prepare(*engine);
  const Time before = time_of_this_thread();
  for (int i = 0; i < 10; ++i) run(*subnet);
  EXPECT_LT(time_of_this_thread() - before, 20ms);
}

TEST_F(PacedEngineTest, more_processors_than_cores_take_their_time_side_by_side) {
  const auto engine = paced(10ms);
  const auto start = Clock::now();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 16; ++i)
      threads.emplace_back([&, i] {
        const auto subnet =
            prepare(*engine, {std::string(1, static_cast<char>('a' + i)), gpu.kind, {}});
        for (int run_number = 0; run_number < 10; ++run_number) run(*subnet);
      });
  }
  EXPECT_GE(Clock::now() - start, 100ms);
  EXPECT_LT(Clock::now() - start, 800ms);  // one after the other: 1.6 s
}

TEST_F(PacedEngineTest, says_which_subnets_were_late) {
  const auto late = paced(1ns), in_time = paced(20ms), free = paced(0ns);
  for (PacedEngine* engine : {late.get(), in_time.get(), free.get()}) {
    EXPECT_TRUE(engine->paces().empty());
    const auto subnet = prepare(*engine);
    for (int i = 0; i < 3; ++i) run(*subnet);
  }
  ASSERT_EQ(late->paces().size(), 1u);
  EXPECT_EQ(late->paces()[0].processor, "gpu");
  EXPECT_EQ(late->paces()[0].layers.size(), 2u);
  EXPECT_EQ(late->paces()[0].runs, 3);
  EXPECT_EQ(late->paces()[0].late, 3);
  EXPECT_GT(late->paces()[0].computing, 1ns);
  ASSERT_EQ(in_time->paces().size(), 1u);
  EXPECT_EQ(in_time->paces()[0].modelled, 20ms);
  EXPECT_LT(in_time->paces()[0].late, 3);
  EXPECT_TRUE(free->paces().empty());  // no time is modelled, so none is late
  late->forget_runs();
  EXPECT_TRUE(late->paces().empty());
}

TEST_F(PacedEngineTest, the_times_of_groups_add_up_to_the_modelled_time) {
  const auto engine = paced(5ms);
  const std::byte* const in = input_.data();
  network::Buffer output(Bytes{64});
  std::byte* const out = output.data();
  Time sum{};
  for (const GroupTime& group : prepare(*engine)->run_timed({&in, 1}, {&out, 1})) sum += group.time;
  EXPECT_NEAR(milliseconds(sum), 5, 1e-3);
}

TEST_F(PacedEngineTest, asks_for_no_cores_of_processors_that_are_not_here) {
  EXPECT_FALSE(paced(1ms)->traits(gpu)->uses_cores);
  EXPECT_TRUE(reference_->traits(host)->uses_cores);
  EXPECT_TRUE(paced(1ms)->supports(network_, LayerId(0), gpu));
}

TEST_F(PacedEngineTest, spends_what_launching_takes_on_a_core_of_this_machine) {
  const int core = board::this_machine().processors.front().cores.front();
  PacedEngine engine(*reference_, host, [&](const SubnetRequest&) {
    return RunTime(30ms, {"core0", 10ms, {core}});
  });
  const auto subnet = prepare(engine);
  const Time busy = time_of_this_thread();
  const auto begin = Clock::now();
  run(*subnet);
  EXPECT_GE(time_of_this_thread() - busy, 10ms);
  EXPECT_LT(time_of_this_thread() - busy, 20ms);
  EXPECT_GE(Clock::now() - begin, 30ms);
}

TEST_F(PacedEngineTest, takes_launching_off_a_simulated_core_and_leaves_the_thread_asleep) {
  PacedEngine engine(*reference_, host, [&](const SubnetRequest& request) {
    return request.processor.name == "gpu" ? RunTime(10ms, {"core7", 20ms}) : RunTime(10ms);
  });
  const auto device = prepare(engine);
  const auto stage = prepare(engine, {"core7", board::ProcessorKind::cpu, {7}});
  const Time busy = time_of_this_thread();
  const auto begin = Clock::now();
  run(*device);  // launching lasts until 20 ms from now
  run(*stage);
  EXPECT_GE(Clock::now() - begin, 30ms);
  EXPECT_LT(time_of_this_thread() - busy, 10ms);
}

}  // namespace
}  // namespace millrace::engine::simulated
