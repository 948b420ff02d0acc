#pragma once
// Task systems as people and other tools write them: YAML or JSON.
#include <filesystem>
#include <string>
#include <vector>

#include "base/yaml.h"
#include "realtime/task_system.h"

namespace millrace::realtime {

/// A file's unit of time.
struct TimeUnit {
  std::string name = "ns";  // empty: the file does not say
  std::int64_t ticks = 1;   // of the system's Time
};

struct TaskFile {
  TaskSystem system;
  TimeUnit unit;
  std::string note = {};  // what its words may mean elsewhere, for people; empty: nothing
};

/// "12.5" in the file's unit; "none" if there is no bound.
std::string to_text(Time time, const TimeUnit& unit);

/// docs/methods/realtime.md describes the form; systems as pyCPA and MAST describe them, with
/// `steps` or `scheduler`, are read too. InputError with file, line and field.
TaskFile read_task_file(const std::filesystem::path& path);
TaskFile task_file_of(const YamlNode& root, const std::string& file);

}  // namespace millrace::realtime
