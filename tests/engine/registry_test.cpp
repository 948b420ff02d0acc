#include "engine/registry.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "support/network_builder.h"

namespace millrace::engine {
namespace {

TEST(Registry, every_engine_has_the_name_it_is_listed_under) {
  for (const std::string& name : engine_names()) {
    if (!can_start(name)) continue;
    const std::unique_ptr<Engine> engine = make_engine(name);
    ASSERT_NE(engine, nullptr);
    EXPECT_EQ(engine->name(), name);
    EXPECT_FALSE(engine->version().empty());
  }
}

TEST(Registry, an_engine_that_cannot_start_says_why) {
  for (const std::string& name : engine_names()) {
    EngineOptions options;
    options.libraries[name] = "/no/such/library.so";
    const Verdict verdict = can_start(name, options);
    if (verdict) continue;  // it loads none
    EXPECT_NE(verdict.reason().find("/no/such/library.so"), std::string::npos) << verdict.reason();
    EXPECT_THROW(make_engine(name, options), EngineError);
  }
}

TEST(Registry, names_are_unique_and_the_engines_without_dependencies_are_there) {
  std::vector<std::string> names = engine_names();
  EXPECT_EQ(std::count(names.begin(), names.end(), "reference"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "simulated"), 1);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(Registry, an_absent_engine_is_not_listed_and_says_why) {
  const std::vector<std::string> names = engine_names();
  for (const AbsentEngine& absent : absent_engines()) {
    EXPECT_EQ(std::count(names.begin(), names.end(), absent.name), 0);
    EXPECT_FALSE(absent.reason.empty());
  }
}

TEST(Registry, an_unknown_name_is_answered_with_those_there_are_and_the_nearest) {
  try {
    make_engine("refrence");
    FAIL() << "no error";
  } catch (const InputError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("there is no engine 'refrence'"), std::string::npos) << text;
    EXPECT_NE(text.find("simulated"), std::string::npos) << text;
    EXPECT_NE(text.find("did you mean reference?"), std::string::npos) << text;
  }
}

// The plain loops run anywhere; the simulated engine, which runs everything, computes nothing.
TEST(Registry, finds_an_engine_that_computes_layers_on_a_processor) {
  test::NetworkBuilder builder;
  builder.output(builder.unary(network::UnaryKind::relu, builder.input({4})));
  const network::Network network = builder.build();
  const std::vector<LayerId> layers{LayerId(0)};
  EXPECT_EQ(engine_for(network, layers, {"core0", board::ProcessorKind::cpu, {0}}),
            engine_names().front());
  EXPECT_EQ(engine_for(network, layers, {"gpu", board::ProcessorKind::gpu, {}}), "reference");
}

TEST(Registry, joins_engines_that_compete_or_take_part_on_one_processor) {
  const std::unique_ptr<Engine> engine = make_engine("reference,simulated@gpu0");
  EXPECT_EQ(engine->name(), "reference,simulated@gpu0");
  test::NetworkBuilder builder;
  builder.output(builder.unary(network::UnaryKind::relu, builder.input({4})));
  const network::Network network = builder.build();
  const board::Processor core{"core0", board::ProcessorKind::cpu, {0}};
  const board::Processor gpu{"gpu0", board::ProcessorKind::gpu, {}};
  EXPECT_EQ(engine->variants(network, LayerId(0), core).size(), 1U);
  const std::vector<board::Variant> on_gpu = engine->variants(network, LayerId(0), gpu);
  ASSERT_EQ(on_gpu.size(), 2U);
  EXPECT_EQ(board::engine_of(engine->name(), on_gpu[0]), "reference");
  EXPECT_EQ(board::engine_of(engine->name(), on_gpu[1]), "simulated");
  for (const char* wrong :
       {"reference,refrence", "reference,", "reference,reference", "reference@", ",reference", ""})
    EXPECT_THROW(make_engine(wrong), InputError) << wrong;
  EXPECT_EQ(processors_named("reference,simulated@gpu0@gpu1"),
            (std::vector<std::string>{"gpu0", "gpu1"}));
  EXPECT_TRUE(reached_devices("reference,simulated@gpu0", {}).empty());
}

}  // namespace
}  // namespace millrace::engine
