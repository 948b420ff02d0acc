#pragma once
// From a subnet to a blob: of a bundle, of the cache, or compiled.
#include <mutex>

#include "engine/plugin/blob.h"
#include "engine/plugin/program.h"

namespace millrace::engine::plugin {

/// Thread-safe.
class Compiler {
 public:
  Compiler(std::shared_ptr<const Instance> instance, const EngineOptions& options);

  /// The blob of the source's subnet. InputError for a bundle's blob of another version or device,
  /// or a damaged one; EngineError if the plug-in fails, hangs, or somebody ended it.
  std::string blob_of(const ProgramSource& source);

 private:
  struct Compiling;
  std::string compile(const ProgramSource& source, const BlobIdentity& identity);
  std::optional<std::string> find(const BlobIdentity& identity) const;

  std::shared_ptr<const Instance> instance_;  // sharers: the engine, its subnets
  EngineOptions options_;
  BlobCache cache_;
  std::mutex mutex_;  // around what the options are told
};

}  // namespace millrace::engine::plugin
