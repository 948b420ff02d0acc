#include "engine/onnxruntime/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>

#include "board/instruction_sets.h"

namespace millrace::engine::onnxruntime {
namespace {

using network::DataType;
using network::Tensor;
constexpr int oldest_that_keeps_rounding = 24;

/// ONNX's numbers of the types.
int type_of(DataType type) {
  switch (type) {
    case DataType::float32:
      return 1;
    case DataType::uint8:
      return 2;
    case DataType::int8:
      return 3;
    case DataType::uint16:
      return 4;
    case DataType::int16:
      return 5;
    case DataType::int32:
      return 6;
    case DataType::int64:
      return 7;
    case DataType::boolean:
      return 9;
    case DataType::float16:
      return 10;
    case DataType::float64:
      return 11;
    case DataType::uint32:
      return 12;
    case DataType::uint64:
      return 13;
  }
  return 0;
}

/// A value that lies in memory of ours.
Handle<OrtValue> value_at(const OrtLibrary& library, const Tensor& tensor,
                          const std::byte* memory) {
  const Api& api = library.api;
  return made(api, api.release_value, api.create_tensor, library.host.get(),
              const_cast<void*>(static_cast<const void*>(memory)),
              static_cast<Count>(tensor.size().count), tensor.shape.data(), tensor.shape.size(),
              type_of(tensor.type));
}

class OptionsMaker {
 public:
  explicit OptionsMaker(const OrtLibrary& library)
      : api_(library.api),
        options_(made(api_, api_.release_session_options, api_.create_session_options)) {}

  void set(const std::string& key, const std::string& value) {
    check(api_, api_.add_config_entry(options_.get(), key.c_str(), value.c_str()));
  }

  /// The calling thread works too; helpers are bound to one core each. They spin for work while
  /// a run goes on, and not between runs, where others may need the core.
  void use_threads(const std::vector<int>& cores) {
    const int threads = std::max(1, static_cast<int>(cores.size()));
    check(api_, api_.set_intra_op_threads(options_.get(), threads));
    check(api_, api_.set_inter_op_threads(options_.get(), 1));
    if (threads == 1) return;
    std::vector<int> helpers;  // the library counts cores from 1
    for (std::size_t i = 1; i < cores.size(); ++i) helpers.push_back(cores[i] + 1);
    set("session.intra_op_thread_affinities", fmt::format("{}", fmt::join(helpers, ";")));
    set("session.force_spinning_stop", "1");
  }

  /// A question is only about the nodes, so that nothing is prepared for them.
  void only_question() {
    check(api_, api_.set_optimization_level(options_.get(), optimize_nothing));
    check(api_, api_.disable_cpu_memory_arena(options_.get()));
    set("session.disable_prepacking", "1");
  }

  OrtSessionOptions& options() { return *options_; }
  void profile(const std::filesystem::path& prefix) {
    check(api_, api_.enable_profiling(options_.get(), prefix.c_str()));
  }

