#include "engine/cuda/library/convolutions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "engine/cuda/library/convolution_graph.h"
#include "engine/cuda/library/descriptor.h"

namespace millrace::engine::cuda {

struct PreparedConvolution::Plan {
  std::shared_ptr<const Dnn> dnn;                 // shared with Convolutions and the other plans
  std::shared_ptr<const ConvolutionGraph> graph;  // shared with the plans of this graph
  std::vector<Descriptor> config_parts;
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
bool is_exact_enough(const ConvolutionProblem& problem, const Descriptor& engine) {
  const auto told = engine.choices(dnn::engine_numerical_note, dnn::numerical_note_type,
                                   dnn::numerical_note_kinds);
  if (!told) return false;
  const std::vector<int>& notes = *told;
  if (has_note(notes, dnn::nondeterministic)) return false;
  if (has_note(notes, dnn::reduced_precision_reduction)) return false;
  if (problem.half || problem.allow_tensor_cores_for_float32) return true;
  for (const auto note : {dnn::tensor_core, dnn::down_convert_inputs, dnn::fft})
    if (has_note(notes, note)) return false;
  // Winograd's error grows with its tile; a tile of 4x4 is about as exact as a plain sum.
  return !has_note(notes, dnn::winograd) || has_note(notes, dnn::winograd_tile_4x4);
}

/// A setting of an engine: its kind, and what is chosen.
struct Knob {
  int type = 0;
  std::int64_t value = 0;
};

/// What makes a kernel of a problem: the engine, its settings, and for which of graph_forms().
struct KernelChoice {
  std::int64_t engine = -1;
  std::vector<Knob> knobs;
  std::size_t form = 0;
};

constexpr std::string_view name_start = "cudnn:engine ", form_start = " form=";

std::string name_of(const KernelChoice& choice) {
  std::string name = fmt::format("{}{}", name_start, choice.engine);
  for (const Knob& knob : choice.knobs) name += fmt::format(" k{}={}", knob.type, knob.value);
  if (choice.form > 0) name += fmt::format("{}{}", form_start, choice.form);
  return name;
}

/// Takes it from the text, and what stands before it: nothing if something else is there.
template <typename Number>
std::optional<Number> take_number(std::string_view& text, std::string_view before) {
  if (!text.starts_with(before)) return std::nullopt;
  text.remove_prefix(before.size());
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// Nothing for what name_of() does not write.
std::optional<KernelChoice> parsed_name(const std::string& name) {
  std::string_view rest = name;
  const auto engine = take_number<std::int64_t>(rest, name_start);
  if (!engine) return std::nullopt;
  KernelChoice choice{*engine, {}, 0};
  while (rest.starts_with(" k")) {
    const auto type = take_number<int>(rest, " k");
    const auto value = type ? take_number<std::int64_t>(rest, "=") : std::nullopt;
    if (!value || choice.knobs.size() == dnn::knob_kinds) return std::nullopt;
    choice.knobs.push_back({*type, *value});
  }
  if (!rest.empty()) choice.form = take_number<std::size_t>(rest, form_start).value_or(0);
  if (name_of(choice) != name) return std::nullopt;
  return choice;
}

/// The graph of one of graph_forms().
struct FormGraph {
  std::size_t form = 0;
  std::vector<std::int64_t> tensors;
  std::shared_ptr<const ConvolutionGraph> graph;  // shared with the plans made of it
};

/// Nothing if the problem has no such form, or cuDNN refuses its graph.
std::optional<FormGraph> form_graph(const Dnn& library, const ConvolutionProblem& problem,
                                    std::size_t form) {
  const std::vector<GraphForm> forms = graph_forms(problem);
  if (form >= forms.size()) return std::nullopt;
  std::optional<ConvolutionGraph> graph = convolution_graph(library, problem, forms[form]);
  if (!graph) return std::nullopt;
  FormGraph result{form, {}, std::make_shared<const ConvolutionGraph>(std::move(*graph))};
  for (const GraphTensor tensor : graph_tensors(forms[form]))
    result.tensors.push_back(static_cast<std::int64_t>(tensor));
  return result;
}

/// Finalized. cuDNN does not promise that it keeps its parts: the engine, then its settings.
struct Configuration {
  std::vector<Descriptor> parts;
  Descriptor config;

  const Descriptor& engine() const { return parts.front(); }
};

/// Nothing if cuDNN refuses it. EngineError where it refuses a single attribute.
std::optional<Configuration> configured(const Dnn& library, const ConvolutionGraph& graph,
                                        const KernelChoice& choice) {
  std::vector<Descriptor> parts;
  Descriptor& engine = parts.emplace_back(library, dnn::engine_descriptor);
  engine.set_descriptor(dnn::engine_operation_graph, graph.graph.get());
  engine.set_integer(dnn::engine_global_index, choice.engine);
  if (!engine.finalized()) return std::nullopt;
  Descriptor config(library, dnn::engine_config_descriptor);
  config.set_descriptor(dnn::config_engine, engine.get());
  std::vector<DnnDescriptor> knobs;
  for (const auto& [type, value] : choice.knobs) {
    Descriptor& knob = parts.emplace_back(library, dnn::knob_choice_descriptor);
    knob.set_choice(dnn::knob_choice_type, dnn::knob_type_type, type);
    knob.set_integer(dnn::knob_choice_value, value);
    if (!knob.finalized()) return std::nullopt;
    knobs.push_back(knob.get());
  }
  if (!knobs.empty()) config.set_descriptors(dnn::config_knob_choices, knobs);
  if (!config.finalized()) return std::nullopt;
  return Configuration{std::move(parts), std::move(config)};
}

KernelChoice choice_of(const Configuration& configuration, std::size_t form) {
  KernelChoice choice{
      configuration.engine().integer(dnn::engine_global_index).value_or(-1), {}, form};
  // cuDNN does not say beforehand how many they are.
  for (const Descriptor& knob : configuration.config.descriptors(
           dnn::config_knob_choices, dnn::knob_choice_descriptor, dnn::knob_kinds)) {
    const auto type = knob.choices(dnn::knob_choice_type, dnn::knob_type_type, 1);
    const auto value = knob.integer(dnn::knob_choice_value);
    if (type && !type->empty() && value) choice.knobs.push_back({type->front(), *value});
  }
  return choice;
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

/// Null if cuDNN cannot build it.
std::shared_ptr<const PreparedConvolution> built_kernel(const std::shared_ptr<const Dnn>& library,
                                                        const FormGraph& graph,
                                                        Configuration configuration,
                                                        std::string name) {
  std::optional<Descriptor> plan = built_plan(*library, configuration.config);
  if (!plan) return nullptr;
  const std::int64_t workspace = plan->integer(dnn::plan_workspace_size).value_or(-1);
  if (workspace < 0) return nullptr;
  return std::make_shared<const PreparedConvolution>(std::make_unique<const DnnPlan>(DnnPlan{
      library, graph.graph, std::move(configuration.parts), std::move(configuration.config),
      std::move(*plan), graph.tensors, static_cast<std::size_t>(workspace), std::move(name)}));
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
    const std::size_t forms = graph_forms(problem_).size();
    for (std::size_t form = 0; form < forms && plans_.empty(); ++form)
      if (const auto graph = form_graph(*library_, problem_, form)) search(*graph);
    return std::move(plans_);
  }

 private:
  void search(const FormGraph& graph) {
    for (const auto mode : {dnn::heuristic_a, dnn::heuristic_fallback}) {
      if (plans_.size() >= most_) return;
      for (Descriptor& config : proposed_configs(*library_, *graph.graph, mode))
        if (plans_.size() < most_) try_config(graph, std::move(config));
    }
  }

  void try_config(const FormGraph& graph, Descriptor config) {
    std::vector<Descriptor> engine =
        config.descriptors(dnn::config_engine, dnn::engine_descriptor, 1);
    if (engine.empty() || !is_exact_enough(problem_, engine.front())) return;
    Configuration configuration{std::move(engine), std::move(config)};
    std::string name = name_of(choice_of(configuration, graph.form));
    const bool known =
        std::ranges::any_of(plans_, [&](const auto& plan) { return plan->kernel() == name; });
    if (known) return;
    auto kernel = built_kernel(library_, graph, std::move(configuration), std::move(name));
    if (kernel && kernel->workspace() <= workspace_limit_) plans_.push_back(std::move(kernel));
  }

  const std::shared_ptr<const Dnn> library_;
  const ConvolutionProblem& problem_;
  const std::size_t most_, workspace_limit_;
  Plans plans_;
};

/// Null if cuDNN cannot build it, or it is not what PlanSearch would take.
std::shared_ptr<const PreparedConvolution> rebuilt(const std::shared_ptr<const Dnn>& library,
                                                   const ConvolutionProblem& problem,
                                                   const KernelChoice& choice) {
  const std::optional<FormGraph> graph = form_graph(*library, problem, choice.form);
  if (!graph) return nullptr;
  std::optional<Configuration> configuration = configured(*library, *graph->graph, choice);
  if (!configuration || !is_exact_enough(problem, configuration->engine())) return nullptr;
  return built_kernel(library, *graph, std::move(*configuration), name_of(choice));
}

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
  Descriptor pack(*plan.dnn, dnn::variant_pack_descriptor);
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
  const Dnn& library = *plan_->dnn;
  const Descriptor pack = variant_pack(*plan_, buffers);
  const std::lock_guard<std::mutex> lock(library.lock());
  library.check(library.functions().set_stream(library.handle(), stream));
  library.check(library.functions().execute(library.handle(), plan_->plan.get(), pack.get()));
}

Convolutions::Convolutions(std::span<const std::filesystem::path> folders)
    : library_(std::make_shared<const Dnn>(folders)) {}

Convolutions::~Convolutions() = default;

std::vector<std::string> convolution_libraries() { return {"libcudnn.so.9"}; }

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

std::shared_ptr<const PreparedConvolution> Convolutions::prepare(const ConvolutionProblem& problem,
                                                                 const std::string& kernel) {
  const std::optional<KernelChoice> choice = parsed_name(kernel);
  if (!choice || !is_sound_convolution(problem)) return nullptr;
  const std::lock_guard<std::mutex> lock(library_->lock());
  try {
    return rebuilt(library_, problem, *choice);
  } catch (const EngineError&) {
    // Where cuDNN refuses what a damaged name says depends on its version.
    return nullptr;
  }
}

}  // namespace millrace::engine::cuda
