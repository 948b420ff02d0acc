#pragma once
// A plan or deployment as a program in C++, in a folder with all that it needs.
#include <filesystem>
#include <string>
#include <vector>

#include "product/context.h"

namespace millrace::product {

struct ProgramRequest {
  std::string file;              // a plan or a deployment
  std::string model = {};        // of a plan whose model is no longer where it was
  std::filesystem::path folder;  // to write; it may be there if it is empty
  /// All is simulated, at the times of the plans and tasks: it runs on any computer.
  bool timed = false;
  std::vector<std::string> libraries = {}, include_folders = {};  // that the tasks' sources need
  Context context = {};
};

struct WrittenProgram {
  std::string name;
  std::vector<std::filesystem::path> files;  // in the folder; main.cpp first
};

/// The program, the plan or deployment, models, and sources of tasks with what they include from
/// their own folder. InputError if a file is missing, if a task's function has no source, or if the
/// folder has files; then nothing is written.
WrittenProgram export_program(const ProgramRequest& request);

}  // namespace millrace::product
