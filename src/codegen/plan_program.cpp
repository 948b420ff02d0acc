#include <fmt/format.h>

#include <algorithm>

#include "base/text/escape.h"
#include "codegen/program.h"
#include "codegen/text.h"

namespace millrace::codegen {
namespace {

constexpr std::string_view plan_main =
    R"code(// The network @NETWORK@ as a pipeline. Its stages, each with its processors and layers:
//
@STAGES@//
// The file @PLAN@ says this in detail, and is read when the program starts.
// 'millrace export --format cpp' wrote this program; it is yours to change.
#include <cstdlib>
#include <deque>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "application/frames/frames.h"
#include "base/error.h"
#include "board/board.h"
#include "engine/registry.h"
#include "plan/plan_file.h"
#include "product/open_model.h"
#include "product/pipeline.h"
#include "product/results.h"
#include "runtime/compare.h"

namespace {

namespace application = millrace::application;
namespace product = millrace::product;
namespace network = millrace::network;
namespace runtime = millrace::runtime;

constexpr const char* plan_file = PROGRAM_FOLDER "/@PLAN@";
constexpr double largest_difference = @TOLERANCE@;  // of outputs, as a share of the largest value
constexpr int outputs_differ = 1, wrong_input = 2, machine_failed = 3;  // exit codes

runtime::Result next_result(product::Pipeline& pipeline) {
  auto result = pipeline.next();
  if (!result) throw millrace::EngineError("the pipeline ended before all frames came out");
  return std::move(*result);
}

/// Every stage works on another frame. So frames go in as long as the pipeline takes them, and
/// results come out in order: a line of JSON for each.
void print_results(product::Pipeline& pipeline, const network::Network& network,
                   const application::Frames& frames) {
  std::deque<std::string> names;  // of the frames on their way
  std::optional<application::NamedFrame> next;
  std::size_t submitted = 0;
  for (std::size_t received = 0; received < frames.count; ++received) {
    while (submitted < frames.count) {
      if (!next) next = frames.at(submitted);
      if (!pipeline.session().submit_unless_result(next->inputs)) break;
      names.push_back(next->name);
      next.reset();
      ++submitted;
    }
    std::cout << product::json_line(network, names.front(), next_result(pipeline));
    names.pop_front();
  }
}

/// Whether the pipeline gives what the whole network gives, in one piece on the first core.
bool is_right(product::Pipeline& pipeline, const network::Network& network,
              const application::Frames& frames) {
  const auto engine = millrace::engine::make_engine(millrace::engine::engine_names().front());
  const auto machine = millrace::board::this_machine();
  runtime::Sequential whole(network, *engine, machine.processors.front());
  runtime::Frames expected, found;
  for (std::size_t i = 0; i < frames.count; ++i) {
    const application::NamedFrame frame = frames.at(i);
    expected.push_back(whole.run(frame.inputs));
    pipeline.submit(frame.inputs);
    found.push_back(next_result(pipeline).outputs);
  }
  const runtime::Comparison comparison = runtime::compare(expected, found);
  std::cout << frames.count << " frames differ by at most " << comparison.error
            << " of the largest value\n";
  return comparison.error <= largest_difference;
}

/// Shows what Millrace tells while it works.
class Notes final : public product::Listener {
  void note(const std::string& text) override { std::cerr << text << '\n'; }
};

struct Arguments {
  application::FrameOptions frames;
  bool check = false;
};

/// Nothing if they are not as the usage says.
std::optional<Arguments> arguments_of(const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--check")
      arguments.check = true;
    else if (words[i] == "--random" && i + 1 < words.size())
      arguments.frames.random = std::strtoll(words[++i].c_str(), nullptr, 10);
    else if (words[i].starts_with("--"))
      return std::nullopt;
    else
      arguments.frames.inputs.push_back(words[i]);
  }
  if (arguments.frames.inputs.empty() && arguments.frames.random <= 0) return std::nullopt;
  return arguments;
}

/// The exit code.
int run(const Arguments& arguments) {
  Notes notes;
  const network::Network network =
      product::open_model(product::model_of_plan(plan_file), {{.listener = &notes}});
  const auto plan = millrace::plan::read_plan(plan_file, network);
  const application::Frames frames = application::open_frames(network, arguments.frames, 1);
  auto pipeline = product::deploy(plan, network);
  if (arguments.check) return is_right(pipeline, network, frames) ? 0 : outputs_differ;
  print_results(pipeline, network, frames);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = arguments_of({argv + 1, argv + argc});
  if (!arguments) {
    std::cerr << "usage: @NAME@ [--check] --random COUNT | PICTURE_FOLDER | ARRAY.npy\n";
    return wrong_input;
  }
  try {
    return run(*arguments);
  } catch (const millrace::InputError& error) {
    std::cerr << "@NAME@: " << error.what() << '\n';
    return wrong_input;
  } catch (const std::exception& error) {
    std::cerr << "@NAME@: " << error.what() << '\n';
    return machine_failed;
  }
}
)code";

constexpr std::string_view plan_readme =
    R"readme(# @NAME@

The network @NETWORK@ as a pipeline, as `millrace export --format cpp` wrote it. Build the program
where Millrace is installed, test it, and run it:

```sh
cmake -S . -B build -DCMAKE_PREFIX_PATH=WHERE_MILLRACE_IS_INSTALLED
cmake --build build
ctest --test-dir build
build/@NAME@ --random 100     # random frames
build/@NAME@ PICTURES         # a folder of pictures, or an array in a .npy file
```

It prints a line of JSON for each frame, as `millrace run` does. With `--check` it compares the
outputs with those of the whole network on one core.

| exit code | |
| --- | --- |
| 0 | done |
| 1 | `--check`: the outputs differ |
| 2 | an argument or a file is wrong |
| 3 | the machine failed |

`main.cpp` is the program. `@PLAN@` says which layers run where.
)readme";

