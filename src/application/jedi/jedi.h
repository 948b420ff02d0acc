#pragma once
// Configurations of JEDI (libconfig's format) as they stand in the file: docs/applications.md.
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace millrace::application::jedi {

/// One application: its settings by key, without spaces around them.
class Instance {
 public:
  struct Setting {
    std::string text;
    unsigned line = 0;
  };
  Instance(std::string file, unsigned line) : file_(std::move(file)), line_(line) {}

  void add(const std::string& key, Setting setting) { settings_[key] = std::move(setting); }
  const std::map<std::string, Setting>& settings() const { return settings_; }
  bool has(const std::string& key) const { return settings_.contains(key); }
  /// Empty if it is not there.
  std::string text(const std::string& key) const;
  /// A whole number within these bounds; 0 if it is not there.
  std::int64_t count(const std::string& key, std::int64_t least, std::int64_t most) const;
  /// Separated by commas; empty if it is not there.
  std::vector<std::string> list(const std::string& key) const;
  std::vector<std::int64_t> counts(const std::string& key, std::int64_t most) const;
  /// InputError at the key's line, or the instance's.
  [[noreturn]] void fail(const std::string& key, const std::string& text) const;

 private:
  std::string file_;
  unsigned line_;
  std::map<std::string, Setting> settings_;
};

/// Whether JEDI's own applications have a class of this name; others are their users'.
bool is_own(const std::string& app_type);
/// Whether JEDI's own applications have it; if not, the nearest: "; did you mean 'batch'?".
struct Key {
  bool known = true;
  std::string near = {};
};
Key key_of(const std::string& name);

struct Configuration {
  std::string file;
  std::vector<Instance> instances;  // those that instance_num counts
  std::vector<std::string> notes;   // what was left out, one sentence each
};

/// Files may come from anywhere: at most 256 KiB, 32 levels and 64 instances; nothing is included.
/// InputError names file and line; of a key that JEDI does not have the nearest one, unless the
/// instance's application is not JEDI's own and may have keys of its own.
Configuration parse(const std::string& content, const std::string& file);
Configuration read(const std::filesystem::path& path);

}  // namespace millrace::application::jedi
