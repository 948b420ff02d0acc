#pragma once
// What the verb dataflow finds out, for people and for programs.
#include <optional>
#include <string>
#include <vector>

#include "dataflow/buffers.h"
#include "dataflow/sdf3.h"
#include "dataflow/static_order.h"

namespace millrace::cli {

struct Questions {
  dataflow::Method method = dataflow::Method::fastest;
  std::optional<dataflow::Fraction> throughput;  // iterations per time of the file; none: the most
  bool buffers = true, pareto = false;
  std::optional<double> budget_s;  // for buffers
};

struct Answers {
  std::string reason;  // why the graph is inconsistent or dead; empty: it is neither
  bool consistent = false, live = false;
  std::vector<std::int64_t> cycles;
  std::optional<dataflow::Throughput> throughput;
  std::optional<Time> latency;
  std::optional<dataflow::Sizing> buffers;
  bool buffers_wanted = false, buffers_left_out = false;
  std::optional<dataflow::ParetoFront> pareto;
  std::vector<dataflow::StaticOrder> orders;
};

/// InputError if numbers exceed 64 bits.
Answers answer(const dataflow::Sdf3File& file, const Questions& questions);

std::string answers_text(const dataflow::Sdf3File& file, const Answers& answers);
std::string answers_json(const dataflow::Sdf3File& file, const Answers& answers);

}  // namespace millrace::cli
