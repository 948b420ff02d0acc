#include "engine/cuda/library/convolutions.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "engine/cuda/library/convolution_graph.h"
#include "engine/cuda/library/descriptor.h"

namespace millrace::engine::cuda {

struct PreparedConvolution::Plan {
  std::shared_ptr<const Dnn> library;             // shared with Convolutions and the other plans
  std::shared_ptr<const ConvolutionGraph> graph;  // shared with the plans of this graph
  Descriptor config, plan;
  std::vector<std::int64_t> tensors;
  std::size_t workspace = 0;
  std::string kernel;
};

namespace {

using DnnPlan = PreparedConvolution::Plan;

bool has_at_least(const std::vector<std::int64_t>& values, std::size_t count, std::int64_t least) {
  return values.size() == count &&
         std::ranges::all_of(values, [least](std::int64_t value) { return value >= least; });
}

/// Else cuDNN would refuse single attributes, as if we had made a mistake.
bool is_sound_convolution(const ConvolutionProblem& problem) {
  const std::size_t dimensions = problem.strides.size();
  if (dimensions < 1 || dimensions > 3) return false;
  for (const auto* shape : {&problem.x, &problem.w, &problem.y})
    if (!has_at_least(*shape, dimensions + 2, 1)) return false;
  for (const auto* factors : {&problem.strides, &problem.dilations})
    if (!has_at_least(*factors, dimensions, 1)) return false;
  for (const auto* pads : {&problem.pads_begin, &problem.pads_end})
    if (!has_at_least(*pads, dimensions, 0)) return false;
  // cuDNN finds the groups itself, from the channels.
  return problem.x[1] == problem.w[1] * problem.groups;
}

bool has_note(const std::vector<int>& notes, dnn::NumericalNote note) {
  return std::ranges::find(notes, static_cast<int>(note)) != notes.end();
}

/// Whether results are the same in each run, and as exact as the problem asks.
bool is_exact_enough(const ConvolutionProblem& problem, const std::vector<int>& notes) {
  if (has_note(notes, dnn::nondeterministic)) return false;
  if (has_note(notes, dnn::reduced_precision_reduction)) return false;
  if (problem.half || problem.allow_tensor_cores_for_float32) return true;
  for (const auto note : {dnn::tensor_core, dnn::down_convert_inputs, dnn::fft})
    if (has_note(notes, note)) return false;
  // Winograd's error grows with its tile; a tile of 4x4 is about as exact as a plain sum.
  return !has_note(notes, dnn::winograd) || has_note(notes, dnn::winograd_tile_4x4);
}

/// The engine of a configuration; nothing if cuDNN does not tell.
std::optional<Descriptor> engine_of(const Descriptor& config) {
  std::vector<Descriptor> engines =
      config.descriptors(dnn::config_engine, dnn::engine_descriptor, 1);
  if (engines.empty()) return std::nullopt;
  return std::move(engines.front());
}

std::string kernel_name(const Descriptor& config, const Descriptor& engine) {
  std::string name =
      fmt::format("cudnn:engine {}", engine.integer(dnn::engine_global_index).value_or(-1));
  for (const Descriptor& knob :
       config.descriptors(dnn::config_knob_choices, dnn::knob_choice_descriptor, dnn::knob_kinds)) {
    const auto type = knob.choices(dnn::knob_choice_type, dnn::knob_type_type, 1);
    const auto value = knob.integer(dnn::knob_choice_value);
    if (type && !type->empty() && value) name += fmt::format(" k{}={}", type->front(), *value);
  }
  return name;
}

/// Nothing if cuDNN cannot build it.
std::optional<Descriptor> built_plan(const Dnn& library, const Descriptor& config) {
  Descriptor plan(library, dnn::plan_descriptor);
  plan.set_handle(dnn::plan_handle);
  plan.set_descriptor(dnn::plan_engine_config, config.get());
  // Else each launch of a captured graph pays for keeping the plan alive, which its owner does.
  if (library.functions().version() >= dnn::graph_retention_version)
    plan.set_choice(dnn::plan_graph_retention, dnn::graph_retention_type, dnn::retain_nothing);
  if (!plan.finalized()) return std::nullopt;
  return plan;
}

std::vector<Descriptor> proposed_configs(const Dnn& library, const ConvolutionGraph& graph,
                                         dnn::HeuristicMode mode) {
  Descriptor heuristics(library, dnn::heuristics_descriptor);
  heuristics.set_descriptor(dnn::heuristics_graph, graph.graph.get());
  heuristics.set_choice(dnn::heuristics_mode, dnn::heuristic_mode_type, mode);
  if (!heuristics.finalized()) return {};
  return heuristics.descriptors(dnn::heuristics_results, dnn::engine_config_descriptor,
                                heuristics.count_of_descriptors(dnn::heuristics_results));
}

/// Collects the plans of one problem.
class PlanSearch {
 public:
  using Plans = std::vector<std::shared_ptr<const PreparedConvolution>>;

  PlanSearch(std::shared_ptr<const Dnn> library, const ConvolutionProblem& problem,
             std::size_t most, std::size_t workspace_limit)
      : library_(std::move(library)),
        problem_(problem),
        most_(most),
        workspace_limit_(workspace_limit) {}

