// millrace board
#include "board/board.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "cli/roofline.h"
#include "cli/verbs.h"
#include "engine/registry.h"
#include "report/table.h"
#include "runtime/peaks.h"

namespace millrace::cli {
namespace {

struct Options {
  bool json = false, measure = false;
};

void bind(CLI::App& verb, Options& options) {
  verb.add_flag(
      "--measure", options.measure,
      "Measure the peaks of arithmetic and memory: each processor alone, then all at once");
  verb.add_flag("--json", options.json, "For programs");
}

nlohmann::json to_json(const board::Board& board) {
  nlohmann::json processors = nlohmann::json::array(), caches = nlohmann::json::array();
  for (const board::Processor& p : board.processors)
    processors.push_back({{"name", p.name}, {"kind", "cpu"}, {"cores", p.cores}});
  for (const board::Cache& c : board.caches)
    caches.push_back({{"level", c.level}, {"size_bytes", c.size.count}, {"cores", c.cores}});
  nlohmann::json engines = nlohmann::json::array();
  for (const std::string& name : engine::engine_names())
    engines.push_back({{"name", name}, {"version", engine::make_engine(name)->version()}});
  return {{"name", board.name},
          {"cpu_model", board.cpu_model},
          {"instruction_sets", board.instruction_sets},
          {"memory_bytes", board.memory.count},
          {"processors", processors},
          {"caches", caches},
          {"engines", engines},
          {"hash", board::hash_of(board)}};
}

std::string caches_of(const board::Board& board, const board::Processor& processor) {
  std::string text;
  for (const board::Cache& cache : board.caches) {
    if (std::find(cache.cores.begin(), cache.cores.end(), processor.cores.front()) ==
        cache.cores.end())
      continue;
    text += fmt::format("{}L{} {}{}", text.empty() ? "" : ", ", cache.level,
                        millrace::to_text(cache.size), cache.cores.size() > 1 ? " (shared)" : "");
  }
  return text;
}

/// By processor.
struct Measured {
  std::vector<board::Peaks> alone, together;
};

Measured measure(const board::Board& board) {
  Measured measured;
  for (const board::Processor& processor : board.processors)
    measured.alone.push_back(runtime::measure_peaks(board::only(board, {processor.name})).front());
  measured.together = runtime::measure_peaks(board);
  return measured;
}

void add(const Measured& measured, nlohmann::json& board) {
  for (std::size_t i = 0; i < measured.alone.size(); ++i) {
    board["processors"][i]["peaks_alone"] = peaks_json(measured.alone[i]);
    board["processors"][i]["peaks"] = peaks_json(measured.together[i]);
  }
}

void print(const board::Board& board) {
  fmt::print("{}: {}, {} of memory\n", board.name, board.cpu_model,
             millrace::to_text(board.memory));
  fmt::print("instruction sets: {}\n\n", fmt::join(board.instruction_sets, " "));
  report::Table processors({{"processor", report::Align::left},
                            {"kind", report::Align::left},
                            {"cores", report::Align::left},
                            {"caches", report::Align::left}});
  for (const board::Processor& p : board.processors)
    processors.add(
        {p.name, "cpu", fmt::format("{}", fmt::join(p.cores, ",")), caches_of(board, p)});
  fmt::print("{}\n", processors.text());
  report::Table engines({{"engine", report::Align::left}, {"version", report::Align::left}});
  for (const std::string& name : engine::engine_names())
    engines.add({name, engine::make_engine(name)->version()});
  fmt::print("{}", engines.text());
}

int run(const Options& options) {
  const board::Board board = board::this_machine();
  std::optional<Measured> measured;
  if (options.measure) measured = measure(board);
  if (options.json) {
    nlohmann::json document = to_json(board);
    if (measured) add(*measured, document);
    fmt::print("{}\n", document.dump(1));
    return 0;
  }
  print(board);
  if (measured)
    fmt::print("\neach processor alone\n{}\nall at once\n{}",
               report::peaks_text(board.processors, measured->alone),
               report::peaks_text(board.processors, measured->together));
  return 0;
}

}  // namespace

void add_board(CLI::App& app, int& exit_code) {
  add_verb<Options>(
      app, exit_code,
      {{"board", "Processors, caches and engines of this machine", "millrace board"}, bind, run});
}

}  // namespace millrace::cli
