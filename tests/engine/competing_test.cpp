#include "engine/competing.h"

#include <gtest/gtest.h>

#include "engine/registry.h"
#include "support/needs_engine.h"
#include "support/network_builder.h"

namespace millrace::engine {
namespace {

std::string defaults(const std::string& architecture, const std::vector<EngineHere>& here) {
  return default_engines(architecture, here);
}

TEST(CompetingEngines, onnxruntime_competes_everywhere_but_on_x86) {
  EXPECT_TRUE(competes_on("aarch64", "onnxruntime"));
  EXPECT_TRUE(competes_on("other", "onnxruntime"));
  EXPECT_FALSE(competes_on("x86_64", "onnxruntime"));
}

TEST(CompetingEngines, what_only_compares_or_simulates_never_competes) {
  for (const char* engine : {"reference", "tiled", "simulated", "cuda", "openvino"})
    for (const char* architecture : {"aarch64", "x86_64", "other"})
      EXPECT_FALSE(competes_on(architecture, engine)) << engine << " on " << architecture;
}

TEST(CompetingEngines, the_first_runs_alone_where_no_other_is_found) {
  EXPECT_EQ(defaults("aarch64", {{"onednn"}}), "onednn");
}

TEST(CompetingEngines, one_that_is_found_is_added) {
  EXPECT_EQ(defaults("aarch64", {{"onednn"}, {"onnxruntime"}}), "onednn,onnxruntime");
  EXPECT_EQ(defaults("x86_64", {{"onednn"}, {"onnxruntime"}}), "onednn");
}

TEST(CompetingEngines, a_device_is_left_to_the_engine_that_reaches_it_first) {
  EXPECT_EQ(defaults("x86_64", {{"onednn"}, {"cuda", {"gpu0"}}, {"onnxruntime", {"gpu1", "npu0"}}}),
            "onednn,cuda@gpu0,onnxruntime@gpu1@npu0");
  EXPECT_EQ(defaults("aarch64", {{"onednn"}, {"cuda", {"gpu0"}}, {"onnxruntime"}}),
            "onednn,cuda@gpu0,onnxruntime@cpu");
  EXPECT_EQ(defaults("aarch64", {{"onednn"}, {"cuda", {"gpu0"}}, {"onnxruntime", {"gpu1"}}}),
            "onednn,cuda@gpu0,onnxruntime@cpu@gpu1");
  EXPECT_EQ(defaults("aarch64", {{"onednn"}, {"onnxruntime", {"gpu0"}}}), "onednn,onnxruntime");
}

TEST(CompetingEngines, a_member_on_cpu_takes_part_on_single_and_joined_cores_only) {
  const auto engine = make_engine("tiled,reference@cpu");
  EXPECT_EQ(engine->name(), "tiled,reference@cpu");
  test::NetworkBuilder builder;
  builder.output(builder.unary(network::UnaryKind::relu, builder.input({1, 4})));
  const network::Network network = builder.build();
  const auto ways = [&](const board::Processor& processor) {
    return engine->variants(network, LayerId(0), processor).size();
  };
  const std::size_t on_core = ways({"core0", board::ProcessorKind::cpu, {0}});
  EXPECT_EQ(ways({"cores0-1", board::ProcessorKind::cpu, {0, 1}}), on_core);
  EXPECT_LT(ways({"gpu0", board::ProcessorKind::gpu, {}}), on_core);
  EXPECT_TRUE(processors_named("tiled,reference@cpu").empty());
}

TEST(CompetingEngines, each_of_several_must_be_able_to_start) {
  EngineOptions nowhere;
  nowhere.libraries["onnxruntime"] = "/no/such/libonnxruntime.so";
  EXPECT_TRUE(can_start_all("reference,tiled", nowhere));
  MILLRACE_NEEDS_ENGINE("onnxruntime");
  const Verdict verdict = can_start_all("reference,onnxruntime@cpu", nowhere);
  EXPECT_FALSE(verdict);
  EXPECT_TRUE(verdict.reason().starts_with("onnxruntime cannot start: /no/such/"))
      << verdict.reason();
}

}  // namespace
}  // namespace millrace::engine
