#include "deployment/script.h"

#include <gtest/gtest.h>

#include <map>

#include "base/file.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace millrace::runtime {
namespace {

using deployment::Script;

using namespace std::chrono_literals;

class ScriptTest : public testing::Test {
 protected:
  ScriptTest() {
    system_.levels = 3;
    for (const char* name : {"idle", "patrol", "chase"}) system_.scenarios.push_back({name, {}});
  }
  Script read(const std::string& text) {
    write_file(folder_ / "drive.txt", text);
    return deployment::read_script(folder_ / "drive.txt", system_);
  }
  /// Without the folder.
  std::string refused(const std::string& text) {
    const std::string message = test::message_of([&] { read(text); });
    return message.substr(std::min(message.size(), message.find("drive.txt")));
  }

  system::System system_;
  test::TemporaryFolder folder_;
};

TEST_F(ScriptTest, has_a_step_in_each_line) {
  const Script script =
      read("# a drive\n0 idle 0\n\n1.5 patrol  # as fast as it goes\n2.25 chase 1\n");
  EXPECT_EQ(script, (Script{{0ms, {system::ScenarioId(0), 0}},
                            {1500ms, {system::ScenarioId(1), 2}},
                            {2250ms, {system::ScenarioId(2), 1}}}));
}

TEST_F(ScriptTest, that_cannot_be_followed_is_refused_with_its_line) {
  EXPECT_EQ(refused("0 idle 0\n1 sleep 0\n"),
            "drive.txt:2: found scenario 'sleep', there are idle, patrol, chase");
  EXPECT_EQ(refused("0 idle 3\n"), "drive.txt:1: found level 3, expected 0 to 2");
  EXPECT_EQ(refused("0 idle 1 2\n"), "drive.txt:1: found '2' behind the level, expected nothing");
  EXPECT_EQ(refused("0 idle fast\n"),
            "drive.txt:1: found '0 idle fast', expected a level behind the scenario");
  EXPECT_EQ(refused("soon idle\n"),
            "drive.txt:1: found 'soon idle', expected a time in seconds, a scenario and a level, "
            "such as 2.5 idle 0");
  EXPECT_EQ(refused("-1 idle\n"),
            "drive.txt:1: found '-1 idle', expected a time in seconds, a scenario and a level, "
            "such as 2.5 idle 0");
  EXPECT_EQ(refused("2 idle\n1 idle\n"),
            "drive.txt:2: found 1 s after 2 s, expected times that ascend");
}

TEST_F(ScriptTest, by_chance_follows_the_transitions) {
  const auto id = [](std::size_t scenario) { return system::ScenarioId(scenario); };
  system_.transitions = {{id(0), id(1), 0.25}, {id(0), id(2)}, {id(1), id(0)}, {id(2), id(0)}};
  const Script script = deployment::random_script(system_, {10s, 20'000, 5});
  ASSERT_EQ(script.size(), 20'001u);
  std::map<std::pair<std::size_t, std::size_t>, int> seen;
  for (std::size_t i = 1; i < script.size(); ++i) {
    EXPECT_LE(script[i - 1].at, script[i].at);
    ++seen[{script[i - 1].wanted.scenario.index, script[i].wanted.scenario.index}];
  }
  EXPECT_LE(script.back().at, 10s);
  EXPECT_EQ(seen.size(), 4u);
  EXPECT_NEAR((seen[{0, 1}]), 2500, 200);
  EXPECT_NEAR((seen[{0, 2}]), 7500, 200);
}

TEST_F(ScriptTest, by_chance_is_the_same_with_the_same_seed) {
  EXPECT_EQ(deployment::random_script(system_, {1s, 50, 5}),
            deployment::random_script(system_, {1s, 50, 5}));
  EXPECT_NE(deployment::random_script(system_, {1s, 50, 5}),
            deployment::random_script(system_, {1s, 50, 6}));
}

}  // namespace
}  // namespace millrace::runtime
