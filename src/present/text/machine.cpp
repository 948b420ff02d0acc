#include "present/text/machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "board/board_file.h"
#include "board/shipped.h"
#include "present/results/board.h"
#include "present/results/roofline.h"
#include "present/text/table.h"

namespace millrace::present {
namespace {

/// GPUs and NPUs, or how this machine's would be reached.
std::string devices_text(const product::Context& context) {
  Table table({{"processor", Align::left},
               {"model", Align::left},
               {"reached by", Align::left},
               {"driver", Align::left}});
  const auto devices = product::devices(context);
  for (const auto& each : devices)
    table.add({fmt::format("{}", fmt::join(each.device.processors, ", ")), each.device.model,
               each.engine, each.driver});
  if (devices.empty())
    return "\nno engine reaches a GPU or NPU here. A GPU with a Vulkan driver needs ONNX Runtime "
           "and\n"
           "its WebGPU plug-in: install both with 'pip install onnxruntime "
           "onnxruntime-ep-webgpu',\n"
           "then run 'millrace board' again; docs/installing.md has more\n";
  return "\n" + table.text();
}

/// When it runs layers on cores, if nobody names engines.
std::string cores_text(const product::EngineVersion& engine, bool is_first) {
  if (is_first) return "runs the cores by default";
  return engine.competes ? "competes with it" : "";
}

std::string engines_text(const product::Context& context) {
  Table engines({{"engine", Align::left}, {"version", Align::left}, {"", Align::left}});
  const std::vector<product::EngineVersion> all = product::engines(context);
  for (const product::EngineVersion& each : all)
    if (each.absent.empty())
      engines.add({each.name, each.version, cores_text(each, &each == &all.front())});
  std::string faster, others;
  for (const product::EngineVersion& each : all) {
    if (each.absent.empty()) continue;
    (each.competes ? faster : others) += fmt::format("{}: {}\n", each.name, each.absent);
  }
  if (!faster.empty())
    faster =
        "\nengines that can make this machine faster: with them, `plan` measures each layer in\n"
        "both ways and takes the faster one\n" +
        faster;
  return engines.text() + faster +
         (others.empty() ? "" : "\nengines that cannot start here\n" + others);
}

}  // namespace

std::string machine_text(const board::Board& board,
                         const std::optional<product::MeasuredPeaks>& measured,
                         const product::Context& context) {
  std::string text = machine_text(board) + "\n" + engines_text(context) + devices_text(context);
  if (measured)
    text += fmt::format("\neach processor alone\n{}\nall at once\n{}",
                        peaks_text(board.processors, measured->alone),
                        peaks_text(board.processors, measured->together));
  return text;
}

std::string boards_text() {
  Table table({{"board", Align::left}, {"name", Align::left}, {"processors", Align::left}});
  for (const std::string& name : board::shipped_boards()) {
    const board::Board board = board::find_board(name);
    table.add({name, board.name, processors_text(board)});
  }
  return table.text();
}

}  // namespace millrace::present
