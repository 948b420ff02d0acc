// Subnets run by ONNX Runtime: on cores, on GPUs with Vulkan, and with the providers of a vendor.
// The library is loaded when the engine is opened; building needs neither it nor its headers.
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "devices.h"
#include "failure.h"
#include "outputs.h"
#include "qnn.h"
#include "questions.h"
#include "times.h"

using namespace millrace_onnxruntime;

struct MillraceInstance {
  std::vector<FoundDevice> devices;
  std::vector<MillraceDevice> described;
};

struct MillraceProgram {
  const MillraceSubnet* subnet;
  const Provider provider;
  std::vector<int> cores;
  OnnxSession session;
  FoundOutputs outputs;
  std::vector<GroupShare> shares;  // of the time of a run; empty: not known yet

  MillraceProgram(const Provider& with, const MillraceLoading& loading)
      : subnet(loading.subnet),
        provider(with),
        cores(loading.cores, loading.cores + loading.core_count),
        session(with, *loading.subnet, {cores, false, {}}) {}
};

namespace {

/// What `work` returns; a failure becomes a text.
template <class Work>
std::int32_t guarded(char (&text)[millrace_text_size], const Work& work) {
  const auto say = [&](const std::string& words, std::int32_t result) {
    std::strncpy(text, words.c_str(), millrace_text_size - 1);
    text[millrace_text_size - 1] = '\0';
    return result;
  };
  try {
    work();
    return millrace_done;
  } catch (const WrongSetting& wrong) {
    return say(wrong.what(), millrace_bad_option);
  } catch (const std::exception& error) {
    return say(error.what(), millrace_failed);
  }
}

MillraceDevice described(const FoundDevice& device) {
  MillraceDevice result{};
  const bool is_cores = device.kind == millrace_cores;
  result.name = device.name.c_str();
  result.model = device.model.c_str();
  result.driver = device.driver.c_str();
  result.kind = device.kind;
  result.precisions = 1u << millrace_f32;
  // OpenVINO makes one node of all layers.
  result.times_layers = is_cores && device.provider.settings.provider != "openvino";
  result.needs_thread = is_cores;
  result.serialised = device.provider.turns != nullptr;
  result.joins = device.provider.settings.provider == "cpu";
  return result;
}

std::int32_t open_engine(MillraceOpening* opening) {
  return guarded(opening->text, [&] {
    Provider provider;
    provider.settings = read_settings(*opening);
    const LoadedLibrary loaded = load_library(*opening);
    if (loaded.library == nullptr) throw LibraryFailure(loaded.reason);
    provider.library = loaded.library;
    if (opening->cache_folder != nullptr) provider.compiled = opening->cache_folder;
    if (provider.settings.provider == "qnn") use_qnn_package(provider, *opening);
    if (std::string reason = obstacle_to_append(provider); !reason.empty()) throw LibraryFailure(reason);
    auto instance = std::make_unique<MillraceInstance>();
    instance->devices = find_devices(provider, *opening);
    for (const FoundDevice& device : instance->devices)
      instance->described.push_back(described(device));
    opening->devices = instance->described.data();
    opening->device_count = instance->described.size();
    opening->sdk = loaded.library->version.c_str();
    opening->instance = instance.release();
  });
}

void close_engine(MillraceInstance* instance) { delete instance; }

std::int32_t answer(MillraceInstance* instance, MillraceQuestion* question) {
  return guarded(question->text, [&] {
    const Answer found = can_run(instance->devices[question->device].provider, *question->subnet);
    question->reason = found.reason;
    question->node = found.node;
    std::strncpy(question->text, found.text.c_str(), millrace_text_size - 1);
  });
}

/// The buffers between layers share memory in a way that the library does not tell.
void tell_memory(MillraceLoading& loading) {
  const MillraceSubnet& subnet = *loading.subnet;
  const std::set<std::int32_t> out(subnet.outputs, subnet.outputs + subnet.output_count);
  for (std::size_t i = 0; i < subnet.node_count; ++i)
    for (std::size_t j = 0; j < subnet.nodes[i].output_count; ++j)
      if (const std::int32_t id = subnet.nodes[i].outputs[j]; id >= 0 && !out.contains(id))
        loading.working_bytes += subnet.tensors[id].bytes;
  for (std::size_t i = 0; i < subnet.tensor_count; ++i)
    if (subnet.tensors[i].data != nullptr) loading.weight_bytes += subnet.tensors[i].bytes;
}

std::int32_t load(MillraceInstance* instance, MillraceLoading* loading) {
  return guarded(loading->text, [&] {
    const Provider& provider = instance->devices[loading->device].provider;
    auto program = std::make_unique<MillraceProgram>(provider, *loading);
    const MillraceSubnet& subnet = *loading->subnet;
    program->outputs = find_outputs(program->session, subnet);
    loading->outputs = program->outputs.tensors.data();
    loading->output_count = program->outputs.tensors.size();
    if (asks_for_outputs(subnet) && loading->size > offsetof(MillraceLoading, sizes))
      loading->sizes = program->outputs.sizes.data();
    tell_memory(*loading);
    loading->program = program.release();
  });
}

/// The time of a run, shared out by what a profile says.
void tell_times(const MillraceProgram& program, MillraceLayerTime* times, double nanoseconds) {
  for (const GroupShare& group : program.shares)
    for (const std::size_t layer : group.layers) {
      const bool is_first = layer == group.layers.front();
      times[layer] = {group.layers.front(),
                      is_first ? static_cast<std::int64_t>(nanoseconds * group.share) : 0,
                      group.kernel.c_str()};
    }
}

std::int32_t run(MillraceProgram* program, MillraceRun* run) {
  return guarded(run->text, [&] {
    if (program->subnet->output_count == 0) return;  // sessions refuse to run so
    if (run->times == nullptr) return program->session.run(run->inputs, run->outputs);
    if (program->shares.empty())
      program->shares = measure_shares(program->provider, *program->subnet, program->cores, *run);
    const auto start = std::chrono::steady_clock::now();
    program->session.run(run->inputs, run->outputs);
    const std::chrono::duration<double, std::nano> whole = std::chrono::steady_clock::now() - start;
    tell_times(*program, run->times, whole.count());
  });
}

void unload(MillraceProgram* program) { delete program; }

constexpr MillraceEngine make_table() {
  MillraceEngine engine{};
  engine.version = millrace_engine_version;
  engine.size = sizeof(MillraceEngine);
  engine.name = "onnxruntime";
  engine.sdk = "";
  engine.onnx = millrace_light_onnx;
  engine.open = open_engine;
  engine.close = close_engine;
  engine.can_run = answer;
  engine.load = load;
  engine.run = run;
  engine.unload = unload;
  return engine;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const MillraceEngine* millrace_engine(
    std::uint32_t version) {
  static constexpr MillraceEngine engine = make_table();
  return version == millrace_engine_version ? &engine : nullptr;
}
