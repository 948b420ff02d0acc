#include "engine/plugin/instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/process/foreign_call.h"
#include "base/text/masked.h"
#include "engine/package_folders.h"
#include "engine/plugin/places.h"

namespace millrace::engine::plugin {
namespace {

constexpr const char* limit_key = "time_limit";

/// Takes the limit out of the settings: it is ours.
TimeLimit take_limit(std::map<std::string, std::string>& settings, const std::string& engine) {
  const auto at = settings.find(limit_key);
  if (at == settings.end()) return TimeLimit{60};
  char* end = nullptr;
  const double seconds = std::strtod(at->second.c_str(), &end);
  if (at->second.empty() || *end != 0 || !std::isfinite(seconds) || seconds < 0 || seconds > 1e6)
    throw BadOption("⟨engine_option⟩ " + engine + "." + limit_key,
                    fmt::format("found '{}', expected seconds such as 60, or 0 for no limit",
                                at->second));
  settings.erase(at);
  return TimeLimit{seconds};
}

/// What open() is given and answers; a call that hangs keeps it.
struct Opened {
  std::map<std::string, std::string> settings;
  std::string cache, library;
  std::vector<std::string> package_folders;
  std::vector<const char*> folder_names;
  std::vector<MillraceOption> options;
  MillraceOpening opening{};
};

std::string text_or_none(const char* text) { return text == nullptr ? "" : text; }

PluginDevice device_of(const MillraceDevice& device, std::size_t index) {
  PluginDevice result{index,
                      text_or_none(device.name),
                      text_or_none(device.model),
                      device.kind,
                      device.precisions,
                      device.times_layers != 0,
                      device.needs_thread != 0,
                      device.serialised != 0,
                      device.is_absent != 0,
                      device.joins != 0,
                      device.copies != 0,
                      device.signals != 0,
                      text_or_none(device.driver),
                      {}};
  for (std::size_t i = 0; i < device.space_count; ++i)
    result.spaces.push_back(text_or_none(device.spaces[i]));
  if (result.spaces.empty()) result.spaces.emplace_back("host");
  return result;
}

/// What is wrong with the description; empty: nothing.
std::string fault_of(const PluginDevice& device, const MillraceEngine& table) {
  if (device.name.empty()) return "has no name";
  if (device.model.empty()) return "has no model";
  if (device.kind < millrace_cores || device.kind > millrace_npu)
    return fmt::format("is of kind {}, expected cores, gpu or npu (0 to 2)", device.kind);
  if ((device.precisions & 0xfU) == 0) return "has no precision that is known";
  if (!device.reads_host() && !copies(table))
    return "does not read \"host\", but the plug-in lacks allocate(), release() or transfer()";
  return {};
}

}  // namespace

std::string text_of(const char (&text)[millrace_text_size]) {
  const std::string_view all(text, millrace_text_size);
  const std::string_view said = all.substr(0, std::min(all.find('\0'), all.size()));
  return said.empty() ? "no reason given" : masked(std::string(said));
}

bool PluginDevice::reads_host() const {
  return std::ranges::find(spaces, "host") != spaces.end();
}

Instance::Instance(const Library& library, const EngineOptions& options) : library_(library) {
  const auto opened = std::make_shared<Opened>();  // sharers: a call that hangs
  if (const auto at = options.settings.find(library.name); at != options.settings.end())
    settings_ = at->second;
  has_own_limit_ = settings_.contains(limit_key);
  limit_ = take_limit(settings_, library.name);
  opened->settings = settings_;
  if (!options.compiled.empty()) opened->cache = (options.compiled / library.name).string();
  for (const auto& [key, value] : opened->settings)
    opened->options.push_back({key.c_str(), value.c_str()});
  opened->library = library_of_sdk(library.name, options).string();
  for (const std::filesystem::path& folder : package_folders())
    opened->package_folders.push_back(folder.string());
  for (const std::string& folder : opened->package_folders)
    opened->folder_names.push_back(folder.c_str());
  opened->opening.size = sizeof(MillraceOpening);
  opened->opening.options = opened->options.data();
  opened->opening.option_count = opened->options.size();
  opened->opening.cache_folder = opened->cache.empty() ? nullptr : opened->cache.c_str();
  opened->opening.library = opened->library.empty() ? nullptr : opened->library.c_str();
  opened->opening.package_folders = opened->folder_names.data();
  opened->opening.package_folder_count = opened->folder_names.size();
  const std::int32_t failed = Worker().call(
      fmt::format("the plug-in {} in open()", library.name), limit_,
      [opened, &table = table()] { return table.open(&opened->opening); });
  if (failed == millrace_bad_option)
    throw BadOption("⟨engine_option⟩ of " + library.name, text_of(opened->opening.text));
  if (failed != 0) throw CannotStart(text_of(opened->opening.text));
  handle_ = opened->opening.instance;
  sdk_ = opened->opening.sdk == nullptr ? library.sdk : opened->opening.sdk;
  take_devices(opened->opening);
}

void Instance::take_devices(const MillraceOpening& opening) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < opening.device_count; ++i) {
    const PluginDevice device = device_of(opening.devices[i], i);
    std::string fault = fault_of(device, table());
    if (fault.empty() && !names.insert(device.name).second) fault = "is there twice";
    if (!fault.empty()) {
      close();
      throw InputError(library_.file.string(),
                       fmt::format("its device {} ('{}') {}; ask its maker to mend it", i,
                                   device.name, fault));
    }
    devices_.push_back(device);
  }
}

Instance::~Instance() { close(); }

void Instance::close() {
  const ForeignCall call(fmt::format("the plug-in {} in close()", library_.name));
  if (table().close != nullptr) table().close(handle_);
}

TimeLimit Instance::limit_of_run(const PluginDevice& device) const {
  return device.kind == millrace_cores && !has_own_limit_ ? TimeLimit{0} : limit_;
}

std::string Instance::options_text() const {
  std::string text;
  for (const auto& [key, value] : settings_) text += key + "=" + value + ";";
  return text;
}

std::string Instance::place(const std::string& function, const std::string& device) const {
  return fmt::format("the plug-in {} in {}() for {}", library_.name, function, device);
}

}  // namespace millrace::engine::plugin
