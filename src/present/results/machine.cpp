#include "present/results/machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json_text.h"
#include "board/isolated_cores.h"
#include "board/shipped.h"
#include "present/description.h"
#include "present/results/board.h"
#include "present/results/roofline.h"

namespace millrace::present {
namespace {

using Json = nlohmann::json;
using engine::ReachedDevice;
using product::EngineVersion;

const Description<ReachedDevice>& device_fields() {
  static const Description<ReachedDevice> fields({
      {"processors", "processor",
       [](const ReachedDevice& each) {
         return Value{each.device.processors,
                      fmt::format("{}", fmt::join(each.device.processors, ", "))};
       },
       Align::left},
      {"model", "model", [](const ReachedDevice& each) { return each.device.model; }},
      {"engine", "reached by", &ReachedDevice::engine},
      {"driver", "driver", &ReachedDevice::driver},
      {"kind", nullptr, [](const ReachedDevice& each) { return to_text(each.device.kind); }},
      {"memory_bytes", nullptr, &ReachedDevice::memory},
  });
  return fields;
}

/// GPUs and NPUs, or how this machine's would be reached.
std::string devices_text(const std::vector<ReachedDevice>& devices) {
  if (!devices.empty()) return "\n" + device_fields().text(devices);
  return "\nno engine reaches a GPU or NPU here. A GPU with a Vulkan driver needs ONNX Runtime "
         "and\n"
         "its WebGPU plug-in: install both with 'pip install onnxruntime "
         "onnxruntime-ep-webgpu',\n"
         "then run 'millrace board' again; docs/installing.md has more\n";
}

Description<EngineVersion> engine_fields(const EngineVersion& first) {
  const auto if_present = [](const EngineVersion& each, bool present, const std::string& text) {
    return each.absent.empty() == present ? Value::word(text) : Value::absent();
  };
  /// When it runs layers on cores, if nobody names engines.
  const auto cores = [&](const EngineVersion& each) {
    if (&each == &first) return "runs the cores by default";
    return each.competes ? "competes with it" : "";
  };
  return Description<EngineVersion>({
      {"name", "engine", &EngineVersion::name},
      {"version", "version",
       [=](const EngineVersion& each) { return if_present(each, true, each.version); },
       Align::left},
      {"", "", cores},
      {"absent", nullptr,
       [=](const EngineVersion& each) { return if_present(each, false, each.absent); }},
      {"competes", nullptr, &EngineVersion::competes},
  });
}

std::string engines_text(const std::vector<EngineVersion>& all) {
  const Description<EngineVersion> fields = engine_fields(all.front());
  Table table = fields.table(std::vector<EngineVersion>{});
  std::string faster, others;
  for (const EngineVersion& each : all) {
    if (each.absent.empty()) fields.add(table, each);
    if (each.absent.empty()) continue;
    (each.competes ? faster : others) += fmt::format("{}: {}\n", each.name, each.absent);
  }
  if (!faster.empty())
    faster =
        "\nengines that can make this machine faster: with them, `plan` measures each layer in\n"
        "both ways and takes the faster one\n" +
        faster;
  return table.text() + faster +
         (others.empty() ? "" : "\nengines that cannot start here\n" + others);
}

/// A shipped board, by its own name.
struct Shipped {
  std::string name;
  board::Board board;
};

std::vector<Shipped> shipped_boards() {
  std::vector<Shipped> all;
  for (const std::string& name : board::shipped_boards())
    all.push_back({name, board::find_board(name)});
  return all;
}

const Description<Shipped>& shipped_fields() {
  const auto processors = [](const Shipped& each) {
    Json list = Json::array();
    for (const board::Processor& processor : each.board.processors)
      list.push_back(processor_json(processor));
    return Value{list, processors_text(each.board)};
  };
  static const Description<Shipped> fields({
      {"board", "board", &Shipped::name},
      {"name", "name", [](const Shipped& each) { return each.board.name; }},
      {"processors", "processors", processors, Align::left},
  });
  return fields;
}

}  // namespace

std::string board_json(const board::Board& board) {
  return json_document("board_report", board_fields(board));
}

std::string machine_text(const board::Board& board,
                         const std::optional<product::MeasuredPeaks>& measured,
                         const product::Context& context) {
  std::string text = machine_text(board) + "\n" + engines_text(product::engines(context)) +
                     devices_text(product::devices(context));
  if (const std::vector<int> isolated = board::isolated_cores(); !isolated.empty())
    text += fmt::format("\nisolated cores, which the controller may have: {}\n",
                        fmt::join(isolated, ", "));
  if (measured)
    text += fmt::format("\neach processor alone\n{}\nall at once\n{}",
                        peaks_text(board.processors, measured->alone),
                        peaks_text(board.processors, measured->together));
  return text;
}

std::string machine_json(const board::Board& board,
                         const std::optional<product::MeasuredPeaks>& measured,
                         const product::Context& context) {
  const std::vector<EngineVersion> engines = product::engines(context);
  Json fields = board_fields(board);
  fields["isolated_cores"] = board::isolated_cores();
  fields["engines"] = engine_fields(engines.front()).array(engines);
  fields["reached"] = device_fields().array(product::devices(context));
  for (std::size_t i = 0; measured && i < measured->alone.size(); ++i) {
    fields["processors"][i]["peaks_alone"] = peaks_json(measured->alone[i]);
    fields["processors"][i]["peaks"] = peaks_json(measured->together[i]);
  }
  return json_document("board_report", std::move(fields));
}

std::string boards_text() { return shipped_fields().text(shipped_boards()); }

std::string boards_json() {
  return json_document("boards", {{"boards", shipped_fields().array(shipped_boards())}});
}

std::string cache_json(const product::CacheContents& cache, const product::ClearedCache* cleared) {
  return json_document("cache", {{"folder", cache.folder ? Json(cache.folder->string()) : nullptr},
                                 {"profiles", cache.profiles},
                                 {"packed_weights", cache.packed.files},
                                 {"packed_weights_bytes", cache.packed.size.count},
                                 {"cleared", cleared != nullptr && !cleared->failed},
                                 {"left", cleared != nullptr ? cleared->left
                                                             : std::vector<std::string>()}});
}

std::string bundle_json(const std::string& folder, const product::Bundle& bundle) {
  Json files = Json::array();
  for (const auto& file : bundle.files) files.push_back(file.string());
  return json_document("bundle", {{"folder", folder}, {"files", files}});
}

}  // namespace millrace::present