 private:
  const Api& api_;
  Handle<OrtSessionOptions> options_;
};

std::unique_lock<std::mutex> turn_of(const Provider& provider) {
  return provider.turns == nullptr ? std::unique_lock<std::mutex>()
                                   : std::unique_lock(*provider.turns);
}

}  // namespace

bool multiplies_bytes_exactly() {
#if defined(__x86_64__)
  static const bool has_vnni = [] {
    const std::vector<std::string> sets = board::instruction_sets();
    return std::ranges::any_of(
        sets, [](const std::string& set) { return set == "avx512_vnni" || set == "avx_vnni"; });
  }();
  return has_vnni;
#else
  return true;
#endif
}

OnnxSession::OnnxSession(const Provider& provider, const SessionPart& part,
                         const SessionOptions& options)
    : provider_(provider) {
  const network::OnnxModel model =
      network::write_onnx(*part.network, part.part, {.weights_inside = false});
  const auto bound = [&](const std::vector<std::string>& names, std::span<const TensorId> tensors) {
    std::vector<BoundTensor> result;
    for (std::size_t i = 0; i < names.size(); ++i)
      result.push_back({names[i], &(*part.network)[tensors[i]]});
    return result;
  };
  inputs_ = bound(model.inputs, part.part.inputs);
  outputs_ = bound(model.outputs, part.part.outputs);
  for (const BoundTensor& input : inputs_) input_names_.push_back(input.name.c_str());
  for (const BoundTensor& output : outputs_) output_names_.push_back(output.name.c_str());
  input_values_.resize(inputs_.size());
  output_values_.resize(outputs_.size());
  const auto turn = turn_of(provider_);
  create(model, part, options);
}

OnnxSession::~OnnxSession() {
  const auto turn = turn_of(provider_);
  session_.reset();
}

void OnnxSession::create(const network::OnnxModel& model, const SessionPart& part,
                         const SessionOptions& options) {
  OptionsMaker maker(*provider_.library);
  maker.use_threads(options.processor.cores);
  if (options.only_question) maker.only_question();
  if (!options.profile_into.empty()) maker.profile(options.profile_into);
  // A node that runs elsewhere than it is said to would be a silent fallback.
  if (provider_.settings.provider != "cpu") maker.set("session.disable_cpu_ep_fallback", "1");
  // Joined with the layer between them, QuantizeLinear and DequantizeLinear make products of bytes.
  const bool keeps_bytes = provider_.settings.provider != "cpu" || multiplies_bytes_exactly();
  // Earlier versions take a QuantizeLinear and the DequantizeLinear after it for nothing.
  if (provider_.library->minor < oldest_that_keeps_rounding || !keeps_bytes)
    maker.set("session.disable_quant_qdq", "1");
  // Else two pairs of them with different scales become one, which rounds otherwise.
  maker.set("session.disable_double_qdq_remover", "1");
  for (const auto& [key, value] : provider_.settings.session) maker.set(key, value);
  append(provider_, std::max(1, static_cast<int>(options.processor.cores.size())), maker.options());
  add_weights(model, *part.network, maker.options());
  const Api& api = provider_.library->api;
  session_ = made(api, api.release_session, api.create_session_from_array,
                  static_cast<const OrtEnv*>(provider_.library->environment.get()),
                  static_cast<const void*>(model.bytes.data()), model.bytes.size(),
                  static_cast<const OrtSessionOptions*>(&maker.options()));
}

void OnnxSession::add_weights(const network::OnnxModel& model, const network::Network& network,
                              OrtSessionOptions& options) {
  std::vector<const char*> names;
  std::vector<const OrtValue*> values;
  for (const network::OnnxModel::Weight& weight : model.weights) {
    const Tensor& tensor = network[weight.tensor];
    weights_.push_back(value_at(*provider_.library, tensor, tensor.constant->memory->data()));
    names.push_back(weight.name.c_str());
    values.push_back(weights_.back().get());
  }
  if (names.empty()) return;
  const Api& api = provider_.library->api;
  check(api, api.add_external_initializers(&options, names.data(), values.data(), names.size()));
}

void OnnxSession::bind(BoundTensor& bound, const std::byte* memory) const {
  if (bound.value && bound.memory == memory) return;
  bound.value = value_at(*provider_.library, *bound.tensor, memory);
  bound.memory = memory;
}

void OnnxSession::run(std::span<const std::byte* const> in, std::span<std::byte* const> out) {
  for (std::size_t i = 0; i < in.size(); ++i) {
    bind(inputs_[i], in[i]);
    input_values_[i] = inputs_[i].value.get();
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    bind(outputs_[i], out[i]);
    output_values_[i] = outputs_[i].value.get();
  }
  const Api& api = provider_.library->api;
  const auto turn = turn_of(provider_);
  check(api, api.run(session_.get(), nullptr, input_names_.data(), input_values_.data(),
                     input_values_.size(), output_names_.data(), output_values_.size(),
                     output_values_.data()));
}

std::filesystem::path OnnxSession::end_profile() {
  const Api& api = provider_.library->api;
  OrtAllocator* allocator = nullptr;
  check(api, api.default_allocator(&allocator));
  char* name = nullptr;
  check(api, api.end_profiling(session_.get(), allocator, &name));
  const std::filesystem::path file = name;
  check(api, api.allocator_free(allocator, name));
  return file;
}

}  // namespace millrace::engine::onnxruntime
