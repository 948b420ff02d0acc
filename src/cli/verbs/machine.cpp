// millrace board, millrace cache
#include <fmt/format.h>

#include <optional>

#include "base/error.h"
#include "base/printable.h"
#include "board/board.h"
#include "board/board_file.h"
#include "board/shipped.h"
#include "cli/options/request.h"
#include "cli/print/progress.h"
#include "cli/verbs/verbs.h"
#include "present/results/board.h"
#include "present/results/machine.h"
#include "present/results/roofline.h"
#include "product/cache.h"
#include "product/engines.h"
#include "product/written_over.h"

namespace millrace::cli {
namespace {

struct BoardOptions {
  std::string board, write;
  bool json = false, measure = false, list = false;
  product::Context context = {};
};

void bind(Places& at, BoardOptions& options) {
  at.word("board", options.board, "A shipped board or a board file; default: this machine");
  at.put("list", options.list).put("write", options.write).put("measure", options.measure);
  bind_engine_libraries(at, options.context);
  at.put("json", options.json);
}

void check(const BoardOptions& options) {
  if (options.measure && !options.board.empty())
    throw InputError("--measure", "measures this machine only; leave '" + options.board + "' out");
}

int run(const BoardOptions& options, const CLI::App&) {
  if (options.list) {
    show(options.json ? present::boards_json() : present::boards_text());
    return 0;
  }
  check(options);
  refuse_two_results(options.json, options.write);
  product::FilesRead files;
  files.add("board file", options.board);
  files.add(options.context);
  files.refuse_unwritable({options.write});
  const bool is_here = options.board.empty();
  board::Board board = is_here ? board::this_machine() : board::find_board(options.board);
  std::optional<product::MeasuredPeaks> measured;
  if (options.measure) measured = product::measure_peaks(board);
  if (!options.write.empty()) {
    if (measured) board = with_peaks(std::move(board), measured->alone, measured->together);
    board::write_board(options.write, board);
    if (!options.json) fmt::print("written: {}\n", printable(options.write));
    if (!options.json) return 0;
  }
  if (is_here)
    show(options.json ? present::machine_json(board, measured, options.context)
                      : present::machine_text(board, measured, options.context));
  else
    show(options.json ? present::board_json(board) : printable_lines(present::board_text(board)));
  return 0;
}

struct CacheOptions {
  bool clear = false, json = false;
};

void bind(Places& at, CacheOptions& options) {
  at.put("clear", options.clear).put("json", options.json);
}

void print(const char* done, const product::CacheContents& cache) {
  fmt::print("{}{} profiles and {} packed weights, {}, in {}\n", done, cache.profiles,
             cache.packed.files, to_text(cache.packed.size),
             cache.folder ? printable(cache.folder->string()) : "no folder");
}

void print(const product::ClearedCache& cleared) {
  print(cleared.failed ? "not all removed: " : "removed: ", cleared.removed);
  for (const std::string& each : cleared.left) fmt::print("left: {}\n", printable(each));
}

int run(const CacheOptions& options, const CLI::App&) {
  const product::Context context = at_terminal();
  const product::CacheContents cache = product::cache_contents(context);
  std::optional<product::ClearedCache> cleared;
  if (options.clear) cleared = product::clear_cache(context);
  if (options.json)
    show(present::cache_json(cache, cleared ? &*cleared : nullptr));
  else if (cleared)
    print(*cleared);
  else
    print("", cache);
  return cleared && cleared->failed ? answer_is_no : 0;
}

}  // namespace

void add_board(CLI::App& app, int& exit_code) {
  add_verb<BoardOptions>(app, exit_code, {"board", bind, run});
}

void add_cache(CLI::App& app, int& exit_code) {
  add_verb<CacheOptions>(app, exit_code, {"cache", bind, run});
}

}  // namespace millrace::cli
