#include "system/task_graph.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "dataflow/analysis.h"
#include "support/message_of.h"
#include "system/random_graph.h"
#include "system/system_file.h"
#include "system/task_edges.h"

namespace millrace::system {
namespace {

std::string group(const std::string& rest, const std::string& first = "model: yolov2, ") {
  return "format: 1\ngroups:\n  - {name: g, " + first + "rate_fps: 10, " + rest + "}\n";
}

const char* const two_tasks =
    "tasks: [{name: a, on: {cpu: 3, gpu: {worst_ms: 2, average_ms: 1.5, best_ms: 1}}}, "
    "{name: b, on: {gpu: 1}, code: {plugin: t.so, function: f}}]";

TEST(task_graph, reads_tasks_and_edges_around_a_network) {
  const System system =
      parse_system(group(std::string(two_tasks) +
                         ", edges: [{from: a, to: network, produces: 1, consumes: 2, bytes: 12}, "
                         "{from: network, to: b, produces: 3, consumes: 1, tokens: 1}]"),
                   "f/s.yaml");
  const TaskGraph& graph = system.groups[0].graph;
  ASSERT_EQ(graph.tasks.size(), 2u);
  EXPECT_EQ(graph.tasks[0].on[0], (TimesOn{"cpu", Time(3'000'000), Time(3'000'000), Time{}}));
  EXPECT_EQ(graph.tasks[0].on[1],
            (TimesOn{"gpu", Time(2'000'000), Time(1'500'000), Time(1'000'000)}));
  EXPECT_EQ(graph.tasks[1].code, (TaskCode{"f/t.so", "", "f"}));
  ASSERT_EQ(graph.edges.size(), 2u);
  EXPECT_EQ(graph.edges[0].to, graph.network());
  EXPECT_EQ(graph.edges[0].consumes, 2);
  EXPECT_EQ(graph.edges[1].tokens, 1);
  EXPECT_EQ(firings(graph, true), (std::vector<std::int64_t>{2, 3, 1}));
}

TEST(task_graph, is_written_and_read_back_the_same) {
  const System system = parse_system(
      group(std::string(two_tasks) + ", edges: [{from: a, to: b, consumes: 2, tokens: 4}]"), "s");
  const System again = system_in(to_json(system, ""), "s");
  ASSERT_EQ(again.groups[0].graph.tasks.size(), 2u);
  for (std::size_t t = 0; t < 2; ++t)
    EXPECT_EQ(again.groups[0].graph.tasks[t].on, system.groups[0].graph.tasks[t].on);
  EXPECT_EQ(again.groups[0].graph.tasks[1].code, system.groups[0].graph.tasks[1].code);
  EXPECT_EQ(again.groups[0].graph.edges[0].tokens, 4);
  EXPECT_EQ(again.groups[0].graph.edges[0].consumes, 2);
}

TEST(task_graph, a_task_may_run_a_network) {
  const System system = parse_system(
      group("tasks: [{name: a, on: {cpu: 3}}, {name: n, on: [cpu], network: {model: n.onnx, "
            "shapes: [x=1x3x8x8], batch: 4}}], edges: [{from: a, to: n, produces: 8, consumes: "
            "4}, {from: n, to: a, produces: 4, consumes: 8, tokens: 8}]",
            ""),
      "f/s.yaml");
  const GraphTask& task = system.groups[0].graph.tasks[1];
  ASSERT_TRUE(task.network);
  EXPECT_EQ(task.network->model.shapes.at("x"), (network::Shape{1, 3, 8, 8}));
  EXPECT_EQ(task.network->batch, 4);
  EXPECT_EQ(firings(system.groups[0].graph, false), (std::vector<std::int64_t>{1, 2}));
  const System again = system_in(to_json(system, ""), "s");
  EXPECT_EQ(again.groups[0].graph.tasks[1].network->model, task.network->model);
  EXPECT_EQ(again.groups[0].graph.tasks[1].network->batch, 4);
}

TEST(task_graph, tokens_and_outputs_and_parameters_are_read_and_written) {
  const std::string text =
      "tasks: [{name: a, on: {cpu: 3}, code: {source: t.cpp, plugin: t.so, function: f, "
      "parameters: {gain: 2, name: left}}}, {name: b, on: {cpu: 1}}, {name: c, on: {cpu: 1}}], "
      "edges: [{from: a, to: b, type: uint8, shape: [4, 6]}, {from: a, to: c, output: 0}, "
      "{from: a, to: c, type: float32}]";
  const System system = parse_system(group(text, ""), "s");
  const TaskGraph& graph = system.groups[0].graph;
  EXPECT_EQ(graph.tasks[0].code.parameters.at("gain"), "2");
  EXPECT_EQ(graph.tasks[0].code.parameters.at("name"), "left");
  EXPECT_EQ(graph.edges[0].token, (TokenType{network::DataType::uint8, {4, 6}}));
  EXPECT_EQ(graph.edges[0].bytes, 24);
  EXPECT_EQ(graph.edges[2].bytes, 4);
  EXPECT_EQ(outputs_of_edges(graph), (std::vector<std::size_t>{0, 0, 1}));
  const TaskGraph again = system_in(to_json(system, ""), "s").groups[0].graph;
  EXPECT_EQ(again.tasks[0].code, graph.tasks[0].code);
  for (std::size_t e = 0; e < 3; ++e) {
    EXPECT_EQ(again.edges[e].token, graph.edges[e].token);
    EXPECT_EQ(again.edges[e].output, graph.edges[e].output);
  }
}

TEST(task_graph, smallest_spaces_cannot_deadlock_and_smaller_ones_can) {
  const System system = parse_system(
      group(std::string(two_tasks) + ", edges: [{from: a, to: b, produces: 2, consumes: 3}]", ""),
      "s");
  const TaskGraph& graph = system.groups[0].graph;
  EXPECT_EQ(spaces_without_waits(graph, false, 2), (std::vector<std::int64_t>{12}));
  EXPECT_EQ(smallest_spaces(graph, false), (std::vector<std::int64_t>{4}));
}

TEST(task_graph, jobs_of_an_iteration_wait_for_the_firings_that_they_need) {
  const System system = parse_system(
      group(std::string(two_tasks) + ", edges: [{from: a, to: b, produces: 2, consumes: 3}]", ""),
      "s");
  const std::vector<GraphJob> jobs = unfolded(system.groups[0].graph, false);
  ASSERT_EQ(jobs.size(), 5u);  // a a b a b, in some order that keeps what waits
  std::vector<std::vector<std::pair<std::size_t, std::int64_t>>> after;
  for (const GraphJob& job : jobs) {
    auto& waits = after.emplace_back();
    for (const std::size_t before : job.after) {
      ASSERT_LT(before, after.size() - 1);
      waits.emplace_back(jobs[before].task, jobs[before].firing);
    }
    std::ranges::sort(waits);
    using Waits = std::vector<std::pair<std::size_t, std::int64_t>>;
    if (job.task == 1) {
      EXPECT_EQ(waits, job.firing == 0 ? (Waits{{0, 1}}) : (Waits{{0, 2}, {1, 0}}));
    }
  }
}

TEST(task_graph, an_sdf3_file_gives_times_by_type_of_processor) {
  const std::filesystem::path folder = testing::TempDir();
  std::string file =
      R"(<sdf3 type="sdf"><applicationGraph name="g"><sdf name="g">
<actor name="x" type="x"><port name="o" type="out" rate="2"/></actor>
<actor name="y" type="y"><port name="i" type="in" rate="1"/></actor>
<channel name="c" srcActor="x" srcPort="o" dstActor="y" dstPort="i"/></sdf><sdfProperties>
<actorProperties actor="x">
<processor type="cpu" default="true"><executionTime time="100.5"/></processor>
<processor type="gpu"><executionTime time="20"/></processor></actorProperties>
<actorProperties actor="y">
<processor type="gpu" default="true"><executionTime time="7"/></processor></actorProperties>
</sdfProperties></applicationGraph></sdf3>)";
  write_file(folder / "task_graph.xml", file);
  const System system =
      parse_system(group("graph: task_graph.xml", ""), (folder / "s.yaml").string());
  const TaskGraph& graph = system.groups[0].graph;
  ASSERT_EQ(graph.tasks.size(), 2u);
  EXPECT_EQ(graph.tasks[0].on[0].processor, "cpu");
  EXPECT_EQ(graph.tasks[0].on[0].worst, Time(100'500));
  EXPECT_EQ(graph.tasks[0].on[1].worst, Time(20'000));
  EXPECT_EQ(graph.tasks[1].on[0].worst, Time(7'000));
  EXPECT_EQ(firings(graph, false), (std::vector<std::int64_t>{1, 2}));
  file.replace(file.find("100.5"), 5, "9000000000000000000");
  write_file(folder / "task_graph.xml", file);
  const std::string message = test::message_of(
      [&] { parse_system(group("graph: task_graph.xml", ""), (folder / "s.yaml").string()); });
  EXPECT_NE(message.find("takes 9e+18 us on 'cpu', expected at most 1e+12"), std::string::npos)
      << message;
}

/// a makes two for b, b hands one on to itself that has a size, and a says that it fires one by
/// one.
const char* const sdf3_with_circles =
    R"(<sdf3 type="sdf"><applicationGraph name="g"><sdf name="g">
<actor name="a" type="x"><port name="o" type="out" rate="2"/><port name="s" type="out" rate="1"/>
<port name="t" type="in" rate="1"/></actor>
<actor name="b" type="y"><port name="i" type="in" rate="1"/><port name="s" type="out" rate="1"/>
<port name="t" type="in" rate="1"/></actor>
<channel name="c" srcActor="a" srcPort="o" dstActor="b" dstPort="i"/>
<channel name="d" srcActor="a" srcPort="s" dstActor="a" dstPort="t" initialTokens="1"/>
<channel name="e" srcActor="b" srcPort="s" dstActor="b" dstPort="t" initialTokens="1"/>
</sdf><sdfProperties>
<actorProperties actor="a">
<processor type="p1" default="true"><executionTime time="100"/></processor></actorProperties>
<actorProperties actor="b">
<processor type="p1" default="true"><executionTime time="0"/></processor></actorProperties>
<channelProperties channel="e"><tokenSize sz="32"/></channelProperties>
</sdfProperties></applicationGraph></sdf3>)";

TEST(task_graph, actors_of_an_sdf3_file_may_have_code) {
  const std::filesystem::path folder = testing::TempDir();
  write_file(folder / "circles.xml", sdf3_with_circles);
  const auto read = [&](const std::string& rest) {
    return parse_system(group("graph: circles.xml" + rest, ""), (folder / "s.yaml").string())
        .groups[0]
        .graph;
  };
  const TaskGraph graph = read(
      ", processors: {p1: cpu}, code: {a: {plugin: t.so, function: f}, b: {source: t.cpp, "
      "function: g, parameters: {gain: 2}}}");
  ASSERT_EQ(graph.tasks.size(), 2u);
  EXPECT_EQ(graph.tasks[0].code, (TaskCode{(folder / "t.so").string(), "", "f"}));
  EXPECT_EQ(graph.tasks[1].code.function, "g");
  EXPECT_EQ(graph.tasks[1].code.parameters.at("gain"), "2");
  EXPECT_EQ(graph.tasks[0].on, (std::vector<TimesOn>{{"cpu", Time(100'000), Time(100'000), {}}}));
  EXPECT_FALSE(graph.tasks[1].on[0].is_known());  // to be measured
  ASSERT_EQ(graph.edges.size(), 2u);              // that firings come one by one needs no edge
  EXPECT_EQ(graph.edges[1].bytes, 4);
  const auto refusal = [&](const std::string& rest) {
    return test::message_of([&] { read(rest); });
  };
  const auto has = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  const std::string f = "{plugin: t.so, function: f}";
  has(refusal(", code: {a: " + f + "}"), "has no function for the actor 'b'");
  has(refusal(", code: {a: " + f + ", b: " + f + ", bb: " + f + "}"), "there is no actor 'bb'");
  has(refusal(", code: {a: " + f + ", b: {function: f}}"), "neither 'plugin' nor 'source'");
  has(refusal(", processors: {p2: cpu}"), "there is no type of processor 'p2'");
  has(refusal(""), "task 'b' has no time on 'p1', and no 'code'");
  has(test::message_of([&] { parse_system(group("code: {}", "model: yolov2, "), "s.yaml"); }),
      "for the actors of a 'graph'");
}

TEST(task_graph, bad_graphs_are_refused_with_their_place) {
  const auto refusal = [](const std::string& rest, const std::string& first) {
    return test::message_of([&] { parse_system(group(rest, first), "s.yaml"); });
  };
  const std::string model = "model: yolov2, ", tasks = std::string(two_tasks) + ", edges: ";
  const auto has = [&](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  has(refusal(tasks + "[{from: a, to: b}, {from: a, to: b, produces: 2}]", ""), "inconsistent");
  has(refusal(tasks + "[{from: a, to: b}, {from: b, to: a}]", ""), "without enough tokens");
  has(refusal(tasks + "[{from: a, to: c}]", ""), "no task 'c'");
  has(refusal(tasks + "[{from: a, to: network}]", ""), "no network");
  has(refusal(tasks + "[{from: a, to: network, produces: 2}]", model), "2 times in an iteration");
  has(refusal("tasks: [{name: a}]", ""), "no processor");
  has(refusal("tasks: [{name: a, on: {}}]", ""), "no processor");
  has(refusal("tasks: [{name: a, on: {cpu: 0}}]", ""), "tasks[0].on.cpu");
  has(refusal("tasks: [{name: network, on: {cpu: 1}}]", ""), "stands for a part");
  has(refusal("tasks: [{name: a, on: {cpu: {worst_ms: 1, best_ms: 2}}}]", ""), "ascending");
  has(refusal("tasks: [{name: a, on: {cpu: 1}, code: {function: f}}]", ""), "'plugin' nor");
  has(refusal("tasks: [{name: a, on: [cpu]}]", ""), "no time on 'cpu', and no 'code'");
  has(refusal("tasks: [{name: a, on: [cpu, cpu]}]", ""), "given twice");
  has(refusal("tasks: [{name: a, on: {cpu: measure}}]", ""), "tasks[0].on.cpu");
  has(refusal("edges: [{from: a, to: b}]", model), "without 'tasks'");
  has(refusal("graph: g.xml, tasks: []", ""), "beside 'graph'");
  has(refusal("deadline_ms: 50", ""), "give one of them");
  has(refusal("tasks: []", ""), "no tasks and no network");
  has(refusal("tasks: [{name: a, on: {cpu: 1}}, {name: a.1, on: {cpu: 1}}], "
              "edges: [{from: a, to: a.1, consumes: 2}]",
              ""),
      "'a.1' stands for a later firing");
  has(refusal("deadline_ms: 150, " + tasks + "[{from: a, to: a, tokens: 1}]", ""),
      "beyond its period");
  has(refusal(tasks + "[{from: a, to: b, produces: 1000000, consumes: 999999}]", ""),
      "more than 1000 firings");
  has(refusal(tasks + "[{from: a, to: b, type: uint9}]", ""), "expected a type of numbers");
  has(refusal(tasks + "[{from: a, to: b, shape: [3]}]", ""), "'shape' without a 'type'");
  has(refusal(tasks + "[{from: a, to: b, type: int16, shape: [3], bytes: 5}]", ""), "3 has 6");
  has(refusal(tasks + "[{from: a, to: b, output: 0}, {from: a, to: b, output: 0, produces: 2, "
                      "consumes: 2}]",
              ""),
      "the same 'produces', type and size on both");
}

TEST(random_graph, is_consistent_live_and_as_asked) {
  RandomGraph options{.times = {{"cpu", {Time(100), Time(500)}}, {"gpu", {Time(10), Time(100)}}}};
  options.most_rate = 8;
  options.share_of_tokens = 0.3;
  for (options.seed = 1; options.seed <= 200; ++options.seed) {
    const TaskGraph made = random_graph(options);
    EXPECT_EQ(made.tasks.size(), 10u);
    std::size_t on_gpu_only = 0;
    for (const GraphTask& task : made.tasks) on_gpu_only += task.on.size() == 1 ? 1 : 0;
    EXPECT_EQ(on_gpu_only, 5u);
    const dataflow::Graph graph = dataflow_graph(made, false);
    EXPECT_TRUE(is_consistent(graph));
    EXPECT_TRUE(is_live(graph));
    for (const std::int64_t count : firings(made, false)) EXPECT_LE(count, 8);
    const std::vector<GraphJob> jobs = unfolded(made, false);
    for (std::size_t j = 0; j < jobs.size(); ++j)
      for (const std::size_t before : jobs[j].after) EXPECT_LT(before, j);
    EXPECT_EQ(made, random_graph(options));
  }
}

}  // namespace
}  // namespace millrace::system
