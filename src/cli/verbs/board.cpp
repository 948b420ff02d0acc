// millrace board
#include "board/board.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/engines.h"
#include "api/json/machine.h"
#include "base/error.h"
#include "base/printable.h"
#include "board/board_file.h"
#include "board/shipped.h"
#include "cli/options/common.h"
#include "cli/options/model.h"
#include "cli/verbs/verbs.h"
#include "report/board.h"
#include "report/roofline.h"
#include "report/table.h"

namespace millrace::cli {

namespace {

using report::Align;

struct BoardOptions {
  std::string board, write;
  bool json = false, measure = false, list = false;
  api::Context context = {};
};

void bind(CLI::App& verb, BoardOptions& options) {
  verb.add_option("board", options.board,
                  "A shipped board or a board file; default: this machine");
  verb.add_flag("--list", options.list, "List the shipped boards");
  verb.add_option("--write", options.write,
                  "Write the board file here, to change it or to use it on another machine");
  verb.add_flag(
      "--measure", options.measure,
      "Measure the peak rates of arithmetic and memory: each processor alone, then all together");
  bind_engine_libraries(verb, options.context);
  bind_json(verb, options.json);
}

/// GPUs and NPUs, or how this machine's would be reached.
void print_devices(const api::Context& context) {
  report::Table table({{"processor", Align::left},
                       {"model", Align::left},
                       {"reached by", Align::left},
                       {"driver", Align::left}});
  const auto devices = api::devices(context);
  for (const auto& each : devices)
    table.add({fmt::format("{}", fmt::join(each.device.processors, ", ")), each.device.model,
               each.engine, each.driver});
  if (devices.empty())
    fmt::print(
        "no engine reaches a GPU or NPU here. A GPU with a Vulkan driver needs ONNX Runtime with "
        "its\n"
        "WebGPU plug-in: install them with 'pip install onnxruntime onnxruntime-ep-webgpu', then "
        "run\n"
        "'millrace board' again; docs/engines.md has more\n");
  else
    fmt::print("\n{}", table.text());
}

void print(const board::Board& board, const api::Context& context) {
  fmt::print("{}\n", report::machine_text(board));
  report::Table engines({{"engine", Align::left}, {"version", Align::left}});
  const std::vector<api::EngineVersion> all = api::engines(context);
  for (const auto& [name, version, absent] : all)
    if (absent.empty()) engines.add({name, version});
  fmt::print("{}", engines.text());
  for (const auto& [name, version, absent] : all)
    if (!absent.empty()) fmt::print("{}: {}\n", name, absent);
  print_devices(context);
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
    fmt::print("{}", api::machine_json(board, measured, options.context));
    return 0;
  }
  print(board, options.context);
  if (measured)
    fmt::print("\neach processor alone\n{}\nall at once\n{}",
               report::peaks_text(board.processors, measured->alone),
               report::peaks_text(board.processors, measured->together));
  return 0;
}

int run(const BoardOptions& options) {
  if (options.list && options.json) fmt::print("{}", api::boards_json());
  if (options.list) return options.json ? 0 : list_boards();
  check(options);
  refuse_two_results(options.json, options.write);
  const bool is_here = options.board.empty();
  board::Board board = is_here ? board::this_machine() : board::find_board(options.board);
  std::optional<api::MeasuredPeaks> measured;
  if (options.measure) measured = api::measure_peaks(board);
  if (!options.write.empty()) {
    if (measured) board = with_peaks(std::move(board), measured->alone, measured->together);
    board::write_board(options.write, board);
    if (!options.json) fmt::print("written: {}\n", options.write);
    if (!options.json) return 0;
  }
  if (is_here) return show_this_machine(options, board, measured);
  fmt::print("{}",
             options.json ? api::board_json(board) : printable_lines(report::board_text(board)));
  return 0;
}

}  // namespace

void add_board(CLI::App& app, int& exit_code) {
  add_verb<BoardOptions>(
      app, exit_code,
      {{"board", "Show processors, memories and limits of this machine or of another board",
        "millrace board jetson-tx2"},
       bind,
       run});
}

}  // namespace millrace::cli
