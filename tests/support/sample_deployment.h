#pragma once
// A board of two cores and a GPU, and a deployment of two groups on it.
#include "board/board_file.h"
#include "deployment/deployment_file.h"
#include "plan/build.h"

namespace millrace::test {

using deployment::Assignment, deployment::Contention, deployment::Deployment, deployment::Step;

inline board::Board sample_board() {
  using board::ProcessorKind, board::Megahertz, board::Milliwatts;
  board::Board board;
  board.name = "small";
  board.processors = {{"core0", ProcessorKind::cpu, {0}},
                      {"core1", ProcessorKind::cpu, {1}},
                      {"gpu0", ProcessorKind::gpu, {}}};
  board::Device cpu, gpu;
  cpu.name = "cpu";
  cpu.cores = {0, 1};
  cpu.processors = {"core0", "core1"};
  cpu.clocks = {Megahertz{500}, Megahertz{1000}};
  cpu.power = {{Megahertz{500}, Milliwatts{50}, Milliwatts{200}},
               {Megahertz{1000}, Milliwatts{100}, Milliwatts{800}}};
  gpu.name = "gpu";
  gpu.kind = ProcessorKind::gpu;
  gpu.processors = {"gpu0"};
  gpu.clocks = {Megahertz{400}, Megahertz{800}};
  gpu.power = {{Megahertz{400}, Milliwatts{100}, Milliwatts{1000}},
               {Megahertz{800}, Milliwatts{200}, Milliwatts{4000}}};
  gpu.scheduling = board::Scheduling::fifo_by_kernel;
  board.devices = {cpu, gpu};
  return board;
}

/// A chain of two layers.
inline network::Network sample_network() {
  network::Network network;
  network.name = "net";
  for (const char* name : {"x", "y", "z"})
    network.tensors.push_back({.name = name, .shape = {1, 4}, .constant = {}});
  network.inputs = {TensorId(0)};
  network.outputs = {TensorId(2)};
  network.layers.push_back({"first", network::Concat{1}, {TensorId(0)}, {TensorId(1)}});
  network.layers.push_back({"second", network::Concat{1}, {TensorId(1)}, {TensorId(2)}});
  return network;
}

inline plan::PlanFile sample_plan(const board::Board& board, const network::Network& network) {
  plan::PlanFile file;
  file.plan = plan::build(network, board, {{ProcessorId(0), ProcessorId(2)}});
  file.origin.network = file.plan.network_hash;
  file.origin.model.file = "net.onnx";
  file.evidence = plan::no_evidence(file.plan);
  return file;
}

inline Time ms(std::int64_t value) { return std::chrono::milliseconds(value); }

inline Assignment sample_assignment(const board::Board& board, const network::Network& network) {
  Assignment result;
  result.plan = sample_plan(board, network);
  result.tasks = {{.name = "pre",
                   .step = Step::preprocess,
                   .processor = "core1",
                   .worst = ms(3),
                   .average = ms(2),
                   .best = ms(1)},
                  {.name = "stage0",
                   .processor = "core0",
                   .worst = ms(10),
                   .average = ms(8),
                   .best = ms(8),
                   .after = {0}},
                  {.name = "stage1",
                   .stage = 1,
                   .processor = "gpu0",
                   .worst = ms(5),
                   .average = ms(4),
                   .best = ms(4),
                   .kernels = {ms(2), ms(3)},
                   .after = {1},
                   .busy = board::Milliwatts{3500}}};
  return result;
}

/// Groups "a", of 5 to 10 frames a second, and "b", of 20; scenarios "one" of a and "both".
inline system::System sample_system() {
  system::System system;
  system.name = "sample";
  system.board = "small";
  system.levels = 2;
  system.overhead = ms(1);
  for (const char* name : {"a", "b"}) {
    system::Group group{.name = name, .model = {.file = "net.onnx"}, .rates = {}};
    group.rates = system.groups.empty() ? system::Rates{5, 10} : system::Rates{20, 20};
    group.preprocess = ms(3);
    system.groups.push_back(std::move(group));
  }
  system.scenarios = {{"one", {system::GroupId(0)}},
                      {"both", {system::GroupId(0), system::GroupId(1)}}};
  system.transitions = {{system::ScenarioId(0), system::ScenarioId(1), 0.5},
                        {system::ScenarioId(0), system::ScenarioId(0), 0.5},
                        {system::ScenarioId(1), system::ScenarioId(0), {}}};
  return system;
}

inline Deployment sample_deployment(const network::Network& network) {
  const board::Board board = sample_board();
  Deployment result;
  result.system = sample_system();
  result.board_name = board.name;
  result.board_hash = board::hash_of(board);
  result.assignments.assign(2, sample_assignment(board, network));
  result.assignments[0].priority = 2;
  result.assignments[1].priority = 1;
  result.contention = Contention::beside_others;
  result.method = "by hand";
  result.settings = {
      {system::ScenarioId(0), 0, {{"gpu", {400}}, {"cpu", {500}}}, 1234.5, {ms(36), std::nullopt}},
      {system::ScenarioId(1), 1, {}, 0, {ms(19), ms(40)}}};
  return result;
}

}  // namespace millrace::test
