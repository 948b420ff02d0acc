#pragma once
// The shared library of a plug-in, checked.
#include <filesystem>
#include <string>

#include "millrace/engine.h"

namespace millrace::engine::plugin {

/// Loaded once in a process, and never unloaded: threads of its own may run its code.
struct Library {
  std::filesystem::path file;
  const MillraceEngine* table = nullptr;  // has all functions that must be there
  std::string name, sdk;
};

/// Whether it makes blobs; else it loads subnets.
bool compiles(const MillraceEngine& table);
/// Whether it moves tensors that it knows; else it copies bytes.
bool moves(const MillraceEngine& table);
/// Whether its devices may have memory of their own.
bool copies(const MillraceEngine& table);
/// Whether it knows the memory of other boards.
bool tells_memory(const MillraceEngine& table);

/// InputError naming the file if it is no library, has no function millrace_engine, was built for
/// another version, lacks a function, or has a name that is no name. Thread-safe.
const Library& load_library(const std::filesystem::path& file);

}  // namespace millrace::engine::plugin
