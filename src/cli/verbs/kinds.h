#pragma once
// Files of other tools that `analyze` and `simulate` take: dataflow graphs and task systems.
#include <cstdint>
#include <string>
#include <vector>

#include "cli/options/places.h"

namespace millrace::cli {

struct GraphOptions {
  std::string file = {}, method = "fastest", throughput = {}, format = {}, output = {};
  std::vector<std::string> processors = {}, orders = {};
  double budget_s = -1;
  bool json = false, pareto = false, no_buffers = false;
};
void bind_graph(Places& at, GraphOptions& options);
int run_graph(const GraphOptions& options);

struct TaskOptions {
  std::string file = {}, propagation = "windows", equations = {}, gantt = {};
  std::uint64_t seed = 1;
  int simulate = 1000;
  bool json = false, independent = false, whole_ticks = false, no_growth = false;
};
void bind_tasks(Places& at, TaskOptions& options);
int run_tasks(const TaskOptions& options);

}  // namespace millrace::cli
