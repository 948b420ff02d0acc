#include "system/system_file.h"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/yaml.h"
#include "formats/fixed_inputs.h"
#include "support/message_of.h"
#include "support/schema.h"

namespace millrace::system {
namespace {

const char* const robot = R"(format: 1
name: patrol robot
board: jetson-agx-xavier
levels: 4
overload: stretch
overhead_ms: 0.1
groups:
  - {name: front, model: yolov2, size: 416, precision: [f32, f16], rate_fps: [10, 30], priority: 4}
  - {name: left, model: nets/left.cfg, weights: left.weights, period_ms: 66, deadline_ms: 50.5,
     preprocess_ms: 2, postprocess_ms: 1.25}
  - {name: rear, application: apps/rear.yaml, rate_fps: 5, priority: -1}
  - {name: open, model: open.onnx, shapes: ["x=1x3x8x8"], fix: ["n=1,2"], rate_fps: 5}
scenarios:
  - {name: idle, groups: [front]}
  - {name: patrol, groups: [left, front]}
transitions:
  - {from: idle, to: patrol, probability: 0.3}
  - {from: idle, to: idle, probability: 0.7}
  - {from: patrol, to: idle}
)";

/// Without what says where it stood.
System without_places(System system) {
  system.file.clear();
  system.board_place.clear();
  for (Group& group : system.groups) group.place.clear();
  for (Scenario& scenario : system.scenarios) scenario.place.clear();
  for (Transition& transition : system.transitions) transition.place.clear();
  return system;
}

TEST(system_file, reads_every_key) {
  const System system = parse_system(robot, "f/robot.yaml");
  EXPECT_EQ(system.name, "patrol robot");
  EXPECT_EQ(system.board, "jetson-agx-xavier");
  EXPECT_EQ(system.levels, 4);
  EXPECT_EQ(system.overload, Overload::stretch);
  EXPECT_EQ(system.overhead, Time(100'000));
  ASSERT_EQ(system.groups.size(), 4u);
  const Group& front = system.groups[0];
  EXPECT_EQ(front.model.file, "yolov2");
  EXPECT_EQ(front.model.size, 416);
  EXPECT_EQ(front.precisions, (std::vector{board::Precision::f32, board::Precision::f16}));
  EXPECT_EQ(front.rates, (Rates{10, 30}));
  EXPECT_EQ(front.priority, 4);
  const Group& left = system.groups[1];
  EXPECT_EQ(left.model.file, "f/nets/left.cfg");
  EXPECT_EQ(left.model.weights, "f/left.weights");
  EXPECT_EQ(period_of(system, GroupId(1), 0), Time(66'000'000));
  EXPECT_EQ(left.deadline, Time(50'500'000));
  EXPECT_EQ(left.preprocess, Time(2'000'000));
  EXPECT_EQ(left.postprocess, Time(1'250'000));
  EXPECT_EQ(system.groups[2].application, "f/apps/rear.yaml");
  EXPECT_EQ(system.groups[2].priority, -1);
  EXPECT_EQ(system.groups[3].model.shapes.at("x"), (network::Shape{1, 3, 8, 8}));
  EXPECT_EQ(formats::fixed_text(system.groups[3].model), "n=1,2");
  EXPECT_EQ(system.scenarios[1].groups, (std::vector{GroupId(0), GroupId(1)}));
  EXPECT_EQ(system.transitions[0].to, ScenarioId(1));
  EXPECT_EQ(system.transitions[0].probability, 0.3);
  EXPECT_FALSE(system.transitions[2].probability);
}

TEST(system_file, without_scenarios_all_groups_are_active) {
  const System system =
      parse_system("format: 1\ngroups: [{name: a, model: resnet18, rate_fps: 3}]\n", "s.yaml");
  ASSERT_EQ(system.scenarios.size(), 1u);
  EXPECT_EQ(system.scenarios[0].groups, std::vector{GroupId(0)});
  EXPECT_EQ(system.name, "s");
  EXPECT_EQ(system.levels, 1);
}

TEST(system_file, is_the_same_inside_another_file) {
  const System system = parse_system(robot, "robot.yaml");
  const nlohmann::json json = to_json(system, "");
  EXPECT_EQ(without_places(system_in(json, "d.json")), without_places(system));
}

TEST(system_file, is_described_by_its_schema) {
  const nlohmann::json schema =
      read_json(std::filesystem::path(MILLRACE_SOURCE_DIR) / "schemas/system.schema.json");
  EXPECT_EQ(test::violations(test::to_json(parse_yaml(robot, "robot.yaml")), schema),
            std::vector<std::string>{});
  const nlohmann::json json = to_json(parse_system(robot, "robot.yaml"), "");
  EXPECT_EQ(test::violations(json, schema), std::vector<std::string>{});
}

TEST(system_file, has_the_cost_of_a_release) {
  const std::string text = std::string(robot) + "release_cost_ms: 0.02\n";
  const System system = parse_system(text, "robot.yaml");
  EXPECT_EQ(system.release_cost, Time(20'000));
  const nlohmann::json json = to_json(system, "");
  EXPECT_EQ(without_places(system_in(json, "d.json")), without_places(system));
  const nlohmann::json schema =
      read_json(std::filesystem::path(MILLRACE_SOURCE_DIR) / "schemas/system.schema.json");
  EXPECT_EQ(test::violations(json, schema), std::vector<std::string>{});
  EXPECT_EQ(test::message_of(
                [&] { parse_system(std::string(robot) + "release_cost_ms: -1\n", "r.yaml"); }),
            "r.yaml: line 20: release_cost_ms: found -1, expected a number from 0, at most "
            "1000000000");
}

const char* const random_text = R"(format: 1
groups: [{name: front, model: yolov2, rate_fps: 10}]
random_graphs:
  {count: 3, rate_fps: [10, 20], tasks: 8, worst_us: {cpu: [100, 500], gpu: [10, 20.5]}, seed: 2}
scenarios: [{name: all, groups: [front, graph0, graph2]}]
)";

TEST(system_file, random_graphs_are_groups_beside_the_others) {
  const System system = parse_system(random_text, "r.yaml");
  ASSERT_EQ(system.groups.size(), 4u);
  EXPECT_EQ(system.groups[3].name, "graph2");
  EXPECT_EQ(system.groups[3].rates, (Rates{10, 20}));
  EXPECT_EQ(system.scenarios[0].groups, (std::vector{GroupId(0), GroupId(1), GroupId(3)}));
  EXPECT_NE(system.groups[2].graph, system.groups[3].graph);
  for (std::size_t g = 1; g < 4; ++g) {
    ASSERT_EQ(system.groups[g].graph.tasks.size(), 8u);
    for (const GraphTask& task : system.groups[g].graph.tasks)
      for (const TimesOn& on : task.on) {
        const bool is_cpu = on.processor == "cpu";
        EXPECT_GE(on.worst, Time(is_cpu ? 100'000 : 10'000));
        EXPECT_LE(on.worst, Time(is_cpu ? 500'000 : 20'500));
      }
  }
  EXPECT_EQ(without_places(parse_system(random_text, "r.yaml")), without_places(system));
  const nlohmann::json json = to_json(system, "");
  EXPECT_EQ(nlohmann::json(to_json(system_in(json, "d.json"), "")), json);
  const nlohmann::json schema =
      read_json(std::filesystem::path(MILLRACE_SOURCE_DIR) / "schemas/system.schema.json");
  EXPECT_EQ(test::violations(test::to_json(parse_yaml(random_text, "r.yaml")), schema),
            std::vector<std::string>{});
}

TEST(system_file, random_graphs_need_no_other_groups_and_name_what_is_wrong) {
  const std::string alone = "format: 1\nrandom_graphs: {count: 2, period_ms: 50, worst_us: ";
  EXPECT_EQ(parse_system(alone + "{cpu: [1, 2]}}\n", "r.yaml").groups.size(), 2u);
  const auto refusal = [&](const std::string& worst) {
    return test::message_of([&] { parse_system(alone + worst + "}\n", "r.yaml"); });
  };
  EXPECT_EQ(refusal("{cpu: [2, 1]}"),
            "r.yaml: line 2: random_graphs.worst_us.cpu: the least is above the most; swap the two "
            "numbers");
  EXPECT_EQ(refusal("{cpu: [2]}"),
            "r.yaml: line 2: random_graphs.worst_us.cpu: found 1 numbers, expected two, the least "
            "and the most");
  EXPECT_EQ(refusal("{}"),
            "r.yaml: line 2: random_graphs.worst_us: found none, expected such as cpu: [100, 500]");
}

struct BadInput {
  const char *from, *to, *message;
};

constexpr std::array bad_inputs{
    BadInput{"format: 1", "format: 2", "r.yaml: line 1: format: found 2, expected 1"},
    BadInput{"rate_fps: [10, 30]", "rate: [10, 30]",
             "r.yaml: line 8: groups[0].rate: unknown key; a name says its unit: did you mean "
             "'rate_fps'?"},
    BadInput{"groups: [left, front]", "groups: [left, frnt]",
             "r.yaml: line 15: scenarios[1].groups[1]: 'frnt' is no group of this file, which has "
             "front, left, rear, open; did you mean 'front'?"},
    BadInput{"groups: [left, front]", "groups: [left, left]",
             "r.yaml: line 15: scenarios[1].groups[1]: 'left' is given twice; give it once"},
    BadInput{"from: patrol", "from: patrl",
             "r.yaml: line 19: transitions[2].from: 'patrl' is no scenario of this file, which has "
             "idle, patrol; did you mean 'patrol'?"},
    BadInput{"period_ms: 66", "period_ms: 66, rate_fps: 15",
             "r.yaml: line 9: groups[1]: has a 'rate_fps' and a 'period_ms'; give one of the two"},
    BadInput{"period_ms: 66, ", "",
             "r.yaml: line 9: groups[1]: has neither 'rate_fps' nor 'period_ms'; give one of the "
             "two"},
    BadInput{"model: yolov2", "model: yolov2, application: a.yaml",
             "r.yaml: line 8: groups[0].model: found beside 'application', which says it; remove "
             "one of the two"},
    BadInput{"model: yolov2, ", "",
             "r.yaml: line 8: groups[0]: has no 'model', 'application', 'tasks' or "
             "'graph'; give one of them"},
    BadInput{"rate_fps: [10, 30]", "rate_fps: [30, 10]",
             "r.yaml: line 8: groups[0]: group 'front' has rates from 30 to 10 fps, expected them "
             "ascending, from 0.000001 to 1000000"},
    BadInput{"rate_fps: [10, 30]", "rate_fps: [10]",
             "r.yaml: line 8: groups[0].rate_fps: found 1 numbers, expected one rate or two, the "
             "lowest and the highest"},
    BadInput{"rate_fps: [10, 30]", "rate_fps: 0",
             "r.yaml: line 8: groups[0].rate_fps: found 0, expected a number from 1e-06, at most "
             "1000000"},
    BadInput{"deadline_ms: 50.5", "deadline_ms: 0",
             "r.yaml: line 9: groups[1].deadline_ms: found 0, expected a number above 0, at most "
             "1000000000"},
    BadInput{"period_ms: 66", "period_ms: 66, priority: 4",
             "r.yaml: line 9: groups[1]: groups 'front' and 'left' have priority 4 and run "
             "together in scenario 'patrol'; give one of them another"},
    BadInput{"name: left", "name: front",
             "r.yaml: line 9: groups[1].name: a second group 'front'; each needs a name of its "
             "own"},
    BadInput{"name: patrol, groups", "name: idle, groups",
             "r.yaml: line 15: scenarios[1].name: a second scenario 'idle'; each needs a name of "
             "its own"},
    BadInput{"probability: 0.7", "probability: 0.6",
             "r.yaml: line 18: transitions[1]: the probabilities of what follows scenario 'idle' "
             "add up to 0.9, expected 1"},
    BadInput{"probability: 0.7", "probability: 1.7",
             "r.yaml: line 18: transitions[1].probability: found 1.7, expected a number from 0, at "
             "most 1"},
    BadInput{"from: idle, to: patrol, probability: 0.3", "from: patrol, to: patrol",
             "r.yaml: line 18: transitions[1]: the probabilities of what follows scenario 'idle' "
             "add up to 0.7, expected 1"},
    BadInput{"from: idle, to: idle", "from: idle, to: patrol",
             "r.yaml: line 18: transitions[1]: found a second transition from 'idle' to 'patrol'; "
             "give one of the two"},
    BadInput{"groups: [front]}", "groups: [front], share: 0.5}",
             "r.yaml: the shares of the scenarios add up to 0.5, expected 1"},
    BadInput{"overload: stretch", "overload: skp",
             "r.yaml: line 5: overload: found 'skp', expected one of skip, stretch, lower_rate; "
             "did you mean 'skip'?"},
    BadInput{"levels: 4", "levels: 0",
             "r.yaml: line 4: levels: found 0, expected an integer from 1 to 1000"},
    BadInput{"precision: [f32, f16]", "precision: [f32, f32]",
             "r.yaml: line 8: groups[0].precision[1]: 'f32' is given twice; give it once"},
};

TEST(system_file, says_what_is_wrong_where_and_what_to_do) {
  for (const auto& [from, to, expected] : bad_inputs) {
    std::string text = robot;
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, std::string(from).size(), to);
    EXPECT_EQ(test::message_of([&] { parse_system(text, "r.yaml"); }), expected);
  }
}

TEST(system_file, names_a_scenario_that_no_transition_reaches) {
  const std::string text = R"(format: 1
groups: [{name: a, model: resnet18, rate_fps: 3}]
scenarios: [{name: x, groups: [a]}, {name: y, groups: [a]}]
transitions: [{from: x, to: x}]
)";
  EXPECT_EQ(test::message_of([&] { parse_system(text, "r.yaml"); }),
            "r.yaml: line 3: scenarios[1]: no transitions lead from the first scenario, 'x', to "
            "'y'; add one, or leave the scenario out");
}

/// The cases in tests/cases/deadlines.case run it as JSON.
TEST(system_file, is_in_the_documentation_as_it_is_tested) {
  const std::filesystem::path project = MILLRACE_SOURCE_DIR;
  const std::string text = read_file(project / "docs/deadlines.md");
  const std::size_t begin = text.find("```yaml\n") + 8;
  std::string example = text.substr(begin, text.find("```", begin) - begin);
  EXPECT_EQ(example, read_file(project / "examples/robot/robot.yaml"));
  const std::string folder = "../../models/";
  for (std::size_t at = example.find(folder); at != std::string::npos; at = example.find(folder))
    example.erase(at, folder.size());
  const System documented = parse_system(example, "robot.yaml");
  EXPECT_EQ(without_places(documented),
            without_places(
                parse_system(read_file(project / "tests/support/robot_system.json"), "s.json")));
}

}  // namespace
}  // namespace millrace::system