  Plans search() {
    for (const GraphForm& form : graph_forms(problem_)) {
      search(form);
      if (!plans_.empty()) break;
    }
    return std::move(plans_);
  }

 private:
  void search(const GraphForm& form) {
    std::optional<ConvolutionGraph> built = convolution_graph(*library_, problem_, form);
    if (!built) return;
    const auto graph = std::make_shared<const ConvolutionGraph>(std::move(*built));
    for (const auto mode : {dnn::heuristic_a, dnn::heuristic_fallback}) {
      if (plans_.size() >= most_) return;
      for (Descriptor& config : proposed_configs(*library_, *graph, mode))
        if (plans_.size() < most_) try_config(form, graph, std::move(config));
    }
  }

  void try_config(const GraphForm& form, const std::shared_ptr<const ConvolutionGraph>& graph,
                  Descriptor config) {
    const std::optional<Descriptor> engine = engine_of(config);
    if (!engine) return;
    const auto notes = engine->choices(dnn::engine_numerical_note, dnn::numerical_note_type,
                                       dnn::numerical_note_kinds);
    if (!notes || !is_exact_enough(problem_, *notes)) return;
    std::string kernel = kernel_name(config, *engine);
    const bool known =
        std::ranges::any_of(plans_, [&](const auto& plan) { return plan->kernel() == kernel; });
    if (known) return;
    std::optional<Descriptor> plan = built_plan(*library_, config);
    if (!plan) return;
    const std::int64_t workspace = plan->integer(dnn::plan_workspace_size).value_or(-1);
    if (workspace < 0 || static_cast<std::size_t>(workspace) > workspace_limit_) return;
    std::vector<std::int64_t> tensors;
    for (const GraphTensor tensor : graph_tensors(form))
      tensors.push_back(static_cast<std::int64_t>(tensor));
    plans_.push_back(std::make_shared<const PreparedConvolution>(std::make_unique<const DnnPlan>(
        DnnPlan{library_, graph, std::move(config), std::move(*plan), std::move(tensors),
                static_cast<std::size_t>(workspace), std::move(kernel)})));
  }

  const std::shared_ptr<const Dnn> library_;
  const ConvolutionProblem& problem_;
  const std::size_t most_, workspace_limit_;
  Plans plans_;
};

void* pointer_to(Address address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

void* pointer_to(const ConvolutionBuffers& buffers, std::int64_t tensor) {
  switch (static_cast<GraphTensor>(tensor)) {
    case GraphTensor::x:
      return pointer_to(buffers.x);
    case GraphTensor::w:
      return pointer_to(buffers.w);
    case GraphTensor::y:
      return pointer_to(buffers.y);
    case GraphTensor::bias:
      return pointer_to(buffers.bias);
    case GraphTensor::residual:
      break;
  }
  return pointer_to(buffers.residual);
}

Descriptor variant_pack(const DnnPlan& plan, const ConvolutionBuffers& buffers) {
  std::vector<void*> pointers;
  for (const std::int64_t tensor : plan.tensors) pointers.push_back(pointer_to(buffers, tensor));
  void* const workspace = plan.workspace == 0 ? nullptr : pointer_to(buffers.workspace);
  Descriptor pack(*plan.library, dnn::variant_pack_descriptor);
  pack.set_pointers(dnn::variant_pointers, pointers);
  pack.set_integers(dnn::variant_unique_ids, plan.tensors);
  pack.set_pointers(dnn::variant_workspace, {&workspace, 1});
  pack.finalize();
  return pack;
}

}  // namespace

PreparedConvolution::PreparedConvolution(std::unique_ptr<const Plan> plan)
    : plan_(std::move(plan)) {}

PreparedConvolution::~PreparedConvolution() = default;

std::size_t PreparedConvolution::workspace() const { return plan_->workspace; }

const std::string& PreparedConvolution::kernel() const { return plan_->kernel; }

void PreparedConvolution::run(Stream stream, const ConvolutionBuffers& buffers) const {
  const Dnn& library = *plan_->library;
  const Descriptor pack = variant_pack(*plan_, buffers);
  const std::lock_guard<std::mutex> lock(library.lock());
  library.check(library.functions().set_stream(library.handle(), stream));
  library.check(library.functions().execute(library.handle(), plan_->plan.get(), pack.get()));
}

Convolutions::Convolutions(std::span<const std::filesystem::path> folders)
    : library_(std::make_shared<const Dnn>(folders)) {}

Convolutions::~Convolutions() = default;

std::string Convolutions::version() const {
  const std::size_t version = library_->functions().version();
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::vector<std::shared_ptr<const PreparedConvolution>> Convolutions::prepare(
    const ConvolutionProblem& problem, std::size_t most, std::size_t workspace_limit) {
  if (!is_sound_convolution(problem)) return {};
  const std::lock_guard<std::mutex> lock(library_->lock());
  return PlanSearch(library_, problem, most, workspace_limit).search();
}

}  // namespace millrace::engine::cuda
