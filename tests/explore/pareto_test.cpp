#include "explore/system/pareto.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>

#include "explore/contexts.h"

namespace millrace::explore {
namespace {

using namespace std::chrono_literals;
using test::Field;

/// The field's board, with power and a core for pre- and post-processing.
board::Board powered(const Field& field) {
  board::Board board = field.board;
  board.devices[0].power = {{{1000}, {100}, {9000}, {}}};
  board.devices[0].scheduling = board::Scheduling::fifo_by_kernel;
  board.devices[1].power = {{{1000}, {10}, {1000}, {}}};
  board.devices[1].scheduling = board::Scheduling::fifo_by_subnet;
  board::Device core;
  core.name = "core";
  core.cores = {0};
  core.processors = {"core0"};
  board.devices.push_back(core);
  board.processors.push_back(board::processors_of(core).front());
  return board;
}

GroupModel model_of(const Field& field, const board::Board& board) {
  GroupModel model{field.context, board};
  model.period = 10ms;
  return model;
}

GroupObjective objective_of(const GroupModel& model) {
  return [&model](const Configuration& configuration) { return group_plan(model, configuration); };
}

TEST(GroupPlan, is_a_chain_from_preprocessing_to_postprocessing) {
  const Field field(12, 1);
  const board::Board board = powered(field);
  GroupModel model = model_of(field, board);
  model.preprocess = 2ms;
  model.postprocess = 1ms;
  const auto plan = group_plan(model, {{{ProcessorId(1)}, {ProcessorId(0)}}, {5}});
  ASSERT_TRUE(plan);
  const auto& tasks = plan->assignment.tasks;
  ASSERT_EQ(tasks.size(), 4u);
  EXPECT_EQ(tasks[0].name, "pre");
  EXPECT_EQ(tasks[0].processor, "core0");
  EXPECT_EQ(tasks[0].worst, 2ms);
  EXPECT_EQ(tasks[1].processor, "npu0");
  EXPECT_TRUE(tasks[1].kernels.empty());
  EXPECT_EQ(tasks[2].processor, "gpu");
  EXPECT_EQ(tasks[3].step, deployment::Step::postprocess);
  Time sum{};
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    EXPECT_LE(tasks[t].best, tasks[t].average);
    EXPECT_LE(tasks[t].average, tasks[t].worst);
    EXPECT_EQ(tasks[t].after, t == 0 ? std::vector<std::size_t>{} : std::vector{t - 1});
    sum += tasks[t].average;
  }
  EXPECT_EQ(plan->latency, sum);
}

/// Two layers that both read the input, the second of which the accelerator lacks, and their sum.
network::Network branches() {
  millrace::test::NetworkBuilder builder;
  const TensorId x = builder.input({1, 8});
  const TensorId left = builder.unary(network::UnaryKind::relu, x);
  const TensorId right = builder.unary(network::UnaryKind::relu, x);
  builder.output(builder.binary(network::BinaryKind::add, left, right));
  return builder.build();
}

TEST(GroupPlan, a_phase_comes_after_one_that_it_reads_but_that_begins_with_a_later_layer) {
  Field field(3, 1);
  field.network = branches();
  field.problem.edges = {{0, 2, 8}, {1, 2, 8}};
  field.problem.time[1][1] = field.problem.alone[1][1] = std::numeric_limits<double>::infinity();
  const board::Board board = powered(field);
  const GroupModel model = model_of(field, board);
  const auto plan = group_plan(model, {{{ProcessorId(1)}}, {}});
  ASSERT_TRUE(plan);
  const auto& tasks = plan->assignment.tasks;
  ASSERT_EQ(tasks.size(), 2u);
  EXPECT_EQ(tasks[0].processor, "gpu");
  EXPECT_EQ(tasks[1].processor, "npu0");
  EXPECT_EQ(tasks[1].after, std::vector<std::size_t>{0});
}

TEST(GroupPlan, a_gpu_has_its_kernels_and_each_is_longer_than_a_subnet_in_one_piece) {
  const Field field(12, 1);
  const board::Board board = powered(field);
  GroupModel model = model_of(field, board);
  model.deviation = 0.1;
  const auto whole = group_plan(model, {{{ProcessorId(0)}}, {}});
  ASSERT_TRUE(whole);
  const deployment::Task& gpu = whole->assignment.tasks.front();
  EXPECT_EQ(gpu.kernels.size(), 12u);
  Time sum{};
  for (const Time kernel : gpu.kernels) sum += kernel;
  EXPECT_EQ(sum, gpu.worst);
  EXPECT_NEAR(seconds(gpu.worst) / seconds(gpu.average), 1.6, 1e-3);
  const auto split = group_plan(model, {{{ProcessorId(1)}, {ProcessorId(0)}}, {9}});
  const deployment::Task& npu = split->assignment.tasks.front();
  EXPECT_GT(npu.worst, npu.average);
  EXPECT_LT(seconds(npu.worst) / seconds(npu.average), 1.4);  // ten pieces do not all vary at once
}

TEST(GroupPlan, measured_worst_times_take_the_place_of_modelled_ones) {
  const Field field(8, 1);
  const board::Board board = powered(field);
  Problem worst = field.problem;
  for (auto* times : {&worst.time, &worst.alone})
    for (auto& layer : *times)
      for (double& time : layer) time *= 3;
  worst.borders.assign(worst.processors, {});
  GroupModel model = model_of(field, board);
  model.worst = &worst;
  const auto plan = group_plan(model, {{{ProcessorId(0)}}, {}});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->assignment.tasks[0].worst, 3 * plan->assignment.tasks[0].average);
}

