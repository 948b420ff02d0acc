#include <fmt/format.h>

#include <algorithm>

#include "codegen/program.h"
#include "codegen/text.h"

namespace millrace::codegen {
namespace {

constexpr std::string_view plan_main =
    R"code(// The network @NETWORK@ as a pipeline, as 'millrace export --format cpp' wrote it:
//
@STAGES@//
// The file @PLAN@ says the same in detail. Change what you like.
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "api/frames.h"
#include "api/results.h"
#include "millrace.h"
#include "runtime/compare.h"

namespace {

namespace api = millrace::api;
namespace network = millrace::network;
namespace runtime = millrace::runtime;

constexpr const char* plan_file = PROGRAM_FOLDER "/@PLAN@";

/// Every stage works on another frame. So frames go in as long as the pipeline takes them, and
/// results come out in order: a line of JSON for each.
void run(millrace::Pipeline& pipeline, const network::Network& network, const api::Frames& frames) {
  std::deque<std::string> names;  // of the frames on their way
  std::optional<api::Frame> next;
  std::size_t submitted = 0;
  for (std::size_t received = 0; received < frames.count; ++received) {
    while (submitted < frames.count) {
      if (!next) next = frames.at(submitted);
      if (!pipeline.session().submit_unless_result(next->inputs)) break;
      names.push_back(next->name);
      next.reset();
      ++submitted;
    }
    const auto result = pipeline.next();
    if (!result) throw millrace::EngineError("the pipeline ended before all frames came out");
    std::fputs(api::json_line(network, names.front(), *result).c_str(), stdout);
    names.pop_front();
  }
}

/// Whether the pipeline gives what the whole network gives, in one piece on one core.
bool is_right(const millrace::plan::PlanFile& file, const network::Network& network,
              const api::Frames& frames) {
  const auto engine = millrace::engine::make_engine(millrace::engine::engine_names().front());
  runtime::Sequential whole(network, *engine, millrace::this_machine().processors.front());
  auto pipeline = millrace::deploy(file, network);
  runtime::Frames expected, found;
  for (std::size_t i = 0; i < frames.count; ++i) {
    const api::Frame frame = frames.at(i);
    expected.push_back(whole.run(frame.inputs));
    pipeline.submit(frame.inputs);
    found.push_back(pipeline.next()->outputs);
  }
  const runtime::Comparison comparison = runtime::compare(expected, found);
  std::printf("%zu frames differ by at most %g of the largest value\n", frames.count,
              comparison.error);
  return comparison.error <= @TOLERANCE@;
}

/// Says what is to be known while it works.
class Notes final : public api::Listener {
  void note(const std::string& text) override { std::fprintf(stderr, "%s\n", text.c_str()); }
};

struct Arguments {
  api::FrameOptions frames;
  bool check = false;
};

Arguments arguments_of(const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--check")
      arguments.check = true;
    else if (words[i] == "--random" && i + 1 < words.size())
      arguments.frames.random = std::atoll(words[++i].c_str());
    else
      arguments.frames.inputs.push_back(words[i]);
  }
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = arguments_of({argv + 1, argv + argc});
  if (arguments.frames.inputs.empty() && arguments.frames.random <= 0) {
    std::fprintf(stderr, "usage: @NAME@ [--check] --random COUNT | PICTURE_FOLDER | ARRAY.npy\n");
    return 2;
  }
  try {
    Notes notes;
    const network::Network network =
        millrace::open_model(api::model_of_plan(plan_file), {.listener = &notes});
    const auto file = millrace::plan::read_plan(plan_file, network);
    const api::Frames frames = api::open_frames(network, arguments.frames, 1);
    if (arguments.check) return is_right(file, network, frames) ? 0 : 1;
    auto pipeline = millrace::deploy(file, network);
    run(pipeline, network, frames);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "@NAME@: %s\n", error.what());
    return 3;
  }
}
)code";

constexpr std::string_view plan_cmake =
    R"cmake(add_executable(@NAME@ main.cpp)
target_link_libraries(@NAME@ PRIVATE millrace::millrace)
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
  return {{"main.cpp", with(plan_main, {{"NETWORK", plain(program.network.name)},
                                        {"STAGES", stages},
                                        {"PLAN", program.file},
                                        {"TOLERANCE", tolerance},
                                        {"NAME", program.name}})},
          {"CMakeLists.txt", with(cmake_with_head(plan_cmake),
                                  {{"WHAT", "a network as a pipeline"}, {"NAME", program.name}})}};
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
