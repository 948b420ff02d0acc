#include "product/deployment/profile_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/yaml.h"
#include "board/power.h"
#include "explore/system/group_source.h"
#include "product/profile.h"
#include "product/setup.h"
#include "product/written_over.h"
#include "runtime/controller/graph_times.h"
#include "runtime/scheduling/thread_priority.h"
#include "runtime/sequential.h"
#include "system/system_file.h"
#include "system/task_times.h"

namespace millrace::product {
namespace {

/// What the groups' graphs need to be fired. Stays where it is.
class GraphsToTime {
 public:
  GraphsToTime(const board::Board& board, const Context& context)
      : board_(board), context_(context), networks_(context) {
    Setup setup;
    setup.context = context;
    setup.processors = {board.processors.front().name};
    engine_ = make_engine(setup);
  }

  void add(const system::Group& group, const TaskSources& sources) {
    const network::Network* network = group.has_network() ? &networks_.of(group.model) : nullptr;
    const GroupCode code = open_code(group, network, sources, context_);
    runtime::GroupToRun to_run;
    to_run.name = group.name;
    to_run.tasks = tasks_to_run(group.graph, code);
    to_run.token_bytes = code.token_bytes;
    std::vector<std::vector<std::size_t>> processors;
    for (const system::GraphTask& task : group.graph.tasks)
      processors.push_back(system::processors_of(task, board_));
    graphs_.push_back({group.graph, std::move(to_run), network ? runner(*network) : nullptr,
                       std::move(processors)});
    groups_.push_back(&group);
  }

  const std::vector<runtime::GraphToTime>& graphs() const { return graphs_; }
  const system::Group& group(std::size_t graph) const { return *groups_[graph]; }

 private:
  /// The whole network in one piece.
  runtime::RunNetwork runner(const network::Network& network) {
    auto whole =
        std::make_shared<runtime::Sequential>(network, *engine_, board_.processors.front());
    return [whole, &network](const runtime::Session::Fill& fill, const runtime::Session::Use& use) {
      std::vector<network::Buffer> memories;
      std::vector<std::span<std::byte>> inputs;
      for (const TensorId id : network.inputs) memories.emplace_back(network[id].size());
      for (network::Buffer& memory : memories) inputs.push_back(memory.bytes());
      fill(inputs);
      std::vector<network::Array> arrays;
      for (std::size_t i = 0; i < memories.size(); ++i) {
        const network::Tensor& tensor = network[network.inputs[i]];
        arrays.push_back(network::make_array(tensor.type, tensor.shape, std::move(memories[i])));
      }
      const std::vector<network::Array> results = whole->run(arrays);
      std::vector<std::span<const std::byte>> outputs;
      for (const network::Array& result : results) outputs.push_back(result.bytes());
      use(outputs);
    };
  }

  const board::Board& board_;
  const Context& context_;
  Networks networks_;
  std::unique_ptr<engine::Engine> engine_;
  std::vector<runtime::GraphToTime> graphs_;
  std::vector<const system::Group*> groups_;
};

explore::TaskProfile task_profile(const GraphsToTime& graphs, const board::Board& board,
                         const runtime::TaskSamples& found) {
  const system::Group& group = graphs.group(found.graph);
  const system::GraphTask& task = group.graph.tasks[found.task];
  return {group.name,
          task.name,
          task.code.function,
          board.processors[found.processor].name,
          profile::statistics_of(found.samples),
          std::ranges::min(found.samples)};
}

std::vector<explore::StepsProfile> measured_steps(const system::System& system,
                                                  const Context& context) {
  std::vector<explore::StepsProfile> result;
  for (const system::Group& group : system.groups)
    if (!group.application.empty())
      result.push_back({group.name, times_of_steps(open_steps(group, context))});
  return result;
}

/// Precisions of all groups that have the model: each once.
std::vector<board::Precision> precisions_of_model(const system::System& system,
                                                  const formats::ModelSource& model) {
  std::vector<board::Precision> result;
  for (const system::Group& group : system.groups)
    for (const board::Precision precision : group.precisions)
      if (group.model == model && std::ranges::count(result, precision) == 0)
        result.push_back(precision);
  return result;
}

std::vector<profile::Profile> measured_networks(const SystemProfileRequest& request,
                                                const system::System& system,
                                                const board::Board& board) {
  std::vector<profile::Profile> result;
  Networks networks(request.context);
  Setup setup;
  setup.context = request.context;
  bool is_assumed = false;  // as `deploy` has it, whose stored profiles are the same
  const board::Board used =
      board::only(board::with_assumed_power(board, is_assumed),
                  explore::processors_for_networks(board));
  for (const system::Group& group : system.groups) {
    if (!group.has_network()) continue;
    const network::Network& network = networks.of(group.model);
    ProfileSource source;
    source.fresh = request.fresh;
    source.context = request.context;
    source.measure.seed = request.seed;
    source.measure.precisions = precisions_of_model(system, group.model);
    const std::string hash = network::hash_of(network);
    if (std::ranges::find(result, hash, &profile::Profile::network) == result.end())
      result.push_back(load_profile(network, used, *make_engine(setup), source));
  }
  return result;
}

}  // namespace

bool is_system_file(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  std::error_code ignored;
  if ((ending != ".yaml" && ending != ".yml" && ending != ".json") ||
      !std::filesystem::is_regular_file(path, ignored))
    return false;
  const YamlNode root = read_yaml(path);
  return YamlView(root, path).is_map() && YamlView(root, path).has("groups");
}

std::vector<explore::TaskProfile> measured_tasks(const system::System& system,
                                                 const board::Board& board,
                                                 const MeasuringRequest& request,
                                                 const Context& context) {
  GraphsToTime graphs(board, context);
  for (const system::Group& group : system.groups)
    if (!group.graph.empty()) graphs.add(group, request.tasks);
  const auto shown = context.begin("measuring tasks");
  const Verdict allowed = runtime::may_have_priority(runtime::highest_priority);
  if (!allowed) context.note(allowed.reason());
  const InterruptGuard interrupt(context.interrupt);
  runtime::TaskTimesOptions options;
  options.samples = request.samples;
  options.between = [&] { interrupt.check(); };
  std::vector<explore::TaskProfile> result;
  for (const runtime::TaskSamples& found : runtime::measure_graphs(graphs.graphs(), board, options))
    result.push_back(task_profile(graphs, board, found));
  return result;
}

explore::SystemProfile profile_system(const SystemProfileRequest& request) {
  FilesRead files;
  files.add(system::read_system(request.system));
  files.add_plugins(request.measuring.tasks.libraries);
  files.add(request.context);
  files.refuse_unwritable({request.output});
  const system::System system = open_system(request.system);
  refuse_what_is_for_admission(system);
  if (!system.board.empty())
    throw InputError(request.system,
                     fmt::format("is for the board '{}', and times are measured on this machine; "
                                 "leave out 'board' to measure here",
                                 system.board));
  const board::Board board = board_of(system, request.context);
  explore::SystemProfile result{system.name, board::hash_of(board), {}, {}, {}};
  result.tasks = measured_tasks(system, board, request.measuring, request.context);
  result.steps = measured_steps(system, request.context);
  result.networks = measured_networks(request, system, board);
  if (!request.output.empty()) explore::write_system_profile(request.output, result);
  return result;
}

}  // namespace millrace::product
