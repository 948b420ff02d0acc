#pragma once
// How long operations work, and who hears of it.
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/interrupt.h"
#include "base/operation/ranks.h"
#include "base/text/masked.h"

namespace millrace {

/// Work that takes a while; it ends with the object.
class Work {
 public:
  virtual ~Work() = default;
  /// `share` in [0, 1]; text such as the best so far.
  virtual void show(double /*share*/, const std::string& /*text*/) {}
};

/// Hears what the operations tell while they go on; this one passes it over. Called from one thread
/// at a time.
class OperationListener {
 public:
  virtual ~OperationListener() = default;
  virtual void note(const std::string& /*text*/) {}
  virtual std::unique_ptr<Work> begin(const std::string& /*title*/) {
    return std::make_unique<Work>();
  }
};

struct Context {
  bool cache = true;                      // read and write the cache folder
  OperationListener* listener = nullptr;  // borrowed; null: nobody
  Interrupt* interrupt = nullptr;         // borrowed; ends long work early; null: nobody does
  Ranks* ranks = nullptr;  // borrowed; who shares the searches of plans; null: nobody
  /// By engine: as in engine::EngineOptions.
  std::map<std::string, std::filesystem::path> libraries = {};
  std::map<std::string, std::map<std::string, std::string>> settings = {};
  /// As in engine::EngineOptions.
  std::filesystem::path blobs = {};
  /// Architecture of the cores, as board::architecture(), where engines are chosen by default.
  /// Empty: this machine's.
  std::string architecture = {};

  void note(const std::string& text) const {
    if (listener != nullptr) listener->note(masked(text));
  }
  std::unique_ptr<Work> begin(const std::string& title) const {
    return listener != nullptr ? listener->begin(title) : std::make_unique<Work>();
  }
};

}  // namespace millrace
