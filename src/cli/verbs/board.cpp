// millrace board
#include "board/board.h"

#include <fmt/format.h>

#include "api/engines.h"
#include "api/json/machine.h"
#include "api/text/machine.h"
#include "api/written_over.h"
#include "base/error.h"
#include "base/printable.h"
#include "board/board_file.h"
#include "board/shipped.h"
#include "cli/options/common.h"
#include "cli/options/model.h"
#include "cli/verbs/verbs.h"
#include "report/board.h"
#include "report/roofline.h"

namespace millrace::cli {

namespace {

struct BoardOptions {
  std::string board, write;
  bool json = false, measure = false, list = false;
  api::Context context = {};
};

void bind(CLI::App& verb, BoardOptions& options) {
  verb.add_option("board", options.board, "A shipped board or a board file; default: this machine");
  verb.add_flag("--list", options.list, "List the shipped boards");
  verb.add_option("--write", options.write,
                  "Write the board file here, to change it or to use it on another machine");
  verb.add_flag(
      "--measure", options.measure,
      "Measure the peak rates of arithmetic and memory: each processor alone, then all together");
  bind_engine_libraries(verb, options.context);
  bind_json(verb, options.json);
}

void check(const BoardOptions& options) {
  if (options.measure && !options.board.empty())
    throw InputError("--measure", "measures this machine only; leave '" + options.board + "' out");
}

int run(const BoardOptions& options) {
  if (options.list) {
    fmt::print("{}", options.json ? api::boards_json() : api::boards_text());
    return 0;
  }
  check(options);
  refuse_two_results(options.json, options.write);
  api::FilesRead files;
  files.add("board file", options.board);
  files.add(options.context);
  files.refuse_unwritable({options.write});
  const bool is_here = options.board.empty();
  board::Board board = is_here ? board::this_machine() : board::find_board(options.board);
  std::optional<api::MeasuredPeaks> measured;
  if (options.measure) measured = api::measure_peaks(board);
  if (!options.write.empty()) {
    if (measured) board = with_peaks(std::move(board), measured->alone, measured->together);
    board::write_board(options.write, board);
    if (!options.json) fmt::print("written: {}\n", printable(options.write));
    if (!options.json) return 0;
  }
  if (is_here)
    fmt::print("{}", options.json ? api::machine_json(board, measured, options.context)
                                  : api::machine_text(board, measured, options.context));
  else
    fmt::print("{}",
               options.json ? api::board_json(board) : printable_lines(report::board_text(board)));
  return 0;
}

}  // namespace

void add_board(CLI::App& app, int& exit_code) {
  add_verb<BoardOptions>(
      app, exit_code,
      {{"board",
        "Show the processors, caches and engines of this machine, or what a board file says",
        "millrace board jetson-tx2"},
       bind,
       run});
}

}  // namespace millrace::cli
