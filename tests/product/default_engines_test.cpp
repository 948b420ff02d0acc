// Which engines are measured where nobody names them, and what a plan then says.
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "engine/registry.h"
#include "plan/plan_file.h"
#include "present/results/machine.h"
#include "present/results/planning.h"
#include "product/engines.h"
#include "product/loaded.h"
#include "product/planning/make_plan.h"
#include "product/profile.h"
#include "support/needs_engine.h"
#include "support/temporary_folder.h"

namespace millrace::product {
namespace {

/// A machine with ARM cores, as far as the choice of engines goes.
Setup setup_on_arm() {
  Setup setup;
  setup.source.file = MILLRACE_SOURCE_DIR "/models/digits.onnx";
  setup.processors = {"core0"};
  setup.context.architecture = "aarch64";
  setup.context.cache = false;
  return setup;
}

/// Where ONNX Runtime is not found.
Setup without_library(Setup setup) {
  setup.context.libraries["onnxruntime"] = "/no/such/libonnxruntime.so";
  return setup;
}

std::string first_engine() { return engine::engine_names().front(); }

TEST(DefaultEngines, without_the_library_the_first_runs_alone) {
  EXPECT_EQ(engine_of(without_library(setup_on_arm())), first_engine());
}

TEST(DefaultEngines, named_ones_stay_as_they_are) {
  product::Setup setup = without_library(setup_on_arm());
  setup.engine = "reference,tiled";
  EXPECT_EQ(engine_of(setup), "reference,tiled");
}

TEST(DefaultEngines, of_a_profile_are_those_that_it_was_measured_with) {
  const product::Setup setup = without_library(setup_on_arm());
  profile::Profile measured;
  EXPECT_EQ(engine_of(setup, measured), first_engine());
  measured.processors.resize(2);
  for (profile::ProcessorProfile& each : measured.processors) each.engine = "reference,tiled";
  EXPECT_EQ(engine_of(setup, measured), "reference,tiled");
  measured.processors.back().engine = "tiled";
  EXPECT_EQ(engine_of(setup, measured), first_engine());
  for (const char* elsewhere : {"reference,onnxruntime", "none_of_this_build"}) {
    for (profile::ProcessorProfile& each : measured.processors) each.engine = elsewhere;
    EXPECT_EQ(engine_of(setup, measured), first_engine()) << elsewhere;
  }
}

TEST(DefaultEngines, board_says_how_to_get_one_that_would_help) {
  MILLRACE_NEEDS_ENGINE("onnxruntime");
  const board::Board board = board::this_machine();
  const std::string on_arm =
      present::machine_text(board, {}, without_library(setup_on_arm()).context);
  EXPECT_NE(on_arm.find("engines that can make this machine faster"), std::string::npos) << on_arm;
  EXPECT_NE(on_arm.find("pip install onnxruntime"), std::string::npos) << on_arm;
  EXPECT_NE(on_arm.find("apt-get install libonnxruntime"), std::string::npos) << on_arm;
  Context on_x86 = without_library(setup_on_arm()).context;
  on_x86.architecture = "x86_64";
  EXPECT_EQ(present::machine_text(board, {}, on_x86).find("make this machine faster"),
            std::string::npos);
}

PlanRequest request_for(const Setup& setup) {
  PlanRequest request;
  request.setup = setup;
  request.genetic.epochs = 5;
  request.measure_s = 0.01;
  return request;
}

TEST(DefaultEngines, the_same_plan_works_without_the_library) {
  const PlanResult result = make_plan(request_for(without_library(setup_on_arm())));
  EXPECT_EQ(result.engine, first_engine());
  EXPECT_EQ(present::plan_text(result, request_for(setup_on_arm()), "").find("engines:"),
            std::string::npos);
}

TEST(DefaultEngines, a_plan_names_only_the_engines_that_it_uses) {
  MILLRACE_NEEDS_ENGINE("onnxruntime");
  if (const Verdict here = engine::can_start("onnxruntime"); !here) GTEST_SKIP() << here.reason();
  const PlanRequest asked = request_for(setup_on_arm());
  const PlanResult result = make_plan(asked);
  EXPECT_EQ(result.engine, first_engine() + ",onnxruntime");
  const std::string text = present::plan_text(result, asked, "");
  EXPECT_NE(text.find("engines: "), std::string::npos) << text;
  for (const plan::Stage& stage : result.file.plan.stages)
    for (const char* name : {"onednn", "onnxruntime"}) {
      const bool is_named = stage.engine.find(name) != std::string::npos;
      EXPECT_EQ(is_named, text.find(std::string(name) + " runs ") != std::string::npos) << text;
    }
}

TEST(DefaultEngines, a_plan_whose_engine_was_taken_away_says_so) {
  MILLRACE_NEEDS_ENGINE("onnxruntime");
  PlanResult result = make_plan(request_for(without_library(setup_on_arm())));
  for (plan::Stage& stage : result.file.plan.stages) stage.engine = "onnxruntime";
  const test::TemporaryFolder folder;
  const auto path = folder / "digits.plan.json";
  plan::write_plan(path, result.file, result.network);
  try {
    static_cast<void>(load_plan(path.string(), "", {without_library(setup_on_arm()).context, 0}));
    FAIL() << "it ran";
  } catch (const EngineError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("runs layers with an engine that is not here: onnxruntime"),
              std::string::npos)
        << message;
  }
}

}  // namespace
}  // namespace millrace::product