constexpr std::string_view plan_cmake =
    R"cmake(add_executable(@NAME@ main.cpp)
target_link_libraries(@NAME@ PRIVATE millrace::rooms)
target_compile_definitions(@NAME@ PRIVATE PROGRAM_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}")
target_compile_options(@NAME@ PRIVATE -Wall -Wextra)

enable_testing()
add_test(NAME outputs_are_right COMMAND @NAME@ --check --random 3)
)cmake";

/// "stage0 on core0: conv1 to fc (21 layers)".
std::string stage_text(const plan::Stage& stage, const network::Network& network) {
  std::string processors;
  for (const board::Processor& processor : stage.processors)
    processors += (processors.empty() ? "" : ", ") + processor.name;
  std::string phases;
  for (const plan::Phase& phase : stage.phases) {
    phases += phases.empty() ? "" : "; then ";
    if (phase.transfer) {
      const std::string& to = phase.transfer->to;
      phases += fmt::format("copy of {} to {}", network[phase.transfer->tensor].name,
                            to.empty() ? "the host" : to);
      continue;
    }
    phases += phase.layers.size() == 1
                  ? network[phase.layers.front()].name
                  : fmt::format("{} to {}, {} layers", network[phase.layers.front()].name,
                                network[phase.layers.back()].name, phase.layers.size());
    if (phase.batch > 1) phases += fmt::format(", {} frames at once", phase.batch);
  }
  return fmt::format("{} on {}: {}", stage.name, processors, phases);
}

/// The largest difference that its precisions explain.
double tolerance_of(const plan::Plan& plan) {
  double tolerance = 1e-3;
  for (const board::Variant& variant : plan.variants)
    if (variant.precision != board::Precision::f32)
      tolerance = std::max(tolerance, variant.precision == board::Precision::int8 ? 0.5 : 0.1);
  return tolerance;
}

}  // namespace

std::vector<ProgramFile> program_of(const PlanProgram& program) {
  std::string stages;
  for (const plan::Stage& stage : program.plan.stages)
    stages += comment(stage_text(stage, program.network));
  const std::string tolerance = fmt::format("{}", tolerance_of(program.plan));
  return {{"main.cpp", with(plan_main, {{"NETWORK", cpp_comment(program.network.name)},
                                        {"STAGES", stages},
                                        {"PLAN", program.file},
                                        {"TOLERANCE", tolerance},
                                        {"NAME", program.name}})},
          {"CMakeLists.txt", with(cmake_with_head(plan_cmake),
                                  {{"WHAT", "a network as a pipeline"}, {"NAME", program.name}})},
          {"README.md", with(plan_readme, {{"NETWORK", markdown_text(program.network.name)},
                                           {"PLAN", program.file},
                                           {"NAME", program.name}})}};
}

std::string program_name(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
    result += is_plain ? c : '_';
  }
  return result.empty() || result.front() == '-' || result.front() == '.' ? "program" + result
                                                                          : result;
}

}  // namespace millrace::codegen
