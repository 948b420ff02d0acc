#pragma once
// Programs in C++ that run a plan or a deployment, as somebody would write them by hand with the
// library.
#include <string>
#include <vector>

#include "deployment/deployment.h"
#include "network/network.h"
#include "plan/plan.h"

namespace millrace::codegen {

/// A file of the program's folder.
struct ProgramFile {
  std::string path, text;
};

struct PlanProgram {
  std::string name;  // of the program
  std::string file;  // the plan, in the folder
  const plan::Plan& plan;
  const network::Network& network;
};
/// main.cpp, CMakeLists.txt and README.md.
std::vector<ProgramFile> program_of(const PlanProgram& program);

struct DeploymentProgram {
  std::string name;
  std::string file;                        // the deployment, in the folder
  const deployment::Deployment& deployment;
  std::vector<std::string> sources;        // of the tasks, in the folder
  std::vector<std::string> libraries, include_folders;  // that they need
};
std::vector<ProgramFile> program_of(const DeploymentProgram& program);

/// A name as a program, a target and a folder may have it: other characters than letters, digits,
/// '_', '-' and '.' become '_'.
std::string program_name(const std::string& text);

}  // namespace millrace::codegen
