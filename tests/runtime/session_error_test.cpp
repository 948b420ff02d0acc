#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "runtime/session.h"
#include "runtime/session_fixture.h"

namespace millrace::runtime {
namespace {

using test::chain;
using test::frame;
using test::value_of;

class SessionErrorTest : public test::SessionTest {};

template <class Error>
std::string error_of(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no such error";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(SessionErrorTest, an_exception_in_any_stage_reaches_the_caller_with_the_stages_name) {
  const auto network = chain(4);
  for (const std::size_t broken : {0u, 1u, 2u, 3u}) {
    int runs = 0;  // of the broken layer, on its one thread
    decorate({.before_prepare = {},
              .before_run =
                  [&](const engine::SubnetRequest& request) {
                    if (request.layers[0] == LayerId(broken) && ++runs == 3)
                      throw std::runtime_error("device lost");
                  },
              .format = {}});
    Session session = start(network, {0, 1, 2, 3});
    const std::string expected = fmt::format("stage{0} on p{0}: device lost", broken);
    EXPECT_EQ(error_of<EngineError>([&] {
                while (session.submit(frame(network, 0))) session.next();
              }),
              expected);
    EXPECT_EQ(error_of<EngineError>([&] { session.next(); }), expected);
    EXPECT_EQ(error_of<EngineError>([&] { session.submit(frame(network, 0)); }), expected);
    EXPECT_EQ(error_of<EngineError>([&] { session.submit_unless_result(frame(network, 0)); }),
              expected);
    EXPECT_EQ(session.life(), Life::failed);
    session.stop();
    EXPECT_EQ(session.life(), Life::failed);
  }
}

TEST_F(SessionErrorTest, a_layer_that_refuses_a_frames_values_makes_it_an_input_error) {
  decorate({.before_prepare = {},
            .before_run =
                [](const engine::SubnetRequest& request) {
                  if (request.layers[0] == LayerId(1)) throw InputError("Gather_1", "index 9");
                },
            .format = {}});
  const auto network = chain(2);
  Session session = start(network, {0, 1});
  session.submit(frame(network, 0));
  EXPECT_EQ(error_of<InputError>([&] { session.next(); }), "stage1 on p1: Gather_1: index 9");
}

TEST_F(SessionErrorTest, an_exception_ends_a_submit_and_a_next_that_are_waiting) {
  decorate({.before_prepare = {},
            .before_run = [](const engine::SubnetRequest&) { throw 7; },
            .format = {}});
  const auto network = chain(2);
  Session session = start(network, {0, 1});
  std::string in_submit;
  std::thread writer([&] {
    in_submit = error_of<EngineError>([&] {
      while (session.submit(frame(network, 0))) {
      }
    });
  });
  const std::string in_next = error_of<EngineError>([&] { session.next(); });
  writer.join();
  EXPECT_EQ(in_next, "stage0 on p0: an exception of unknown type");
  EXPECT_EQ(in_submit, in_next);
}

TEST_F(SessionErrorTest, an_error_while_draining_is_delivered) {
  decorate({.before_prepare = {},
            .before_run =
                [](const engine::SubnetRequest& request) {
                  if (request.layers[0] == LayerId(1)) throw std::runtime_error("late");
                },
            .format = {}});
  const auto network = chain(2);
  Session session = start(network, {0, 1});
  session.submit(frame(network, 0));
  session.finish();
  EXPECT_TRUE(contains(error_of<EngineError>([&] { session.next(); }), "late"));
}

TEST_F(SessionErrorTest, frames_that_do_not_fit_are_refused_and_the_session_goes_on) {
  const auto network = chain(1);
  Session session = start(network, {0});
  const auto refusal = [&](const std::vector<network::Array>& inputs) {
    return error_of<InputError>([&] { session.submit(inputs); });
  };
  EXPECT_TRUE(contains(refusal({}), "has 0 arrays, expected 1"));
  const std::array<float, 6> six{};
  const std::array<std::int64_t, 6> integers{};
  auto other = network::make_array<float>(network::DataType::float32, {6, 1}, six);
  EXPECT_TRUE(contains(refusal({other}), "input 'x': found float32 6x1, expected float32 1x6"));
  other = network::make_array<std::int64_t>(network::DataType::int64, {1, 6}, integers);
  EXPECT_TRUE(contains(refusal({other}), "found int64 1x6"));
  other = frame(network, 0)[0];
  other.memory.reset();
  EXPECT_TRUE(contains(refusal({other}), "memory"));
  session.submit(frame(network, 1));
  EXPECT_EQ(value_of(session.next()->outputs[0]), 2);
}

TEST_F(SessionErrorTest, a_plan_for_another_network_is_refused) {
  const auto network = chain(3);
  const auto plan = plan_of(network, {0, 1, 0});
  auto other = chain(3);
  other.layers[1].op = network::Binary{network::BinaryKind::mul};
  EXPECT_TRUE(contains(error_of<InputError>([&] { deploy(plan, other, engines_, unpinned); }),
                       "another network"));
  auto nameless = plan;
  nameless.network_hash.clear();
  EXPECT_NE(error_of<InputError>([&] { deploy(nameless, chain(2), engines_, unpinned); }),
            "no such error");
}

TEST_F(SessionErrorTest, a_missing_engine_is_named_with_those_there_are) {
  const auto network = chain(1);
  auto plan = plan_of(network, {0});
  plan.stages[0].engine = "tensor core";
  const auto text = error_of<InputError>([&] { deploy(plan, network, engines_, unpinned); });
  EXPECT_TRUE(contains(text, "stage0 asks for the engine 'tensor core'; there is engine"));
}

TEST_F(SessionErrorTest, a_core_holds_one_stage) {
  const auto network = chain(2);
  auto plan = plan_of(network, {0, 1});
  plan.stages[1].processors[0].cores = plan.stages[0].processors[0].cores;
  const auto text = error_of<InputError>([&] { deploy(plan, network, engines_, unpinned); });
  EXPECT_TRUE(contains(text, "stage1: core 0 is used by stage0 too; each core can hold one stage"))
      << text;
}

TEST_F(SessionErrorTest, a_missing_processor_is_named_with_its_stage) {
  const auto network = chain(2);
  auto plan = plan_of(network, {0, 1});
  plan.stages[1].processors[0] = {"core8000", board::ProcessorKind::cpu, {8000}};
  plan.stages[0].processors[0] = board::this_machine().processors[0];
  const auto text = error_of<InputError>([&] { deploy(plan, network, engines_, {}); });
  EXPECT_TRUE(contains(text, "stage1 runs on core8000 (core 8000), which this machine lacks"));
}

TEST_F(SessionErrorTest, a_stage_runs_on_the_cores_of_its_processor_alone) {
  const auto network = chain(2);
  const auto before = board::cores_of_this_thread();
  auto plan = plan_of(network, {0, 1});
  const auto processors = board::this_machine().processors;
  if (processors.size() < 2) GTEST_SKIP() << "needs two cores, this process may use one";
  plan.stages[0].processors[0] = processors.front();
  plan.stages[1].processors[0] = processors.back();
  std::array<std::vector<int>, 2> prepared_on, run_on;
  decorate({.before_prepare =
                [&](const engine::SubnetRequest& request) {
                  prepared_on[request.layers[0].index] = board::cores_of_this_thread();
                },
            .before_run =
                [&](const engine::SubnetRequest& request) {
                  run_on[request.layers[0].index] = board::cores_of_this_thread();
                },
            .format = {}});
  Session session = deploy(plan, network, engines_, {});
  session.submit(frame(network, 0));
  EXPECT_TRUE(session.next());
  EXPECT_EQ(prepared_on[0], processors.front().cores);
  EXPECT_EQ(prepared_on[1], processors.back().cores);
  EXPECT_EQ(run_on, prepared_on);
  EXPECT_EQ(board::cores_of_this_thread(), before);
}

TEST_F(SessionErrorTest, channels_that_no_memory_holds_are_refused_before_it_is_used_up) {
  auto network = chain(2);
  for (network::Tensor& tensor : network.tensors) tensor.shape = {1 << 14, 1 << 14};
  auto plan = plan_of(network, {0, 1});
  for (plan::Channel& channel : plan.channels) channel.capacity = 1'000'000;
  const auto text = error_of<InputError>([&] { deploy(plan, network, engines_, unpinned); });
  EXPECT_TRUE(contains(text, "of frames, this machine has")) << text;
}

TEST_F(SessionErrorTest, channels_of_a_tensor_with_different_capacities_are_refused) {
  const auto network = chain(2);
  auto plan = plan_of(network, {0, 1});
  plan.channels[0].capacity = 0;
  EXPECT_NE(error_of<InputError>([&] { deploy(plan, network, engines_, unpinned); }),
            "no such error");
}

}  // namespace
}  // namespace millrace::runtime
