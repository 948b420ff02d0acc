#include <fmt/format.h>

#include <set>

#include "base/text/escape.h"
#include "codegen/program.h"
#include "codegen/text.h"

namespace millrace::codegen {
namespace {

constexpr std::string_view deployment_main =
    R"code(// Tasks and networks of the system @TITLE@, each on its processor.
// Of each group: its period, its priority (a higher number comes first), where its tasks run.
//
@GROUPS@//
// The file @DEPLOYMENT@ says this in detail, and is read when the program starts.
// 'millrace export --format cpp' wrote this program; it is yours to change.
#include <cmath>
#include <cstdlib>
#include <exception>
#include <iomanip>
#include <iostream>
#include <string>

#include "application/tasks/task.h"
#include "base/error.h"
#include "product/deployment/run.h"
@DECLARATIONS@
namespace {

namespace product = millrace::product;
namespace runtime = millrace::runtime;

constexpr const char* deployment_file = PROGRAM_FOLDER "/@DEPLOYMENT@";
constexpr const char* scenario = @SCENARIO@;  // of the deployment; the program stays in it
constexpr double usual_seconds = 10;
constexpr int deadlines_missed = 1, wrong_input = 2, machine_failed = 3;  // exit codes

/// The tasks' functions, by the names that the deployment has for them.
millrace::application::TaskTable tasks() {
  return {@TABLE@};
}

/// Shows what Millrace tells while it works.
class Notes final : public product::Listener {
  void note(const std::string& text) override { std::cerr << text << '\n'; }
};

/// Runs all groups for so long.
product::DeploymentRun run(double seconds) {
  Notes notes;
  product::DeploymentRunRequest request;
  request.deployment = deployment_file;
  request.scenario = scenario;
  request.duration_s = seconds;
  request.tasks.linked = tasks();
  request.context.listener = &notes;
  return product::run_deployment(request);
}

/// A line for each group: its frames, and the longest response beside what was proven.
void print(const product::DeploymentRun& run) {
  std::cout << std::fixed << std::setprecision(3);
  for (std::size_t g = 0; g < run.record.groups.size(); ++g) {
    const runtime::GroupRecord& group = run.record.groups[g];
    std::cout << group.name << ": " << group.frames.due << " frames due, " << group.frames.done
              << " done, " << group.frames.skipped << " skipped, " << group.frames.missed
              << " after their deadlines";
    for (const runtime::OperationRecord& each : group.operations) {
      std::cout << "; the longest response took " << millrace::milliseconds(each.largest) << " ms";
      if (const auto bound = run.bound(g, each))
        std::cout << ", its bound is " << millrace::milliseconds(*bound) << " ms";
    }
    std::cout << '\n';
  }
}

/// 0 if the text is no time.
double seconds_in(const char* text) {
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  return *end == '\0' && std::isfinite(seconds) && seconds > 0 ? seconds : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? seconds_in(argv[1]) : usual_seconds;
  if (argc > 2 || seconds == 0) {
    std::cerr << "usage: @NAME@ [SECONDS]\n";
    return wrong_input;
  }
  try {
    const product::DeploymentRun finished = run(seconds);
    print(finished);
    return finished.missed() == 0 ? 0 : deadlines_missed;
  } catch (const millrace::InputError& error) {
    std::cerr << "@NAME@: " << error.what() << '\n';
    return wrong_input;
  } catch (const std::exception& error) {
    std::cerr << "@NAME@: " << error.what() << '\n';
    return machine_failed;
  }
}
)code";

constexpr std::string_view deployment_cmake =
    R"cmake(add_executable(@NAME@ main.cpp@SOURCES@)
target_link_libraries(@NAME@ PRIVATE millrace::rooms@LIBRARIES@)
@INCLUDES@target_compile_definitions(@NAME@ PRIVATE PROGRAM_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}")
target_compile_options(@NAME@ PRIVATE -Wall -Wextra)

enable_testing()
add_test(NAME frames_are_done COMMAND @NAME@ 2)
set_tests_properties(frames_are_done PROPERTIES PASS_REGULAR_EXPRESSION "[1-9][0-9]* done")
)cmake";

constexpr std::string_view deployment_readme =
    R"readme(# @NAME@

Tasks and networks under deadlines, as `millrace export --format cpp` wrote them. Build the program
where Millrace is installed, test it, and run it for a minute:

```sh
cmake -S . -B build -DCMAKE_PREFIX_PATH=WHERE_MILLRACE_IS_INSTALLED
cmake --build build
ctest --test-dir build
build/@NAME@ 60
```

It prints a line for each group: how many frames were due, done, skipped and late, and the longest
response beside its bound.

| exit code | |
| --- | --- |
| 0 | all deadlines were kept |
| 1 | a frame came after its deadline |
| 2 | an argument or a file is wrong |
| 3 | the machine or a task failed |

| file | |
| --- | --- |
| `main.cpp` | the program |
| `@DEPLOYMENT@` | what runs where, with which priority, and the proven bounds |
@FILES@
Groups get real-time priorities if the system allows it: `ulimit -r` says up to which.
)readme";

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
                        cpp_string(function), function);
  return text;
}

std::string words_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(" ").append(cmake_item(word));
  return text;
}

/// Rows of the table in the README.
std::string source_rows(const std::vector<std::string>& sources) {
  std::string text;
  for (const std::string& source : sources)
    text += fmt::format("| {} | functions of tasks |\n", markdown_text(source));
  return text;
}

}  // namespace

std::vector<ProgramFile> program_of(const DeploymentProgram& program) {
  const deployment::Deployment& deployment = program.deployment;
  const std::set<std::string> functions = functions_of(deployment.system);
  std::string groups;
  for (std::size_t g = 0; g < deployment.system.groups.size(); ++g)
    groups += comment(group_text(deployment, g));
  const std::string& scenario = deployment.system.scenarios.front().name;
  std::string includes;
  if (!program.include_folders.empty())
    includes = fmt::format("target_include_directories({} SYSTEM PRIVATE{})\n", program.name,
                           words_of(program.include_folders));
  return {{"main.cpp",
           with(deployment_main, {{"TITLE", cpp_comment(deployment.system.name)},
                                  {"GROUPS", groups},
                                  {"DECLARATIONS", declarations_of(functions)},
                                  {"TABLE", table_of(functions)},
                                  {"SCENARIO", cpp_string(scenario)},
                                  {"DEPLOYMENT", program.file},
                                  {"NAME", program.name}})},
          {"CMakeLists.txt",
           with(cmake_with_head(deployment_cmake), {{"WHAT", "tasks and networks under deadlines"},
                                                    {"SOURCES", words_of(program.sources)},
                                                    {"LIBRARIES", words_of(program.libraries)},
                                                    {"INCLUDES", includes},
                                                    {"NAME", program.name}})},
          {"README.md", with(deployment_readme, {{"FILES", source_rows(program.sources)},
                                                 {"DEPLOYMENT", program.file},
                                                 {"NAME", program.name}})}};
}

}  // namespace millrace::codegen
