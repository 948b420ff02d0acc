#include "session.h"

#include "failure.h"
#include "toolkit.h"

namespace millrace_rknn {
namespace {

void check_call(int code, const char* function) {
  if (code < 0) throw SdkFailure(std::string(function) + ": " + meaning_of(code));
}

template <class Answer>
void ask(const Functions& functions, RknnContext context, Query what, Answer& answer) {
  check_call(functions.query(context, what, &answer, sizeof(Answer)), "rknn_query");
}

/// NCHW to NHWC, of one picture after the other.
void move_channels_last(const float* from, float* to, std::size_t count, std::size_t channels,
                        std::size_t places) {
  for (std::size_t start = 0; start < count; start += channels * places)
    for (std::size_t c = 0; c < channels; ++c)
      for (std::size_t i = 0; i < places; ++i)
        to[start + i * channels + c] = from[start + c * places + i];
}

void check_count(const char* what, std::size_t found, std::size_t expected) {
  if (found != expected)
    throw SdkFailure("the model has " + std::to_string(found) + " " + what + ", expected " +
                     std::to_string(expected));
}

}  // namespace

Session::Session(const Runtime& runtime, const Blob& blob, int core)
    : functions_(runtime.functions) {
  check_call(functions_.init(&context_, const_cast<char*>(blob.model.data()),
                             static_cast<std::uint32_t>(blob.model.size()), 0, nullptr),
             "rknn_init");
  try {
    check(blob);
    if (core >= 0 && functions_.set_cores != nullptr)
      check_call(functions_.set_cores(context_, 1 << core), "rknn_set_core_mask");
  } catch (...) {
    destroy();
    throw;
  }
}

Session::~Session() { destroy(); }

void Session::destroy() { functions_.destroy(context_); }

void Session::check(const Blob& blob) {
  Counts counts{};
  ask(functions_, context_, query_counts, counts);
  check_count("inputs", counts.inputs, blob.inputs.size());
  check_count("outputs", counts.outputs, blob.outputs.size());
  for (std::uint32_t i = 0; i < counts.inputs; ++i) {
    TensorAttributes info{};
    info.number = i;
    ask(functions_, context_, query_input, info);
    add_input(info, blob.inputs[i]);
  }
  for (std::uint32_t i = 0; i < counts.outputs; ++i) {
    TensorAttributes info{};
    info.number = i;
    ask(functions_, context_, query_output, info);
    const auto elements = static_cast<std::uint32_t>(elements_of(blob.outputs[i]));
    check_count("elements of an output", info.elements, elements);
    taken_.push_back({1, 1, i, nullptr, elements * static_cast<std::uint32_t>(sizeof(float))});
  }
  ask(functions_, context_, query_memory, memory_);
}

void Session::add_input(const TensorAttributes& info, const Sizes& shape) {
  const auto elements = static_cast<std::size_t>(elements_of(shape));
  check_count("elements of an input", info.elements, elements);
  Input& input = inputs_.emplace_back();
  if (info.order == channels_last && shape.size() == 4) {
    input.channels = static_cast<std::size_t>(shape[1]);
    input.places = static_cast<std::size_t>(shape[2] * shape[3]);
    const bool is_same = input.channels == 1 || input.places == 1;
    if (is_same) input.places = 0;
    if (!is_same) input.reordered.resize(elements);
  }
  const std::size_t bytes = elements * sizeof(float);
  if (!input.reordered.empty()) reordered_bytes_ += bytes;
  given_.push_back({info.number, nullptr, static_cast<std::uint32_t>(bytes), 0, element_float32,
                    shape.size() == 4 ? info.order : std::int32_t{no_order}});
}

void Session::run(const MillraceBuffer* in, const MillraceBuffer* out) {
  for (std::size_t i = 0; i < given_.size(); ++i) {
    given_[i].values = in[i].handle;
    std::vector<float>& reordered = inputs_[i].reordered;
    if (reordered.empty()) continue;
    move_channels_last(static_cast<const float*>(in[i].handle), reordered.data(), reordered.size(),
                       inputs_[i].channels, inputs_[i].places);
    given_[i].values = reordered.data();
  }
  for (std::size_t i = 0; i < taken_.size(); ++i) taken_[i].values = out[i].handle;
  const auto inputs = static_cast<std::uint32_t>(given_.size());
  const auto outputs = static_cast<std::uint32_t>(taken_.size());
  check_call(functions_.set_inputs(context_, inputs, given_.data()), "rknn_inputs_set");
  check_call(functions_.run(context_, nullptr), "rknn_run");
  check_call(functions_.get_outputs(context_, outputs, taken_.data(), nullptr), "rknn_outputs_get");
  check_call(functions_.release_outputs(context_, outputs, taken_.data()), "rknn_outputs_release");
}

}  // namespace millrace_rknn
