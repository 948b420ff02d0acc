#pragma once
// What whoever makes an engine may give it.
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/store.h"

namespace millrace::engine {

struct EngineOptions {
  /// Packed weights of earlier runs, shared by all engines that keep theirs there. None: weights
  /// are packed anew by every engine object.
  std::shared_ptr<Store> packed = {};
  /// By engine: the file of the library that is loaded when it is asked for. None: it is looked for
  /// at the usual places.
  std::map<std::string, std::filesystem::path> libraries = {};
  /// By engine: what is passed on to its library, by the library's own names.
  std::map<std::string, std::map<std::string, std::string>> settings = {};
  /// Where engines keep what they have compiled, each in a folder of its own. Empty: nowhere.
  std::filesystem::path compiled = {};
};

/// Of an engine that has none: InputError if one is given.
void refuse_settings(const EngineOptions& options, const std::string& engine);

}  // namespace millrace::engine
