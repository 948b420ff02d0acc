// millrace board
#include "board/board.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "api/engines.h"
#include "base/error.h"
#include "base/json_text.h"
#include "board/board_file.h"
#include "board/shipped.h"
#include "cli/print/printable_lines.h"
#include "cli/print/roofline.h"
#include "cli/verbs/verbs.h"
#include "report/board.h"
#include "report/table.h"

namespace millrace::cli {

namespace {

using report::Align;

struct BoardOptions {
  std::string board, write;
  bool json = false, measure = false, list = false;
};

void bind(CLI::App& verb, BoardOptions& options) {
  verb.add_option("board", options.board,
                  "A shipped board or a board file; this machine if left out");
  verb.add_flag("--list", options.list, "The shipped boards");
  verb.add_option("--write", options.write,
                  "Write the board into this file, to be changed or used elsewhere");
  verb.add_flag(
      "--measure", options.measure,
      "Measure the peaks of arithmetic and memory: each processor alone, then all at once");
  verb.add_flag("--json", options.json, "For programs");
}

nlohmann::json engines_json() {
  nlohmann::json engines = nlohmann::json::array();
  for (const auto& [name, version, absent] : api::engines())
    engines.push_back(absent.empty() ? nlohmann::json{{"name", name}, {"version", version}}
                                     : nlohmann::json{{"name", name}, {"absent", absent}});
  return engines;
}

/// The content of its file, and what follows from it.
nlohmann::json document_of(const board::Board& board) {
  nlohmann::json json = board::to_json(board);
  for (nlohmann::json& cache : json["caches"])
    for (const char* key : {"size_kib", "size_mib", "size_gib"}) cache.erase(key);
  for (std::size_t i = 0; i < board.caches.size(); ++i)
    json["caches"][i]["size_bytes"] = board.caches[i].size.count;
  for (const board::Processor& p : board.processors)
    json["processors"].push_back(
        {{"name", p.name}, {"kind", board::to_text(p.kind)}, {"cores", p.cores}});
  json["memory_bytes"] = board::main_memory(board).count;
  json["hash"] = board::hash_of(board);
  return json;
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

void add(const api::MeasuredPeaks& measured, nlohmann::json& board) {
  for (std::size_t i = 0; i < measured.alone.size(); ++i) {
    board["processors"][i]["peaks_alone"] = peaks_json(measured.alone[i]);
    board["processors"][i]["peaks"] = peaks_json(measured.together[i]);
  }
}

void print(const board::Board& board) {
  fmt::print("{}: {}, {} of memory\n", board.name, board.cpu_model,
             millrace::to_text(board::main_memory(board)));
  fmt::print("instruction sets: {}\n\n", fmt::join(board.instruction_sets, " "));
  report::Table processors({{"processor", Align::left},
                            {"kind", Align::left},
                            {"cores", Align::left},
                            {"caches", Align::left}});
  for (const board::Processor& p : board.processors)
    processors.add(
        {p.name, "cpu", fmt::format("{}", fmt::join(p.cores, ",")), caches_of(board, p)});
  fmt::print("{}\n", processors.text());
  report::Table engines({{"engine", Align::left}, {"version", Align::left}});
  for (const auto& [name, version, absent] : api::engines())
    engines.add({name, absent.empty() ? version : "absent: " + absent});
  fmt::print("{}", engines.text());
}

int list_boards() {
  report::Table table({{"board", Align::left}, {"name", Align::left}, {"processors", Align::left}});
  for (const std::string& name : board::shipped_boards()) {
    const board::Board board = board::find_board(name);
    table.add({name, board.name, report::processors_text(board)});
  }
  fmt::print("{}", table.text());
  return 0;
}

void check(const BoardOptions& options) {
  if (options.measure && !options.board.empty())
    throw InputError("--measure", "measures this machine only; leave '" + options.board + "' out");
}

int show_this_machine(const BoardOptions& options, const board::Board& board,
                      const std::optional<api::MeasuredPeaks>& measured) {
  if (options.json) {
    nlohmann::json document = document_of(board);
    document["engines"] = engines_json();
    if (measured) add(*measured, document);
    fmt::print("{}\n", json_text(document, 1));
    return 0;
  }
  print(board);
  if (measured)
    fmt::print("\neach processor alone\n{}\nall at once\n{}",
               report::peaks_text(board.processors, measured->alone),
               report::peaks_text(board.processors, measured->together));
  return 0;
}

int run(const BoardOptions& options) {
  if (options.list) return list_boards();
  check(options);
  const bool is_here = options.board.empty();
  board::Board board = is_here ? board::this_machine() : board::find_board(options.board);
  std::optional<api::MeasuredPeaks> measured;
  if (options.measure) measured = api::measure_peaks(board);
  if (!options.write.empty()) {
    if (measured) board = with_peaks(std::move(board), measured->alone, measured->together);
    board::write_board(options.write, board);
    fmt::print("written: {}\n", options.write);
    return 0;
  }
  if (is_here) return show_this_machine(options, board, measured);
  fmt::print("{}", options.json ? json_text(document_of(board), 1) + "\n"
                                : printable_lines(report::board_text(board)));
  return 0;
}

}  // namespace

void add_board(CLI::App& app, int& exit_code) {
  add_verb<BoardOptions>(
      app, exit_code,
      {{"board", "Processors, memories and limits of this machine or of another board",
        "millrace board jetson-tx2"},
       bind,
       run});
}

}  // namespace millrace::cli
