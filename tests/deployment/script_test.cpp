#include "deployment/script.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/message_of.h"
#include "support/sample_deployment.h"
#include "support/temporary_folder.h"

namespace millrace::deployment {
namespace {

using namespace millrace::test;

Wanted wanted(std::size_t scenario, std::int64_t level) {
  return {system::ScenarioId(scenario), level};
}

TEST(script, has_a_step_in_each_line) {
  const TemporaryFolder folder;
  write_file(folder / "s", "# a drive\n0 one 0\n\n2.5 both  # the highest level\n2.5 one 1\n");
  EXPECT_EQ(read_script(folder / "s", sample_system()),
            (Script{{Time{}, wanted(0, 0)}, {ms(2500), wanted(1, 1)}, {ms(2500), wanted(0, 1)}}));
}

TEST(script, may_name_scenarios_with_blanks) {
  const TemporaryFolder folder;
  system::System system = sample_system();
  system.scenarios[1].name = "all at once";
  write_file(folder / "s", "1 all at once 0\n2 all at once\n");
  EXPECT_EQ(read_script(folder / "s", system),
            (Script{{ms(1000), wanted(1, 0)}, {ms(2000), wanted(1, 1)}}));
  system.scenarios[0].name = "mode 1";  // not a level
  write_file(folder / "s", "1 mode 1\n2 mode 1 0\n");
  EXPECT_EQ(read_script(folder / "s", system),
            (Script{{ms(1000), wanted(0, 1)}, {ms(2000), wanted(0, 0)}}));
}

TEST(script, adds_deployments_that_lie_beside_it) {
  const TemporaryFolder folder;
  write_file(folder / "s", "0 both 0\n1.5 add more work.json\n2 one\n");
  const std::string file = (folder / "more work.json").string();
  const Script script = read_script(folder / "s", sample_system());
  EXPECT_EQ(
      script,
      (Script{{Time{}, wanted(1, 0)}, {ms(1500), wanted(1, 0), file}, {ms(2000), wanted(0, 1)}}));
  EXPECT_EQ(message_of([&] { refuse_additions(script, "not here"); }), file + ": not here");
  system::System system = sample_system();
  system.scenarios[1].name = "add more work.json";  // a scenario after all
  write_file(folder / "s", "1 add more work.json\n");
  EXPECT_EQ(read_script(folder / "s", system), (Script{{ms(1000), wanted(1, 1)}}));
}

TEST(script, says_what_is_wrong_in_which_line) {
  const TemporaryFolder folder;
  const auto message = [&](const char* content) {
    write_file(folder / "s", content);
    return message_of([&] { read_script(folder / "s", sample_system()); });
  };
  const std::string place = (folder / "s").string();
  EXPECT_EQ(message("0 one 0\nsoon one\n"),
            place +
                ": line 2: found 'soon one', expected a time in seconds, a scenario and a "
                "level, such as 2.5 one 0");
  EXPECT_EQ(message("0 bth 0\n"),
            place +
                ": line 1: the system has no scenario 'bth', only one, both; did you mean "
                "'both'?");
  EXPECT_EQ(message("0 one 2\n"), place + ": line 1: found level 2, the system has 0 to 1");
  EXPECT_EQ(message("3 one\n1 one\n"),
            place + ": line 2: found 1 s after 3 s, expected times that ascend");
  EXPECT_EQ(message("0 add a.json\n"),
            place + ": line 1: found 'add', expected the scenario of the begin before it");
  EXPECT_EQ(message("# nothing\n"), place + ": has no steps, expected one at least");
}

TEST(random_script, follows_the_transitions_and_their_probabilities) {
  const system::System system = sample_system();
  const Script script = random_script(system, {ms(100'000), 10'000, 7});
  ASSERT_EQ(script.size(), 10'001u);
  std::int64_t from_one = 0, to_both = 0;
  for (std::size_t i = 1; i < script.size(); ++i) {
    EXPECT_LE(script[i - 1].at, script[i].at);
    const bool was_one = script[i - 1].wanted.scenario.index == 0;
    EXPECT_TRUE(was_one || script[i].wanted.scenario.index == 0);
    from_one += was_one ? 1 : 0;
    to_both += was_one && script[i].wanted.scenario.index == 1 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(to_both) / static_cast<double>(from_one), 0.5, 0.03);
  EXPECT_EQ(script, random_script(system, {ms(100'000), 10'000, 7}));
}

TEST(most_on_the_way, is_what_the_deadline_allows) {
  system::System system = sample_system();
  EXPECT_EQ(most_on_the_way(system, system::GroupId(0)), 1);
  system.groups[0].deadline = ms(250);  // periods of 200 and 100 ms
  EXPECT_EQ(most_on_the_way(system, system::GroupId(0)), 3);
}

}  // namespace
}  // namespace millrace::deployment
