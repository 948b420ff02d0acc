#pragma once
// What whoever makes an engine may give it.
#include <filesystem>
#include <functional>
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
  /// What plug-ins compiled for a bundle, a file each; what is there is not compiled again. Empty:
  /// nothing.
  std::filesystem::path blobs = {};
  /// Told the name and the content of each such file that is used. One call at a time.
  std::function<void(const std::string& name, const std::string& file)> take_blob = {};
  /// Told how far a plug-in's compiler is, of 1; it ends if this gives false. One call at a time.
  std::function<bool(double share)> compiling = {};
};

/// For an engine that has no settings: InputError if one is given.
void refuse_settings(const EngineOptions& options, const std::string& engine);

}  // namespace millrace::engine
