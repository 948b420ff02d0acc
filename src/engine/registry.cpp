#include "engine/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "base/file.h"
#include "base/split.h"
#include "engine/combined.h"
#include "engine/engine_list.h"
#include "engine/plugin/blob.h"
#include "engine/plugin/foreign.h"
#include "engine/plugin/places.h"
#include "engine/plugin/plugin.h"

namespace millrace::engine {

std::vector<std::string> engine_names() {
  std::vector<std::string> names;
  for (const Entry& entry : engine_list) names.emplace_back(entry.name);
  return names;
}

std::vector<AbsentEngine> absent_engines() {
  std::vector<AbsentEngine> absent;
  for (const AbsentEntry& entry : absent_list)
    absent.push_back({std::string(entry.name), std::string(entry.reason)});
  return absent;
}

namespace {

bool is_in_build(std::string_view name) {
  return std::ranges::any_of(engine_list, [&](const Entry& e) { return e.name == name; });
}

}  // namespace

std::vector<std::string> plugin_names(const EngineOptions& options) {
  std::vector<std::string> names = plugin::names_in_folders();
  for (const auto& [name, file] : options.libraries) names.push_back(name);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::erase_if(names, is_in_build);
  return names;
}

std::vector<std::string> names_here(const EngineOptions& options) {
  std::vector<std::string> names = engine_names();
  for (std::string& plugin : plugin_names(options)) names.push_back(std::move(plugin));
  return names;
}

formats::Foreign foreign_operators(const EngineOptions& options) {
  return {plugin::foreign_operators(options)};
}

namespace {

/// One of the build's, or a plug-in.
class Source {
 public:
  /// InputError with the nearest name if there is none.
  Source(std::string_view name, const EngineOptions& options);

  Verdict can_start() const {
    return entry_ != nullptr ? entry_->can_start(options_) : plugin::can_start(name_, options_);
  }
  std::unique_ptr<Engine> make() const {
    return entry_ != nullptr ? entry_->make(options_) : plugin::make(name_, options_);
  }
  std::vector<ReachedDevice> devices() const {
    return entry_ != nullptr ? entry_->devices(options_) : plugin::devices(name_, options_);
  }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  const EngineOptions& options_;
  const Entry* entry_ = nullptr;  // null: a plug-in
};

Source::Source(std::string_view name, const EngineOptions& options)
    : name_(name), options_(options) {
  std::vector<std::string_view> known;
  for (const Entry& entry : engine_list) {
    if (entry.name == name) {
      entry_ = &entry;
      return;
    }
    known.push_back(entry.name);
  }
  if (plugin::is_there(name_, options)) return;
  if (const std::string sdk = plugin::sdk_of_blobs(name_, options.blobs); !sdk.empty())
    throw InputError("engine " + name_,
                     fmt::format("the plan was compiled with version {} of it, here is none; "
                                 "install that version, or name its file with ⟨engine_library⟩ "
                                 "{}=FILE",
                                 sdk, name_));
  const std::vector<std::string> plugins = plugin_names(options);
  known.insert(known.end(), plugins.begin(), plugins.end());
  const std::string nearest = nearest_word(name, known);
  throw InputError("engine", fmt::format("there is no engine '{}' in this build; there are {}{}",
                                         name, fmt::join(known, ", "),
                                         nearest.empty() ? "" : "; did you mean " + nearest + "?"));
}

/// "onnxruntime@gpu0": the name first. InputError on empty words and names given twice.
std::vector<std::vector<std::string>> words_of(std::string_view names) {
  std::vector<std::vector<std::string>> result;
  for (const std::string& part : split(names, ',')) {
    std::vector<std::string> words = split(part, '@');
    if (std::ranges::any_of(words, &std::string::empty))
      throw InputError("engine", fmt::format("found '{}', expected names such as onednn or "
                                             "onednn,onnxruntime@gpu0",
                                             names));
    if (std::ranges::any_of(result, [&](const auto& other) { return other[0] == words[0]; }))
      throw InputError("engine", fmt::format("'{}' names {} twice; name it once", names, words[0]));
    result.push_back(std::move(words));
  }
  return result;
}

Member make_member(const std::vector<std::string>& words, const EngineOptions& options) {
  Member member;
  const std::string& name = words.front();
  member.processors.assign(words.begin() + 1, words.end());
  const Source source(name, options);
  if (const Verdict verdict = source.can_start(); !verdict)
    throw EngineError(fmt::format("the engine {} cannot start: {}", name, verdict.reason()));
  member.engine = source.make();
  return member;
}

/// Without what others reach already.
void add_devices(std::vector<ReachedDevice>& result, const Source& source,
                 std::span<const std::string> only) {
  if (!source.can_start()) return;
  for (ReachedDevice& reached : source.devices()) {
    std::erase_if(reached.device.processors, [&](const std::string& name) {
      const bool left_out = !only.empty() && std::ranges::find(only, name) == only.end();
      return left_out || std::ranges::any_of(result, [&](const ReachedDevice& other) {
               return std::ranges::find(other.device.processors, name) !=
                      other.device.processors.end();
             });
    });
    reached.engine = source.name();
    if (!reached.device.processors.empty()) result.push_back(std::move(reached));
  }
}

}  // namespace

bool names_plugin(std::string_view names) {
  return std::ranges::any_of(words_of(names),
                             [](const auto& words) { return !is_in_build(words.front()); });
}

Verdict can_start(std::string_view name, const EngineOptions& options) {
  return Source(name, options).can_start();
}

Verdict can_start_all(std::string_view names, const EngineOptions& options) {
  for (const auto& words : words_of(names))
    if (const Verdict verdict = Source(words.front(), options).can_start(); !verdict)
      return Verdict::no(fmt::format("{} cannot start: {}", words.front(), verdict.reason()));
  return Verdict::yes();
}

std::unique_ptr<Engine> make_engine(std::string_view name, const EngineOptions& options) {
  std::vector<Member> members;
  for (const auto& words : words_of(name)) members.push_back(make_member(words, options));
  if (members.size() == 1 && members.front().processors.empty())
    return std::move(members.front().engine);
  return make_combined_engine(std::move(members));
}

std::vector<std::string> processors_named(std::string_view names) {
  std::vector<std::string> result;
  for (const auto& words : words_of(names))
    std::copy_if(words.begin() + 1, words.end(), std::back_inserter(result),
                 [](const std::string& word) { return word != on_cores; });
  return result;
}

std::vector<ReachedDevice> reached_devices(std::string_view names, const EngineOptions& options) {
  std::vector<ReachedDevice> result;
  if (names.empty()) {
    for (const Entry& entry : engine_list) add_devices(result, Source(entry.name, options), {});
    return result;
  }
  for (const auto& words : words_of(names))
    add_devices(result, Source(words.front(), options), std::span(words).subspan(1));
  return result;
}

std::string engine_for(const network::Network& network, std::span<const LayerId> layers,
                       const board::Processor& processor) {
  std::string refusal = "there is no engine but the simulated one in this build";
  for (const Entry& entry : engine_list) {
    if (entry.name == "simulated" || !entry.can_start({})) continue;
    const auto engine = entry.make({});
    const auto refused = std::find_if(layers.begin(), layers.end(), [&](LayerId layer) {
      return !engine->supports(network, layer, processor);
    });
    if (refused == layers.end()) return engine->name();
    refusal =
        fmt::format("{} does not run layer '{}' on {}: {}", engine->name(), network[*refused].name,
                    processor.name, engine->supports(network, *refused, processor).reason());
  }
  throw InputError(network.name, "no engine computes all that is needed here: " + refusal);
}

}  // namespace millrace::engine
