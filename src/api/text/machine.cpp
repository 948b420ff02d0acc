#include "api/text/machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "board/board_file.h"
#include "board/shipped.h"
#include "report/board.h"
#include "report/roofline.h"
#include "report/table.h"

namespace millrace::api {
namespace {

using report::Align;

/// GPUs and NPUs, or how this machine's would be reached.
std::string devices_text(const Context& context) {
  report::Table table({{"processor", Align::left},
                       {"model", Align::left},
                       {"reached by", Align::left},
                       {"driver", Align::left}});
  const auto devices = api::devices(context);
  for (const auto& each : devices)
    table.add({fmt::format("{}", fmt::join(each.device.processors, ", ")), each.device.model,
               each.engine, each.driver});
  if (devices.empty())
    return "\nno engine reaches a GPU or NPU here. A GPU with a Vulkan driver needs ONNX Runtime "
           "and\n"
           "its WebGPU plug-in: install both with 'pip install onnxruntime "
           "onnxruntime-ep-webgpu',\n"
           "then run 'millrace board' again; docs/engines.md has more\n";
  return "\n" + table.text();
}

std::string engines_text(const Context& context) {
  report::Table engines({{"engine", Align::left}, {"version", Align::left}});
  const std::vector<EngineVersion> all = api::engines(context);
  for (const auto& [name, version, absent] : all)
    if (absent.empty()) engines.add({name, version});
  std::string absent_ones;
  for (const auto& [name, version, absent] : all)
    if (!absent.empty()) absent_ones += fmt::format("{}: {}\n", name, absent);
  return engines.text() +
         (absent_ones.empty() ? "" : "\nengines that cannot start here\n" + absent_ones);
}

}  // namespace

std::string machine_text(const board::Board& board, const std::optional<MeasuredPeaks>& measured,
                         const Context& context) {
  std::string text =
      report::machine_text(board) + "\n" + engines_text(context) + devices_text(context);
  if (measured)
    text += fmt::format("\neach processor alone\n{}\nall at once\n{}",
                        report::peaks_text(board.processors, measured->alone),
                        report::peaks_text(board.processors, measured->together));
  return text;
}

std::string boards_text() {
  report::Table table({{"board", Align::left}, {"name", Align::left}, {"processors", Align::left}});
  for (const std::string& name : board::shipped_boards()) {
    const board::Board board = board::find_board(name);
    table.add({name, board.name, report::processors_text(board)});
  }
  return table.text();
}

}  // namespace millrace::api
