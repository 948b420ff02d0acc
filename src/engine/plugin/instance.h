#pragma once
// A plug-in that was opened with the user's options.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "engine/options.h"
#include "engine/plugin/library.h"
#include "engine/plugin/worker.h"

namespace millrace::engine::plugin {

/// A device as the plug-in described it, checked.
struct PluginDevice {
  std::size_t index = 0;
  std::string name, model;
  std::int32_t kind = millrace_cores;
  std::uint32_t precisions = 0;
  bool times_layers = false, needs_thread = false, serialised = false, is_absent = false;
  bool joins = false, copies = false, signals = false;
  std::string driver;
  std::vector<std::string> spaces;
  bool reads_host() const;
  /// The memory in which it works, if it does not in the host's; else empty.
  std::string own_space() const { return reads_host() ? "" : spaces.front(); }
};

/// The plug-in said no when it was opened, though nothing that the user gave is wrong.
class CannotStart : public EngineError {
 public:
  using EngineError::EngineError;
};

/// An option of the user's is wrong.
class BadOption : public InputError {
 public:
  using InputError::InputError;
};

/// Thread-safe. Calls are limited in time.
class Instance {
 public:
  /// BadOption for options that the plug-in refuses, InputError for devices that are described
  /// wrongly, CannotStart with its reason, EngineError if it hangs.
  Instance(const Library& library, const EngineOptions& options);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  const Library& library() const { return library_; }
  const MillraceEngine& table() const { return *library_.table; }
  MillraceInstance* handle() const { return handle_; }
  const std::vector<PluginDevice>& devices() const { return devices_; }
  TimeLimit limit() const { return limit_; }
  /// Limit of run(): the user's; by default none on cores, where a loop is slow and never stuck.
  TimeLimit limit_of_compilers() const { return limit_ * 60; }
  TimeLimit limit_of_run(const PluginDevice& device) const;
  /// Version of what computes.
  const std::string& sdk() const { return sdk_; }
  /// The options that it was opened with: "key=value;".
  std::string options_text() const;
  /// "the plug-in npu in run() for npu0".
  std::string place(const std::string& function, const std::string& device) const;

 private:
  void take_devices(const MillraceOpening& opening);
  void close();

  const Library& library_;
  std::map<std::string, std::string> settings_;
  TimeLimit limit_{60};
  bool has_own_limit_ = false;  // the user's
  std::string sdk_;
  MillraceInstance* handle_ = nullptr;
  std::vector<PluginDevice> devices_;
};

/// The text that a plug-in wrote, within its bounds and printable; "no reason given" if none.
std::string text_of(const char (&text)[millrace_text_size]);

}  // namespace millrace::engine::plugin
