#include "session.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <mutex>

#include "failure.h"
#include "text.h"

namespace millrace_onnxruntime {
namespace {

constexpr int oldest_that_keeps_rounding = 24;

/// A value that lies in memory of the caller.
Handle<OrtValue> value_at(const OrtLibrary& library, const MillraceTensor& tensor,
                          const void* memory) {
  const Api& api = library.api;
  return made(api, api.release_value, api.create_tensor, library.host.get(),
              const_cast<void*>(memory), tensor.bytes, tensor.shape,
              static_cast<Count>(tensor.rank), static_cast<int>(tensor.type));
}

TypeAndShape read_info(const Api& api, const OrtTensorInfo& info) {
  TypeAndShape result;
  check(api, api.element_type(&info, &result.type));
  Count count = 0;
  check(api, api.dimension_count(&info, &count));
  result.shape.resize(count);
  check(api, api.dimensions(&info, result.shape.data(), count));
  return result;
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
    std::vector<std::string> helpers;  // the library counts cores from 1
    for (std::size_t i = 1; i < cores.size(); ++i) helpers.push_back(std::to_string(cores[i] + 1));
    set("session.intra_op_thread_affinities", joined(helpers, ";"));
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
    __builtin_cpu_init();
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__builtin_cpu_supports("avx512vnni") != 0) return true;
    constexpr unsigned avx_vnni = 1u << 4;  // which not all compilers know by its name
    return __builtin_cpu_supports("avx2") != 0 && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 &&
           (a & avx_vnni) != 0;
  }();
  return has_vnni;
#else
  return true;
#endif
}

OnnxSession::OnnxSession(const Provider& provider, const MillraceSubnet& subnet,
                         const SessionOptions& options)
    : provider_(provider) {
  for (std::size_t i = 0; i < subnet.input_count; ++i) {
    inputs_.push_back({&subnet.tensors[subnet.inputs[i]]});
    input_names_.push_back(inputs_.back().tensor->name);
  }
  for (std::size_t i = 0; i < subnet.output_count; ++i) {
    outputs_.push_back({&subnet.tensors[subnet.outputs[i]]});
    output_names_.push_back(outputs_.back().tensor->name);
  }
  input_values_.resize(inputs_.size());
  output_values_.resize(outputs_.size());
  const auto turn = turn_of(provider_);
  create(subnet, options);
}

OnnxSession::~OnnxSession() {
  const auto turn = turn_of(provider_);
  session_.reset();
}

void OnnxSession::create(const MillraceSubnet& subnet, const SessionOptions& options) {
  OptionsMaker maker(*provider_.library);
  maker.use_threads(options.cores);
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
  append(provider_, std::max(1, static_cast<int>(options.cores.size())), maker.options());
  add_weights(subnet, maker.options());
  const Api& api = provider_.library->api;
  session_ = made(api, api.release_session, api.create_session_from_array,
                  static_cast<const OrtEnv*>(provider_.library->environment.get()),
                  subnet.onnx, subnet.onnx_bytes,
                  static_cast<const OrtSessionOptions*>(&maker.options()));
}

void OnnxSession::add_weights(const MillraceSubnet& subnet, OrtSessionOptions& options) {
  std::vector<const char*> names;
  std::vector<const OrtValue*> values;
  for (std::size_t i = 0; i < subnet.tensor_count; ++i) {
    const MillraceTensor& tensor = subnet.tensors[i];
    if (tensor.is_external == 0) continue;
    weights_.push_back(value_at(*provider_.library, tensor, tensor.data));
    names.push_back(tensor.name);
    values.push_back(weights_.back().get());
  }
  if (names.empty()) return;
  const Api& api = provider_.library->api;
  check(api, api.add_external_initializers(&options, names.data(), values.data(), names.size()));
}

void OnnxSession::bind(BoundTensor& bound, const void* memory) const {
  if (bound.value && bound.memory == memory) return;
  bound.value = value_at(*provider_.library, *bound.tensor, memory);
  bound.memory = memory;
}

void OnnxSession::run(const MillraceBuffer* in, const MillraceBuffer* out) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    bind(inputs_[i], in[i].handle);
    input_values_[i] = inputs_[i].value.get();
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    bind(outputs_[i], out[i].handle);
    output_values_[i] = outputs_[i].value.get();
  }
  const Api& api = provider_.library->api;
  const auto turn = turn_of(provider_);
  check(api, api.run(session_.get(), nullptr, input_names_.data(), input_values_.data(),
                     input_values_.size(), output_names_.data(), output_values_.size(),
                     output_values_.data()));
}

TypeAndShape OnnxSession::stated(std::size_t output) const {
  const Api& api = provider_.library->api;
  const auto type = made(api, api.release_type_info, api.output_type,
                         static_cast<const OrtSession*>(session_.get()), output);
  const OrtTensorInfo* info = nullptr;
  check(api, api.tensor_info(type.get(), &info));
  if (info == nullptr)
    throw LibraryFailure(std::string("its output '") + output_names_[output] + "' is no tensor");
  return read_info(api, *info);
}

std::vector<TypeAndShape> OnnxSession::made_by(const MillraceBuffer* in) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    bind(inputs_[i], in[i].handle);
    input_values_[i] = inputs_[i].value.get();
  }
  const Api& api = provider_.library->api;
  std::vector<OrtValue*> values(outputs_.size(), nullptr);
  const auto turn = turn_of(provider_);
  check(api, api.run(session_.get(), nullptr, input_names_.data(), input_values_.data(),
                     input_values_.size(), output_names_.data(), values.size(), values.data()));
  std::vector<Handle<OrtValue>> owned;
  for (OrtValue* const value : values) owned.emplace_back(value, api.release_value);
  std::vector<TypeAndShape> result;
  for (const Handle<OrtValue>& value : owned)
    result.push_back(read_info(api, *made(api, api.release_tensor_info, api.info_of_value,
                                          static_cast<const OrtValue*>(value.get()))));
  return result;
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

}  // namespace millrace_onnxruntime
