#include "settings.h"

#include <gtest/gtest.h>

#include <map>
#include <string_view>
#include <vector>

#include "failure.h"
#include "support/message_of.h"

namespace millrace::test {
namespace {

using namespace millrace_rknn;
using namespace std::string_view_literals;

NpuSettings read(const std::map<std::string, std::string>& given) {
  std::vector<MillraceOption> options;
  for (const auto& [key, value] : given) options.push_back({key.c_str(), value.c_str()});
  MillraceOpening opening{};
  opening.options = options.data();
  opening.option_count = options.size();
  return read_settings(opening);
}

std::string message_for(const std::map<std::string, std::string>& given) {
  return message_of<WrongSetting>([&] { read(given); });
}

TEST(RknnSettings, are_read_from_the_options) {
  const NpuSettings settings =
      read({{"platform", "rk3576"}, {"python", "/p"}, {"runtime", "/r.so"}});
  EXPECT_EQ(settings.platform.cores, 2);
  EXPECT_EQ(settings.python, "/p");
  EXPECT_EQ(settings.runtime, "/r.so");
}

TEST(RknnSettings, that_are_wrong_are_answered_with_those_there_are) {
  EXPECT_EQ(message_for({{"platform", "rk1"}}),
            "platform=rk1: there is no such platform; there are rk3588, rk3576, rk3568, rk3566, "
            "rk3562");
  EXPECT_EQ(message_for({{"target", "x"}}),
            "target: there is no such option; there are platform, python, runtime, keep");
  EXPECT_NE(message_for({{"python", ""}}).find("it is empty"), std::string::npos);
}

TEST(RknnSettings, find_the_platform_of_a_board) {
  EXPECT_EQ(platform_in("radxa,rock-5b\0rockchip,rk3588\0"sv)->cores, 3);
  EXPECT_STREQ(platform_in("xunlong,orangepi-5\0rockchip,rk3588s\0"sv)->name, "rk3588");
  EXPECT_STREQ(platform_in("rockchip,rk3568-evb\0rockchip,rk3568\0"sv)->name, "rk3568");
  EXPECT_EQ(platform_in("raspberrypi,5-model-b\0brcm,bcm2712\0"sv), nullptr);
  EXPECT_EQ(platform_in(""), nullptr);
}

}  // namespace
}  // namespace millrace::test
