#include "engine/plugin/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>
#include <system_error>

#include "base/error.h"
#include "base/files/regular_file.h"
#include "base/process/foreign_call.h"

namespace millrace::engine::plugin {
namespace {

namespace fs = std::filesystem;

constexpr const char* entry = "millrace_engine";

std::string last_loading_error() {
  const char* const text = dlerror();
  return text == nullptr ? "no reason given" : text;
}

/// Whether the table has the member, by its own size, and it is not null.
template <class Member>
bool has(const MillraceEngine& table, Member MillraceEngine::* member) {
  const auto* const base = reinterpret_cast<const char*>(&table);
  const auto* const place = reinterpret_cast<const char*>(&(table.*member));
  return place + sizeof(Member) <= base + table.size && table.*member != nullptr;
}

/// The first function that is missing; empty: none.
std::string missing_function(const MillraceEngine& table) {
  if (!has(table, &MillraceEngine::open)) return "open";
  if (!has(table, &MillraceEngine::can_run)) return "can_run";
  if (!has(table, &MillraceEngine::load)) return "load";
  if (!has(table, &MillraceEngine::run)) return "run";
  if (!has(table, &MillraceEngine::unload)) return "unload";
  if (compiles(table) && !has(table, &MillraceEngine::free_blob))
    return "free_blob";
  return {};
}

bool is_name(const char* text) {
  if (text == nullptr || *text == 0) return false;
  return std::ranges::all_of(std::string_view(text), [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_';
  });
}

void check_table(const std::string& place, const MillraceEngine* table) {
  if (table == nullptr)
    throw InputError(place, fmt::format("gives no functions for version {} of the interface; "
                                        "build it with the engine.h of this version",
                                        static_cast<int>(millrace_engine_version)));
  if (table->version != millrace_engine_version)
    throw InputError(place, fmt::format("was built for version {} of the interface, expected {}; "
                                        "build it again with the engine.h of this version",
                                        table->version, static_cast<int>(millrace_engine_version)));
  if (table->size > sizeof(MillraceEngine))
    throw InputError(place, fmt::format("its table of functions has {} bytes, expected at most {}; "
                                        "build it again with the engine.h of this version",
                                        table->size, sizeof(MillraceEngine)));
  if (const std::string missing = missing_function(*table); !missing.empty())
    throw InputError(place, fmt::format("its table has no function '{}'; ask its maker for it",
                                        missing));
  if (!is_name(table->name))
    throw InputError(place, "has no name of letters, digits and '_'; ask its maker for one");
}

Library load(const fs::path& file) {
  const std::string place = file.string();
  check_is_regular(file);  // a pipe would be waited for
  std::error_code error;
  if (!fs::exists(file, error))
    throw InputError(place, "is not there, expected an engine's shared library (.so)");
  // With a path, it is not looked for elsewhere.
  const ForeignCall call("the plug-in " + place + " while it was loaded");
  void* const library = dlopen(fs::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw InputError(place, fmt::format("cannot be loaded as an engine: {}", last_loading_error()));
  using Entry = const MillraceEngine* (*)(std::uint32_t);
  const auto function = reinterpret_cast<Entry>(dlsym(library, entry));
  if (function == nullptr)
    throw InputError(place, fmt::format("has no function '{}', which every engine exports; see "
                                        "docs/methods/plug-ins.md",
                                        entry));
  Library loaded{file, function(millrace_engine_version), {}, {}};
  check_table(place, loaded.table);
  loaded.name = loaded.table->name;
  if (loaded.table->sdk != nullptr) loaded.sdk = loaded.table->sdk;
  return loaded;
}

}  // namespace

bool compiles(const MillraceEngine& table) { return has(table, &MillraceEngine::compile); }
bool moves(const MillraceEngine& table) { return has(table, &MillraceEngine::move); }
bool copies(const MillraceEngine& table) {
  return has(table, &MillraceEngine::allocate) && has(table, &MillraceEngine::release) &&
         has(table, &MillraceEngine::transfer);
}
bool tells_memory(const MillraceEngine& table) { return has(table, &MillraceEngine::memory); }

const Library& load_library(const fs::path& file) {
  struct Libraries {
    std::mutex mutex;
    std::map<fs::path, Library> by_file;
  };
  // Never destroyed: engines may be used until the process ends.
  static Libraries& libraries = *new Libraries;
  const std::lock_guard lock(libraries.mutex);
  const auto at = libraries.by_file.find(file);
  if (at != libraries.by_file.end()) return at->second;
  return libraries.by_file.emplace(file, load(file)).first->second;
}

}  // namespace millrace::engine::plugin
