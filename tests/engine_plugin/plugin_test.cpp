#include "engine/plugin/plugin.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "engine/registry.h"
#include "faulty_engine.h"
#include "network/evaluate/evaluate.h"
#include "support/message_of.h"
#include "support/network_builder.h"

namespace millrace::test {
namespace {

using engine::EngineOptions;
using network::Array;

board::Processor npu() { return {"npu0", board::ProcessorKind::npu, {}}; }

network::Network convolutions() {
  NetworkBuilder b;
  const TensorId x = b.conv(b.input({1, 3, 9, 8}), 6, window(3, {.stride = 2, .pad = 1}));
  const TensorId y = b.conv(b.unary(network::UnaryKind::relu, x), 6, window(3, {.pad = 1}), 2);
  b.output(b.binary(network::BinaryKind::add, x, y));
  return b.build();
}

std::vector<float> run(engine::Subnet& subnet, const network::Network& network,
                       const std::vector<Array>& inputs) {
  std::vector<const std::byte*> in;
  for (const Array& input : inputs) in.push_back(input.memory->data());
  network::Buffer memory(network[network.outputs[0]].size());
  std::byte* const out = memory.data();
  subnet.run(in, std::span(&out, 1));
  const auto* values = reinterpret_cast<const float*>(memory.data());
  return {values, values + memory.bytes().size() / sizeof(float)};
}

void expect_right(engine::Engine& engine) {
  const network::Network network = convolutions();
  Random random(3);
  const std::vector<Array> inputs = random_inputs(random, network);
  const auto subnet = engine.prepare(engine::whole_network(network, npu()));
  const std::vector<float> found = run(*subnet, network, inputs);
  const Array expected = network::evaluate(network, inputs)[0];
  const auto values = expected.values<float>();
  ASSERT_EQ(found.size(), values.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], values[i], 1e-5);
}

std::string refusal_of(const std::string& fault) {
  const FaultyEngine faulty(fault);
  return engine::plugin::can_start("example", {.libraries = {{"example", faulty.file()}}}).reason();
}

TEST(Plugin, computes_what_the_loops_compute) {
  expect_right(*engine::plugin::make_from(MILLRACE_EXAMPLE_ENGINE, {}));
}

TEST(Plugin, computes_in_a_memory_of_its_own) {
  const FaultyEngine faulty("own_memory");
  const auto engine = engine::plugin::make_from(faulty.file(), {});
  EXPECT_EQ(engine->traits(npu())->memory, "board");
  expect_right(*engine);
}

TEST(Plugin, refuses_an_operator_with_the_plug_ins_reason) {
  NetworkBuilder b;
  b.output(b.unary(network::UnaryKind::sigmoid, b.input({2, 3})));
  const network::Network network = b.build();
  const auto engine = engine::plugin::make_from(MILLRACE_EXAMPLE_ENGINE, {});
  EXPECT_EQ(engine->supports(network, LayerId(0), npu()).reason(),
            "operator of Sigmoid: it is not known");
  EXPECT_THROW(engine->prepare(engine::whole_network(network, npu())), InputError);
}

TEST(Plugin, is_reached_by_its_name_beside_engines_of_the_build) {
  const EngineOptions options{.libraries = {{"example", MILLRACE_EXAMPLE_ENGINE}}};
  const auto reached = engine::reached_devices("reference,example", options);
  ASSERT_EQ(reached.size(), 1U);
  EXPECT_EQ(reached[0].device.name, "npu0");
  EXPECT_EQ(reached[0].engine, "example");
  EXPECT_EQ(engine::make_engine("reference,example", options)->name(), "reference,example");
}

TEST(Plugin, runs_nothing_on_cores_that_it_does_not_reach) {
  const auto engine = engine::plugin::make_from(MILLRACE_EXAMPLE_ENGINE, {});
  const board::Processor core{"core0", board::ProcessorKind::cpu, {0}};
  EXPECT_FALSE(engine->traits(core));
  EXPECT_EQ(engine->supports(convolutions(), LayerId(0), core).reason(),
            "the plug-in example does not reach core0; it reaches npu0");
}

TEST(Plugin, that_cannot_be_used_says_why) {
  EXPECT_NE(refusal_of("nothing").find("gives no functions for version 2"), std::string::npos);
  EXPECT_NE(refusal_of("other_version").find("was built for version 7 of the interface, expected"),
            std::string::npos);
  EXPECT_NE(refusal_of("no_run").find("has no function 'run'"), std::string::npos);
  EXPECT_NE(refusal_of("no_name").find("has no name of letters"), std::string::npos);
  EXPECT_NE(refusal_of("too_large").find("its table of functions has"), std::string::npos);
  EXPECT_NE(refusal_of("other_name").find("is the engine 'stranger', expected 'example'"),
            std::string::npos);
}

TEST(Plugin, is_opened_once_in_a_process) {
  const FaultyEngine faulty("open_once");
  const EngineOptions options{.libraries = {{"example", faulty.file()}}};
  EXPECT_TRUE(engine::plugin::can_start("example", options));
  EXPECT_EQ(engine::plugin::devices("example", options).size(), 1U);
  expect_right(*engine::plugin::make("example", options));
  expect_right(*engine::plugin::make("example", options));
}

TEST(Plugin, that_is_no_library_says_so) {
  TemporaryFolder folder;
  const auto reason = [&](const std::filesystem::path& file) {
    return engine::plugin::can_start("example", {.libraries = {{"example", file}}}).reason();
  };
  write_file(folder.path() / "text.so", "text");
  EXPECT_NE(reason(folder.path() / "text.so").find("cannot be loaded as an engine"),
            std::string::npos);
  EXPECT_NE(reason(folder.path() / "none.so").find("is not there"), std::string::npos);
  EXPECT_NE(reason(folder.path()).find("folder"), std::string::npos);
}

TEST(Plugin, whose_option_is_not_known_says_so) {
  const FaultyEngine faulty("options");
  const EngineOptions options{.libraries = {{"example", faulty.file()}},
                              .settings = {{"example", {{"speed", "9"}}}}};
  EXPECT_NE(engine::plugin::can_start("example", options).reason().find("it has no option speed"),
            std::string::npos);
}

TEST(Plugin, whose_limit_is_no_number_is_refused) {
  EXPECT_NE(message_of<InputError>([] {
              engine::plugin::make_from(MILLRACE_EXAMPLE_ENGINE,
                                        {.settings = {{"example", {{"time_limit", "soon"}}}}});
            }).find("found 'soon', expected seconds"),
            std::string::npos);
}

TEST(Plugin, that_announces_another_shape_is_refused) {
  const FaultyEngine faulty("wrong_shape");
  const auto engine = engine::plugin::make_from(faulty.file(), {});
  const network::Network network = convolutions();
  EXPECT_NE(message_of<EngineError>([&] {
              engine->prepare(engine::whole_network(network, npu()));
            }).find("as 1x2 of ONNX's type 1"),
            std::string::npos);
}

TEST(Plugin, that_hangs_is_given_up_with_the_devices_name) {
  const FaultyEngine faulty("hang");
  const auto engine = engine::plugin::make_from(
      faulty.file(), {.settings = {{"example", {{"time_limit", "0.2"}}}}});
  const network::Network network = convolutions();
  const auto subnet = engine->prepare(engine::whole_network(network, npu()));
  Random random(3);
  const std::vector<Array> inputs = random_inputs(random, network);
  const auto message = [&] {
    return message_of<EngineError>([&] { run(*subnet, network, inputs); });
  };
  EXPECT_NE(message().find("the plug-in example in run() for npu0 did not come back within 0.2 s"),
            std::string::npos);
  EXPECT_NE(message().find("an earlier call has not come back"), std::string::npos);
}

TEST(Plugin, whose_runs_return_early_is_waited_for) {
  const FaultyEngine faulty("signals");
  expect_right(*engine::plugin::make_from(faulty.file(), {}));
}

TEST(Plugin, whose_event_says_that_the_run_failed_is_believed) {
  const FaultyEngine faulty("failed_event");
  const auto engine = engine::plugin::make_from(faulty.file(), {});
  EXPECT_THROW(expect_right(*engine), EngineError);
}

TEST(Plugin, whose_event_never_comes_is_given_up_with_the_devices_name) {
  const FaultyEngine faulty("no_event");
  const auto engine = engine::plugin::make_from(
      faulty.file(), {.settings = {{"example", {{"time_limit", "0.2"}}}}});
  const std::string text = message_of<EngineError>([&] { expect_right(*engine); });
  EXPECT_NE(text.find("the plug-in example in run() for npu0 was not done within 0.2 s"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace millrace::test
