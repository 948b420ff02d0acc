// Subnets run by Rockchip's NPUs: converted by rknn-toolkit2 on a PC or the board, run by
// librknnrt.so on the board. Each of the two may be missing.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "blob.h"
#include "conversion.h"
#include "failure.h"
#include "questions.h"
#include "runtime.h"
#include "session.h"
#include "settings.h"
#include "toolkit.h"

using namespace millrace_rknn;

struct MillraceInstance {
  NpuSettings settings;
  Toolkit toolkit;
  Runtime runtime;
  std::string sdk;
  std::string driver;
  std::vector<std::string> names;
  std::vector<MillraceDevice> devices;
};

struct MillraceProgram {
  Session session;
  Blob blob;
  std::vector<MillraceTensor> outputs;
};

namespace {

void say(char (&text)[millrace_text_size], const std::string& words) {
  std::strncpy(text, words.c_str(), millrace_text_size - 1);
  text[millrace_text_size - 1] = '\0';
}

/// What `work` returns; a failure becomes a text.
template <class Work>
std::int32_t guarded(char (&text)[millrace_text_size], const Work& work) {
  try {
    work();
    return millrace_done;
  } catch (const WrongSetting& wrong) {
    say(text, wrong.what());
    return millrace_bad_option;
  } catch (const std::exception& error) {
    say(text, error.what());
    return millrace_failed;
  }
}

/// The version of what computes. Both have to be of one release, if both are there.
std::string sdk_of(const NpuSettings& settings, const Toolkit& toolkit, const Runtime& runtime) {
  if (!settings.runtime.empty() && runtime.version.empty()) throw SdkFailure(runtime.reason);
  if (toolkit.version.empty() && runtime.version.empty())
    throw SdkFailure("neither Rockchip's toolkit nor its runtime is here: " + toolkit.reason +
                     ", and " + runtime.reason +
                     "; to convert, 'pip install rknn-toolkit2' and name its python3 in "
                     "MILLRACE_RKNN_PYTHON; to run, name librknnrt.so in MILLRACE_RKNN_RUNTIME");
  const std::string release = release_of(toolkit.version);
  if (toolkit.version.empty()) return runtime.version;
  if (!runtime.version.empty() && runtime.version != release)
    throw SdkFailure("rknn-toolkit2 of " + settings.python + " is version " + release + ", but " +
                     runtime.path.string() + " is version " + runtime.version +
                     "; install the same version of both");
  return release;
}

void describe(MillraceInstance& instance) {
  const Platform& platform = instance.settings.platform;
  instance.driver = "RKNN " + instance.sdk;
  for (int i = 0; i < platform.cores; ++i) instance.names.push_back("npu" + std::to_string(i));
  for (const std::string& name : instance.names) {
    MillraceDevice device{};
    device.name = name.c_str();
    device.model = platform.model;
    device.kind = millrace_npu;
    device.precisions = 1U << millrace_f16 | 1U << millrace_int8_products;
    device.is_absent = instance.runtime.version.empty() ? 1 : 0;
    device.driver = instance.driver.c_str();
    instance.devices.push_back(device);
  }
}

std::int32_t open_engine(MillraceOpening* opening) {
  return guarded(opening->text, [&] {
    auto instance = std::make_unique<MillraceInstance>();
    instance->settings = read_settings(*opening);
    instance->toolkit = find_toolkit(instance->settings.python);
    instance->runtime = find_runtime(instance->settings.runtime);
    instance->sdk = sdk_of(instance->settings, instance->toolkit, instance->runtime);
    describe(*instance);
    opening->devices = instance->devices.data();
    opening->device_count = instance->devices.size();
    opening->sdk = instance->sdk.c_str();
    opening->instance = instance.release();
  });
}

void close_engine(MillraceInstance* instance) { delete instance; }

std::int32_t answer(MillraceInstance*, MillraceQuestion* question) {
  return guarded(question->text, [&] {
    const NpuAnswer found = can_run(*question->subnet);
    question->reason = found.reason;
    question->node = found.node;
    say(question->text, found.text);
  });
}

std::int32_t compile(MillraceInstance* instance, MillraceCompilation* compilation) {
  return guarded(compilation->text, [&] {
    if (instance->toolkit.version.empty()) throw SdkFailure(instance->toolkit.reason);
    const MillraceSubnet& subnet = *compilation->subnet;
    const std::string model = convert(instance->settings, subnet, [&] {
      return compilation->progress(compilation->user, 0) == 0;
    });
    Blob blob = blob_of(instance->settings.platform.name, subnet);
    blob.model = model;
    const std::string bytes = to_bytes(blob);
    char* const memory = new char[bytes.size()];
    std::ranges::copy(bytes, memory);
    compilation->blob = memory;
    compilation->blob_bytes = bytes.size();
    compilation->progress(compilation->user, 1);
  });
}

void free_blob(void* blob) { delete[] static_cast<char*>(blob); }

MillraceTensor tensor_of(const Sizes& shape) {
  const auto bytes = static_cast<std::size_t>(elements_of(shape)) * sizeof(float);
  return {"",    millrace_float32, static_cast<std::int32_t>(shape.size()), shape.data(), nullptr,
          bytes, 0,                0,                                       0};
}

std::int32_t load(MillraceInstance* instance, MillraceLoading* loading) {
  return guarded(loading->text, [&] {
    Blob blob = blob_in({static_cast<const char*>(loading->blob), loading->blob_bytes});
    const Platform& platform = instance->settings.platform;
    if (blob.platform != platform.name)
      throw SdkFailure("the blob is for " + blob.platform + ", here is " + platform.name +
                       "; compile it again");
    const int core = platform.cores == 1 ? -1 : static_cast<int>(loading->device);
    auto program = std::unique_ptr<MillraceProgram>(
        new MillraceProgram{{instance->runtime, blob, core}, std::move(blob), {}});
    program->blob.model = {};  // is the caller's
    for (const Sizes& shape : program->blob.outputs) program->outputs.push_back(tensor_of(shape));
    loading->outputs = program->outputs.data();
    loading->output_count = program->outputs.size();
    loading->weight_bytes = program->session.weight_bytes();
    loading->working_bytes = program->session.working_bytes();
    loading->program = program.release();
  });
}

std::int32_t run(MillraceProgram* program, MillraceRun* run) {
  return guarded(run->text, [&] { program->session.run(run->inputs, run->outputs); });
}

void unload(MillraceProgram* program) { delete program; }

constexpr MillraceEngine make_table() {
  MillraceEngine engine{};
  engine.version = millrace_engine_version;
  engine.size = sizeof(MillraceEngine);
  engine.name = "rknn";
  engine.sdk = "";
  engine.onnx = millrace_all_onnx;
  engine.open = open_engine;
  engine.close = close_engine;
  engine.can_run = answer;
  engine.load = load;
  engine.run = run;
  engine.unload = unload;
  engine.compile = compile;
  engine.free_blob = free_blob;
  return engine;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const MillraceEngine* millrace_engine(
    std::uint32_t version) {
  static constexpr MillraceEngine engine = make_table();
  return version == millrace_engine_version ? &engine : nullptr;
}
