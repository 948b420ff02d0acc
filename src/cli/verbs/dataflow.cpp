// millrace dataflow FILE.xml
#include <fmt/format.h>

#include <map>

#include "api/written_over.h"
#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "cli/options/common.h"
#include "cli/print/progress.h"
#include "cli/verbs/verbs.h"
#include "dataflow/sdf3.h"
#include "report/dataflow.h"

namespace millrace::cli {

namespace {

using namespace dataflow;

struct DataflowOptions {
  std::string file, method = "fastest", throughput, format, output;
  std::vector<std::string> processors, orders;
  double budget_s = -1;
  bool json = false, pareto = false, no_buffers = false;
};

const std::map<std::string, Method> methods{{"fastest", Method::fastest},
                                            {"self-timed", Method::self_timed},
                                            {"cycle-ratio", Method::cycle_ratio},
                                            {"k-periodic", Method::k_periodic}};

void bind(CLI::App& verb, DataflowOptions& options) {
  verb.add_option("file", options.file, "An SDF3 file with an SDF or CSDF graph")->required();
  begin_group(verb, "Analysis");
  verb.add_option("--method", options.method,
                  "How to compute the throughput. fastest: k-periodic, or cycle-ratio where that "
                  "is faster")
      ->check(CLI::IsMember({"fastest", "self-timed", "cycle-ratio", "k-periodic"}))
      ->capture_default_str();
  verb.add_option(
      "--throughput", options.throughput,
      "Size buffers for this throughput in iterations per time unit, such as 1/7. Default: the "
      "largest");
  verb.add_flag("--pareto", options.pareto,
                "List every total buffer size that allows more throughput than a smaller one");
  verb.add_flag("--no-buffers", options.no_buffers, "Do not compute buffer sizes");
  verb.add_option(
          "--budget", options.budget_s,
          "Stop reducing buffers after this number of seconds. Default: 5; 0.2 above 20000 firings "
          "per iteration; 0 above 100000")
      ->check(CLI::NonNegativeNumber);
  begin_group(verb, "Shared processors");
  verb.add_option("--processor", options.processors,
                  "NAME=ACTOR,ACTOR...: actors that share a processor. The command finds an order "
                  "for them")
      ->delimiter('\0');
  verb.add_option("--order", options.orders,
                  "NAME=ACTOR,2*ACTOR...: the order in which a processor fires its actors, given "
                  "by you")
      ->delimiter('\0');
  begin_group(verb, "Output");
  verb.add_option("--format", options.format, "Write the graph in this format instead of answers")
      ->check(CLI::IsMember({"sdf3", "dot"}));
  verb.add_option("-o,--output", options.output, "The file to write; default: standard output")
      ->needs("--format");
  bind_json(verb, options.json)->excludes(verb.get_option("--format"));
}

std::vector<StaticOrder> orders_of(const Graph& graph, const DataflowOptions& options) {
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

int write_graph(const Graph& graph, const DataflowOptions& options) {
  api::FilesRead files;
  files.add("graph", options.file);
  files.refuse(options.output);
  const std::string text = options.format == "dot" ? to_dot(graph) : to_sdf3(graph);
  if (options.output.empty())
    fmt::print("{}", text);
  else
    write_file(options.output, text);
  return 0;
}

Questions questions_of(const DataflowOptions& options) {
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

int run(const DataflowOptions& options) {
  const Questions questions = questions_of(options);
  Sdf3File file = read_sdf3(options.file);
  for (const std::string& text : file.notes) note(text);
  try {
    for (const std::string& text : report::unconnected_parts(file.graph)) note(text);
    const bool scheduled = !options.processors.empty() || !options.orders.empty();
    std::vector<StaticOrder> orders;
    if (scheduled && is_consistent(file.graph)) {
      orders = orders_of(file.graph, options);
      file.graph = with_static_orders(file.graph, orders);
    }
    if (!options.format.empty()) return write_graph(file.graph, options);
    Answers answers = answer(file, questions);
    answers.orders = orders;
    fmt::print("{}", options.json ? report::answers_json(file, answers)
                                  : printable_lines(report::answers_text(file, answers)));
    if (answers.reason.empty()) return 0;
    note(fmt::format("{}: {}", options.file, answers.reason));
    return 1;
  } catch (const InputError& error) {
    if (error.place().starts_with("--")) throw;
    throw InputError(options.file, error.what());
  }
}

}  // namespace

void add_dataflow(CLI::App& app, int& exit_code) {
  add_verb<DataflowOptions>(
      app, exit_code,
      {{"dataflow",
        "Analyse a dataflow graph: consistency, liveness, throughput and buffer sizes",
        "millrace dataflow samplerate.xml --pareto"},
       bind,
       run});
}

}  // namespace millrace::cli
