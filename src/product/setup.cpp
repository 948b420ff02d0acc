#include "product/setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "board/instruction_sets.h"
#include "board/limits/usable_memory.h"
#include "board/shipped.h"
#include "engine/competing.h"
#include "product/cache.h"

namespace millrace::product {

std::vector<board::Precision> precisions_of(const VariantOptions& options) {
  return options.precisions.empty() ? std::vector{board::Precision::f32} : options.precisions;
}

std::string precisions_text(const VariantOptions& options) {
  std::string text;
  for (const board::Precision each : precisions_of(options))
    text += (text.empty() ? "" : "+") + board::to_text(each);
  return text;
}

namespace {

/// Whether the processors asked for are all among the cores.
bool wants_only_cores(const Setup& setup) {
  return !setup.processors.empty() &&
         std::ranges::all_of(setup.processors,
                             [](const std::string& name) { return name.starts_with("core"); });
}

}  // namespace

board::Board this_machine_with(const std::string& engines,
                               const millrace::Context& context) {
  board::Board board = board::this_machine();
  if (engines.empty()) return board;
  for (engine::ReachedDevice& reached :
       engine::reached_devices(engines, measuring_options(context)))
    board::add_reached(board, std::move(reached.device), reached.board_memory);
  return board;
}

std::string architecture_of(const millrace::Context& context) {
  return context.architecture.empty() ? board::architecture() : context.architecture;
}

std::string engine_of(const Setup& setup) {
  if (!setup.engine.empty()) return setup.engine;
  const std::string architecture = architecture_of(setup.context);
  const engine::EngineOptions options = measuring_options(setup.context);
  std::vector<engine::ReachedDevice> reached;
  if (!wants_only_cores(setup)) reached = engine::reached_devices({}, options);
  std::vector<engine::EngineHere> here;
  for (const std::string& name : engine::engine_names()) {
    engine::EngineHere engine{name};
    for (const engine::ReachedDevice& each : reached)
      if (each.engine == name)
        engine.processors.insert(engine.processors.end(), each.device.processors.begin(),
                                 each.device.processors.end());
    const bool competes =
        engine::competes_on(architecture, name) && engine::can_start(name, options);
    if (here.empty() || competes || !engine.processors.empty()) here.push_back(std::move(engine));
  }
  return engine::default_engines(architecture, here);
}

std::unique_ptr<engine::Engine> make_engine(const Setup& setup) {
  return engine::make_engine(engine_of(setup), measuring_options(setup.context));
}

board::Board load_board(const Setup& setup, const std::string& of) {
  const board::Board board = !of.empty() ? board::find_board(of)
                             : wants_only_cores(setup)
                                 ? board::this_machine()
                                 : this_machine_with(engine_of(setup), setup.context);
  if (of.empty())
    for (const std::string& name : engine::processors_named(engine_of(setup)))
      if (std::ranges::find(board.processors, name, &board::Processor::name) ==
              board.processors.end() &&
          !wants_only_cores(setup))
        throw InputError("⟨engine⟩ " + setup.engine,
                         fmt::format("'{}' is not a processor of this machine; `millrace board` "
                                     "lists them",
                                     name));
  if (setup.processors.empty()) return board;
  const board::Board chosen = board::only(board, setup.processors);
  if (of.empty()) return chosen;
  for (const board::Processor& processor : chosen.processors)
    if (std::find(board.processors.begin(), board.processors.end(), processor) ==
        board.processors.end())
      throw InputError("⟨processors⟩ " + processor.name,
                       "cores can be joined on this machine only; in a board file, the device says "
                       "`together: true`");
  return chosen;
}

namespace {

/// "NAME=VALUE".
std::pair<std::string, std::string> parts_of_setting(const std::string& text,
                                                     const std::string& option,
                                                     const std::string& example) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw InputError(option, fmt::format("found '{}', expected such as {}", text, example));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

void add_library(Context& context, const std::string& text) {
  const auto [engine, file] =
      parts_of_setting(text, "⟨engine_library⟩", "onnxruntime=/opt/ort/libonnxruntime.so");
  const std::vector<std::string> known = engine::engine_names();
  const bool is_plugin = std::ranges::find(known, engine) == known.end();
  std::error_code error;
  if (is_plugin && !std::filesystem::is_regular_file(file, error))
    engine::can_start(engine);  // refuses unknown names
  context.libraries[engine] = file;
  if (!is_plugin) return;
  if (const Verdict verdict = engine::can_start(engine, {.libraries = context.libraries}); !verdict)
    throw InputError("⟨engine_library⟩ " + text, verdict.reason());
}

void add_setting(Context& context, const std::string& text) {
  const std::string option = "⟨engine_option⟩", example = "onnxruntime.provider=xnnpack";
  const auto [name, value] = parts_of_setting(text, option, example);
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == name.size())
    throw InputError(option, fmt::format("found '{}', expected such as {}", text, example));
  // Refuses unknown names.
  engine::can_start(name.substr(0, dot), {.libraries = context.libraries});
  context.settings[name.substr(0, dot)][name.substr(dot + 1)] = value;
}

LayerId layer_named(const network::Network& network, const std::string& name,
                    const std::string& option) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    if (network.layers[i].name == name) return LayerId(i);
    names.push_back(network.layers[i].name);
  }
  const std::string near = did_you_mean(name, names);
  throw InputError(option + " " + name,
                   fmt::format("is no layer of {}{}", network.name,
                               near.empty() ? "; `millrace inspect` lists them" : near));
}

}  // namespace millrace::product
