#include <fmt/format.h>

#include <set>

#include "codegen/program.h"
#include "codegen/text.h"

namespace millrace::codegen {
namespace {

constexpr std::string_view deployment_main =
    R"code(// The deployment @TITLE@, as 'millrace export --format cpp' wrote it:
//
@GROUPS@//
// The file @DEPLOYMENT@ says the same in detail. Change what you like.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "application/tasks/task.h"
#include "millrace.h"
@DECLARATIONS@
namespace {

namespace api = millrace::api;
namespace runtime = millrace::runtime;

/// The functions of the tasks, by the names that the deployment has for them.
millrace::application::TaskTable tasks() {
  return {@TABLE@};
}

/// What came of each group's frames, and the bounds of their responses.
void print(const api::DeploymentRun& run) {
  for (std::size_t g = 0; g < run.record.groups.size(); ++g) {
    const runtime::GroupRecord& group = run.record.groups[g];
    std::printf("%s: %lld frames due, %lld done, %lld skipped, %lld after their deadlines",
                group.name.c_str(), static_cast<long long>(group.frames.due),
                static_cast<long long>(group.frames.done),
                static_cast<long long>(group.frames.skipped),
                static_cast<long long>(group.frames.missed));
    for (const runtime::OperationRecord& each : group.operations) {
      std::printf("; the longest response took %.3f ms", millrace::milliseconds(each.largest));
      if (const auto bound = run.bound(g, each))
        std::printf(", its bound is %.3f ms", millrace::milliseconds(*bound));
    }
    std::printf("\n");
  }
}

/// Says what is to be known while it works.
class Notes final : public api::Listener {
  void note(const std::string& text) override { std::fprintf(stderr, "%s\n", text.c_str()); }
};

}  // namespace

int main(int argc, char** argv) {
  Notes notes;
  api::DeploymentRunRequest request;
  request.context.listener = &notes;
  request.deployment = PROGRAM_FOLDER "/@DEPLOYMENT@";
  request.scenario = @SCENARIO@;
  request.tasks.linked = tasks();
  request.duration_s = argc > 1 ? std::atof(argv[1]) : 10;
  if (argc > 2 || request.duration_s <= 0) {
    std::fprintf(stderr, "usage: @NAME@ [SECONDS]\n");
    return 2;
  }
  try {
    const api::DeploymentRun run = api::run_deployment(request);
    print(run);
    return run.missed() == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "@NAME@: %s\n", error.what());
    return 3;
  }
}
)code";

constexpr std::string_view deployment_cmake =
    R"cmake(add_executable(@NAME@ main.cpp@SOURCES@)
target_link_libraries(@NAME@ PRIVATE millrace::millrace@LIBRARIES@)
@INCLUDES@target_compile_definitions(@NAME@ PRIVATE PROGRAM_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}")
target_compile_options(@NAME@ PRIVATE -Wall -Wextra)

enable_testing()
add_test(NAME frames_are_done COMMAND @NAME@ 2)
set_tests_properties(frames_are_done PROPERTIES PASS_REGULAR_EXPRESSION "[1-9][0-9]* done")
)cmake";

/// Its tasks with their processors.
std::string group_text(const deployment::Deployment& deployment, std::size_t g) {
  const system::System& system = deployment.system;
  const system::Group& group = system.groups[g];
  std::string tasks;
  for (const deployment::Task& task : deployment.assignments[g].tasks)
    if (task.firing == 0)
      tasks += fmt::format("{}{} on {}", tasks.empty() ? "" : ", ", task.name, task.processor);
  return fmt::format("{}, each {}, priority {}: {}", group.name,
                     millrace::to_text(period_of(system, system::GroupId(g), system.levels - 1)),
                     deployment.assignments[g].priority, tasks);
}

std::set<std::string> functions_of(const system::System& system) {
  std::set<std::string> functions;
  for (const system::Group& group : system.groups)
    for (const system::GraphTask& task : group.graph.tasks)
      if (!task.code.function.empty()) functions.insert(task.code.function);
  return functions;
}

std::string declarations_of(const std::set<std::string>& functions) {
  if (functions.empty()) return "";
  std::string text = "\nextern \"C\" {\n";
  for (const std::string& function : functions)
    text += fmt::format("extern const millrace::application::Task {}_task;\n", function);
  return text + "}\n";
}

std::string table_of(const std::set<std::string>& functions) {
  std::string text;
  for (const std::string& function : functions)
    text += fmt::format("{}{{{}, &{}_task}}", text.empty() ? "" : ",\n          ",
                        quoted(function), function);
  return text;
}

std::string words_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(" ").append(argument(word));
  return text;
}

}  // namespace

std::vector<ProgramFile> program_of(const DeploymentProgram& program) {
  const deployment::Deployment& deployment = program.deployment;
  const std::set<std::string> functions = functions_of(deployment.system);
  std::string groups;
  for (std::size_t g = 0; g < deployment.system.groups.size(); ++g)
    groups += comment(group_text(deployment, g));
  std::string includes;
  if (!program.include_folders.empty())
    includes = fmt::format("target_include_directories({} SYSTEM PRIVATE{})\n", program.name,
                           words_of(program.include_folders));
  return {{"main.cpp",
           with(deployment_main, {{"TITLE", plain(deployment.system.name)},
                                  {"GROUPS", groups},
                                  {"DECLARATIONS", declarations_of(functions)},
                                  {"TABLE", table_of(functions)},
                                  {"SCENARIO", quoted(deployment.system.scenarios.front().name)},
                                  {"DEPLOYMENT", program.file},
                                  {"NAME", program.name}})},
          {"CMakeLists.txt",
           with(cmake_with_head(deployment_cmake), {{"WHAT", "tasks and networks under deadlines"},
                                                    {"SOURCES", words_of(program.sources)},
                                                    {"LIBRARIES", words_of(program.libraries)},
                                                    {"INCLUDES", includes},
                                                    {"NAME", program.name}})}};
}

}  // namespace millrace::codegen
