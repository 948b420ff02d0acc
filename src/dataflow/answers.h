#pragma once
// All that is usually asked of a graph, at once.
#include <optional>
#include <string>
#include <vector>

#include "dataflow/buffers.h"
#include "dataflow/sdf3.h"
#include "dataflow/static_order.h"

namespace millrace::dataflow {

struct Questions {
  Method method = Method::fastest;
  std::optional<Fraction> throughput;  // iterations per time of the file; none: the most
  bool buffers = true, pareto = false;
  std::optional<double> budget_s;  // for buffers
};

struct Answers {
  std::string reason;  // why the graph is inconsistent or dead; empty: it is neither
  bool consistent = false, live = false;
  std::vector<std::int64_t> cycles;
  std::optional<Throughput> throughput;
  std::optional<Time> latency;
  std::optional<Sizing> buffers;
  bool buffers_wanted = false, buffers_left_out = false;
  std::optional<ParetoFront> pareto;
  std::vector<StaticOrder> orders;
};

/// InputError if numbers exceed 64 bits.
Answers answer(const Sdf3File& file, const Questions& questions);

}  // namespace millrace::dataflow
