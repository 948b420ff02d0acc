// millrace analyze GRAPH.xml
#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "cli/print/progress.h"
#include "cli/verbs/kinds.h"
#include "dataflow/sdf3.h"
#include "present/results/dataflow.h"
#include "product/written_over.h"

namespace millrace::cli {

namespace {

using namespace dataflow;

const std::map<std::string, Method> methods{{"fastest", Method::fastest},
                                            {"self-timed", Method::self_timed},
                                            {"cycle-ratio", Method::cycle_ratio},
                                            {"k-periodic", Method::k_periodic}};

std::vector<StaticOrder> orders_of(const Graph& graph, const GraphOptions& options) {
  std::vector<StaticOrder> orders;
  std::vector<Binding> bindings;
  for (const std::string& text : options.processors) {
    StaticOrder order = parse_order(graph, text, "--processor");
    bindings.push_back({std::move(order.processor), std::move(order.firings)});
  }
  if (!bindings.empty()) orders = static_orders(graph, bindings);
  for (const std::string& text : options.orders)
    orders.push_back(parse_order(graph, text, "--order"));
  return orders;
}

int write_graph(const Graph& graph, const GraphOptions& options) {
  product::FilesRead files;
  files.add("graph", options.file);
  files.refuse(options.output);
  const std::string text = options.format == "dot" ? to_dot(graph) : to_sdf3(graph);
  if (options.output.empty())
    show(text);
  else
    write_file(options.output, text);
  return 0;
}

Questions questions_of(const GraphOptions& options) {
  Questions questions;
  questions.method = methods.at(options.method);
  if (!options.throughput.empty())
    questions.throughput = parse_fraction(options.throughput, "--throughput");
  if (questions.throughput && questions.throughput->over() == 0)
    throw InputError("--throughput", "found 0, expected more");
  questions.buffers = !options.no_buffers;
  questions.pareto = options.pareto;
  if (options.budget_s >= 0) questions.budget_s = options.budget_s;
  return questions;
}

}  // namespace

void bind_graph(Places& at, GraphOptions& options) {
  at.put("method", options.method).put("throughput", options.throughput);
  at.put("pareto", options.pareto).put("no-buffers", options.no_buffers);
  at.put("budget", options.budget_s).put("processor", options.processors);
  at.put("order", options.orders).put("format", options.format).put("output", options.output);
}

int run_graph(const GraphOptions& options) {
  const Questions questions = questions_of(options);
  Sdf3File file = read_sdf3(options.file);
  for (const std::string& text : file.notes) note(text);
  try {
    for (const std::string& text : present::unconnected_parts(file.graph)) note(text);
    const bool scheduled = !options.processors.empty() || !options.orders.empty();
    std::vector<StaticOrder> orders;
    if (scheduled && is_consistent(file.graph)) {
      orders = orders_of(file.graph, options);
      file.graph = with_static_orders(file.graph, orders);
    }
    if (!options.format.empty()) return write_graph(file.graph, options);
    Answers answers = answer(file, questions);
    answers.orders = orders;
    show(options.json ? present::answers_json(file, answers)
                      : printable_lines(present::answers_text(file, answers)));
    if (answers.reason.empty()) return 0;
    note(fmt::format("{}: {}", options.file, answers.reason));
    return 1;
  } catch (const InputError& error) {
    if (error.place().starts_with("--")) throw;
    throw InputError(options.file, error.what());
  }
}

}  // namespace millrace::cli