TEST(Pareto, cuts_are_left_out_in_groups_and_between_layers_that_an_accelerator_lacks) {
  Field field(10, 1);
  field.problem.fused_into[3] = 2;
  for (const std::size_t layer : {6u, 7u})
    field.problem.time[layer][1] = field.problem.alone[layer][1] =
        std::numeric_limits<double>::infinity();
  for (double& time : field.problem.alone[9]) time = 0;
  const GroupSpace space = group_space(field.context);
  EXPECT_EQ(space.cuts, (std::vector<std::size_t>{0, 1, 3, 4, 5, 7}));
}

TEST(Pareto, a_processor_that_runs_nothing_neither_forbids_cuts_nor_stands_in_options) {
  Field field(6, 2);
  for (auto* times : {&field.problem.time, &field.problem.alone})
    for (auto& layer : *times) layer[2] = std::numeric_limits<double>::infinity();
  const GroupSpace space = group_space(field.context);
  EXPECT_EQ(space.cuts, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
  for (const MappingOption& option : space.options)
    for (const ProcessorGroup& stage : option.stages)
      EXPECT_NE(stage, ProcessorGroup{ProcessorId(2)}) << option.name;
  EXPECT_GT(space.options.size(), 1u);
}

/// Two cores of one device that take the same time.
struct Cores : Field {
  Cores() : Field(8, 1) {
    board.devices.resize(1);
    board.devices[0].kind = board::ProcessorKind::cpu;
    board.devices[0].processors = {"core0", "core1"};
    board.devices[0].cores = {0, 1};
    board.devices[0].power = {{{1000}, {100}, {9000}, {}}};
    board.processors = board::processors_of(board.devices[0]);
    for (auto* times : {&problem.time, &problem.alone})
      for (auto& layer : *times) layer[1] = layer[0];
  }
};

TEST(Pareto, a_pipeline_over_equal_processors_is_kept_for_the_rate_that_it_allows) {
  const Cores cores;
  for (const bool by_times : {false, true}) {
    GroupModel model = model_of(cores, cores.board);
    model.by_accelerator_times = by_times;
    const GroupFront front = exhaustive_front(group_space(cores.context), objective_of(model), {});
    const auto& whole = front.plans.front().assignment.tasks;
    ASSERT_EQ(whole.size(), 1u);  // no latency is shorter
    Time shortest = Time::max();
    for (const GroupPlan& plan : front.plans) {
      std::map<std::string, Time> busy;
      for (const deployment::Task& task : plan.assignment.tasks) busy[task.processor] += task.worst;
      shortest = std::min(shortest, std::max(busy["core0"], busy["core1"]));
    }
    EXPECT_LT(seconds(shortest), 0.7 * seconds(whole.front().worst));
  }
}

TEST(Pareto, candidates_are_counted_as_the_thesis_counts_them) {
  GroupSpace space;
  space.cuts.resize(22);
  for (const std::size_t stages : {2u, 3u, 3u, 4u, 1u})
    space.options.push_back({"", std::vector<ProcessorGroup>(stages)});
  EXPECT_EQ(size_of(space), 2025);  // Table 4.4
  space.cuts.resize(10);
  EXPECT_EQ(size_of(space), 221);
  space.cuts.resize(78);
  EXPECT_EQ(size_of(space), 82161);
}

TEST(Pareto, every_search_finds_plans_of_the_exact_front_and_genetic_ones_nearly_all) {
  const Field field(14, 2);
  const board::Board board = powered(field);
  const GroupModel model = model_of(field, board);
  const GroupSpace space = group_space(field.context);
  const GroupFront exact = exhaustive_front(space, objective_of(model), {});
  EXPECT_EQ(static_cast<double>(exact.evaluated), size_of(space));
  ASSERT_GT(exact.plans.size(), 5u);
  for (const NamedFrontMethod& method : front_methods()) {
    const GroupFront found = method.run(space, objective_of(model), {});
    const FrontQuality quality = quality_of(found, exact);
    EXPECT_GT(quality.hypervolume, 0.97) << method.name;
    EXPECT_LE(quality.hypervolume, 1 + 1e-9) << method.name;
    EXPECT_LE(found.evaluated, exact.evaluated) << method.name;
    EXPECT_LE(quality.missed, exact.plans.size() / 4) << method.name;
  }
}

TEST(Pareto, every_search_copes_with_a_choice_of_one) {
  const Field field(14, 2);
  const board::Board board = powered(field);
  const GroupModel model = model_of(field, board);
  GroupSpace one_option = group_space(field.context), one_cut = one_option;
  one_option.options.resize(1);
  one_cut.cuts.resize(1);
  for (const GroupSpace& space : {one_option, one_cut})
    for (const NamedFrontMethod& method : front_methods()) {
      const GroupFront found = method.run(space, objective_of(model), {.generations = 5});
      EXPECT_FALSE(found.plans.empty()) << method.name;
      EXPECT_LE(static_cast<double>(found.evaluated), size_of(space)) << method.name;
    }
}

TEST(Pareto, no_plan_of_a_front_beats_another) {
  const Field field(12, 2, 5);
  const board::Board board = powered(field);
  const GroupModel model = model_of(field, board);
  const GroupFront front = exhaustive_front(group_space(field.context), objective_of(model), {});
  for (const GroupPlan& one : front.plans)
    for (const GroupPlan& other : front.plans) {
      if (one == other) continue;
      const auto a = objectives_of(one), b = objectives_of(other);
      bool is_worse_somewhere = false;
      for (std::size_t i = 0; i < a.size(); ++i) is_worse_somewhere |= a[i] > b[i];
      EXPECT_TRUE(is_worse_somewhere);
    }
}

TEST(Pareto, the_quality_says_what_a_front_misses) {
  GroupFront exact, part;
  for (int p = 0; p < 3; ++p) {
    GroupPlan plan;
    plan.latency = Time(1'000'000 * (p + 1));
    plan.power_mw = {30.0 - 10 * p};
    exact.plans.push_back(plan);
    if (p != 1) part.plans.push_back(plan);
  }
  EXPECT_EQ(quality_of(exact, exact).missed, 0u);
  EXPECT_DOUBLE_EQ(quality_of(exact, exact).hypervolume, 1);
  EXPECT_EQ(quality_of(part, exact).missed, 1u);
  EXPECT_LT(quality_of(part, exact).hypervolume, 1);
}

}  // namespace
}  // namespace millrace::explore
