// The plug-in as Millrace opens it, with stand-ins of the toolkit and the runtime.
#include <gtest/gtest.h>

#include <map>

#include "engine/plugin/plugin.h"
#include "fake_python.h"

namespace millrace::test {
namespace {

using Settings = std::map<std::string, std::string>;

engine::EngineOptions with(const Settings& settings) {
  return {.libraries = {{"rknn", MILLRACE_RKNN_ENGINE}}, .settings = {{"rknn", settings}}};
}

std::string refusal_of(const Settings& settings) {
  return engine::plugin::can_start("rknn", with(settings)).reason();
}

bool has_runtime() {
  return std::filesystem::exists("/usr/lib/librknnrt.so") ||
         std::getenv("MILLRACE_RKNN_RUNTIME") != nullptr;
}

TEST(RknnVersions, neither_toolkit_nor_runtime_is_said) {
  if (has_runtime()) GTEST_SKIP() << "Rockchip's runtime is here";
  const std::string text = refusal_of({{"python", "/no/python3"}});
  EXPECT_TRUE(text.starts_with("neither Rockchip's toolkit nor its runtime is here: /no/python3 "
                               "cannot be started: No such file or directory, and librknnrt.so is "
                               "in none of the usual places; to convert,"))
      << text;
}

TEST(RknnVersions, that_differ_are_both_said) {
  const FakePython python("2.5.0");
  const std::string text =
      refusal_of({{"python", python.file()}, {"runtime", MILLRACE_OTHER_STAND_IN}});
  EXPECT_EQ(text, "rknn-toolkit2 of " + python.file() + " is version 2.5.0, but " +
                      MILLRACE_OTHER_STAND_IN +
                      " is version 2.3.2; install the same version of both");
}

TEST(RknnVersions, that_are_too_old_are_said_with_the_expected) {
  const FakePython old("1.7.5");
  EXPECT_NE(refusal_of({{"python", "/no/python3"}, {"runtime", MILLRACE_OLD_STAND_IN}})
                .find("it is version 1.6.0, expected a version 2"),
            std::string::npos);
  if (has_runtime()) return;
  EXPECT_NE(refusal_of({{"python", old.file()}})
                .find("has rknn-toolkit2 1.7.5, expected a version 2"),
            std::string::npos);
}

TEST(RknnVersions, a_runtime_that_is_none_is_said) {
  EXPECT_NE(refusal_of({{"runtime", "/no/librknnrt.so"}})
                .find("/no/librknnrt.so cannot be used as Rockchip's runtime: it is no file"),
            std::string::npos);
}

TEST(RknnVersions, the_toolkit_alone_compiles_for_a_board_elsewhere) {
  if (has_runtime()) GTEST_SKIP() << "Rockchip's runtime is here";
  const FakePython python("2.5.0");
  const auto options = with({{"python", python.file()}});
  EXPECT_TRUE(engine::plugin::devices("rknn", options).empty());
  const auto engine = engine::plugin::make("rknn", options);
  EXPECT_TRUE(engine->traits({"npu2", board::ProcessorKind::npu, {}}));
  EXPECT_FALSE(engine->traits({"npu3", board::ProcessorKind::npu, {}}));
}

TEST(RknnVersions, the_runtime_alone_reaches_the_cores_of_the_npu) {
  const Settings settings{{"python", "/no/python3"}, {"runtime", MILLRACE_STAND_IN}};
  EXPECT_EQ(engine::plugin::devices("rknn", with(settings)).size(), 3U);
  Settings other = settings;
  other["platform"] = "rk3568";
  const auto devices = engine::plugin::devices("rknn", with(other));
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0].device.model, "RK3568 NPU");
  EXPECT_EQ(devices[0].driver, "RKNN 2.5.0");
}

}  // namespace
}  // namespace millrace::test
