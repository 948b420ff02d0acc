#pragma once
// Tasks from shared libraries, ready to be fired by a group.
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "application/tasks/task.h"
#include "runtime/graph/firing.h"

namespace millrace::application {

struct LoadedTask {
  const Task* task = nullptr;
  std::shared_ptr<void>
      code;  // the open library, shared by all that may still call it; null: linked in
};

/// The object `FUNCTION_task` of the library. InputError naming the path if it is no library, has
/// no such object, or one that was made for another version of the interface or without a function.
LoadedTask load_task(const std::filesystem::path& library, const std::string& function);
/// Whether the library has it. InputError if it is no library.
bool has_task(const std::filesystem::path& library, const std::string& function);
/// InputError, with `place`, as load_task.
void check(const Task& task, const std::string& place, const std::string& function);

/// Its state and its library are there as long as what it makes.
runtime::TaskToRun code_of(const LoadedTask& loaded, const std::string& task,
                           const std::map<std::string, std::string>& parameters);

}  // namespace millrace::application
