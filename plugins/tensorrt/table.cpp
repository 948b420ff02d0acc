// Subnets run by TensorRT on an NVIDIA GPU and, on a Jetson, its DLAs: built here, kept as blobs.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "builder.h"
#include "driver.h"
#include "failure.h"
#include "library.h"
#include "program.h"
#include "settings.h"

using namespace millrace_tensorrt;

struct MillraceInstance {
  Settings settings;
  Driver driver;
  Library library;
  std::vector<std::string> names;
  std::vector<Target> targets;  // by device
  std::vector<MillraceDevice> devices;

  explicit MillraceInstance(const Settings& with)
      : settings(with), driver(with.gpu), library(with) {}
};

struct MillraceProgram {
  Program program;
};

namespace {

constexpr const char* space = "tensorrt";
constexpr const char* spaces[] = {space};

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

/// The GPU, and the DLAs that the builder counts.
void describe(MillraceInstance& instance) {
  Log log;
  instance.driver.enter();
  const int dlas = instance.library.make_builder(log)->getNbDLACores();
  instance.names.emplace_back("gpu" + std::to_string(instance.settings.gpu));
  instance.targets.emplace_back();
  for (int i = 0; i < dlas; ++i) {
    instance.names.push_back("dla" + std::to_string(i));
    instance.targets.push_back({i});
  }
  for (std::size_t i = 0; i < instance.names.size(); ++i) {
    MillraceDevice device{};
    device.name = instance.names[i].c_str();
    device.model = instance.driver.model().c_str();
    device.kind = i == 0 ? millrace_gpu : millrace_npu;
    device.precisions = 1U << millrace_f16 | 1U << millrace_int8_products;
    if (i == 0) device.precisions |= 1U << millrace_f32;
    device.spaces = spaces;
    device.space_count = 1;
    device.copies = 1;
    instance.devices.push_back(device);
  }
}

std::int32_t open_engine(MillraceOpening* opening) {
  return guarded(opening->text, [&] {
    auto instance = std::make_unique<MillraceInstance>(read_settings(*opening));
    describe(*instance);
    opening->devices = instance->devices.data();
    opening->device_count = instance->devices.size();
    opening->sdk = instance->library.version().c_str();
    opening->instance = instance.release();
  });
}

void close_engine(MillraceInstance* instance) { delete instance; }

std::int32_t answer(MillraceInstance* instance, MillraceQuestion* question) {
  return guarded(question->text, [&] {
    instance->driver.enter();
    const Answer found =
        can_run(instance->library, instance->targets[question->device], *question->subnet);
    question->reason = found.reason;
    question->node = found.node;
    say(question->text, found.text);
  });
}

std::int32_t compile(MillraceInstance* instance, MillraceCompilation* compilation) {
  return guarded(compilation->text, [&] {
    if (compilation->progress(compilation->user, 0) != 0) throw SdkFailure("it was interrupted");
    instance->driver.enter();
    const Target& target = instance->targets[compilation->device];
    const std::string blob =
        blob_of(*compilation->subnet, build(instance->library, instance->settings, target,
                                            *compilation->subnet));
    char* const memory = new char[blob.size()];
    std::ranges::copy(blob, memory);
    compilation->blob = memory;
    compilation->blob_bytes = blob.size();
    compilation->progress(compilation->user, 1);
  });
}

void free_blob(void* blob) { delete[] static_cast<char*>(blob); }

std::int32_t load(MillraceInstance* instance, MillraceLoading* loading) {
  return guarded(loading->text, [&] {
    const std::string_view blob(static_cast<const char*>(loading->blob), loading->blob_bytes);
    auto program = std::unique_ptr<MillraceProgram>(new MillraceProgram{
        {instance->library, instance->driver, instance->targets[loading->device], blob}});
    loading->outputs = program->program.outputs().data();
    loading->output_count = program->program.outputs().size();
    loading->working_bytes = program->program.working_bytes();
    loading->weight_bytes = loading->blob_bytes;
    loading->program = program.release();
  });
}

std::int32_t run(MillraceProgram* program, MillraceRun* run) {
  return guarded(run->text, [&] { program->program.run(run->inputs, run->outputs); });
}

void unload(MillraceProgram* program) { delete program; }

std::int32_t allocate(MillraceInstance* instance, MillraceBuffer* buffer) {
  char text[millrace_text_size];
  return guarded(text, [&] { buffer->handle = instance->driver.allocate(buffer->bytes); });
}

void release(MillraceInstance* instance, MillraceBuffer* buffer) {
  instance->driver.free(buffer->handle);
}

std::int32_t transfer(MillraceInstance* instance, const MillraceBuffer* from,
                      const MillraceBuffer* to) {
  char text[millrace_text_size];
  const bool to_device = std::strcmp(to->space, space) == 0;
  return guarded(
      text, [&] { instance->driver.copy(from->handle, to->handle, from->bytes, to_device); });
}

constexpr MillraceEngine make_table() {
  MillraceEngine engine{};
  engine.version = millrace_engine_version;
  engine.size = sizeof(MillraceEngine);
  engine.name = "tensorrt";
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
  engine.allocate = allocate;
  engine.release = release;
  engine.transfer = transfer;
  return engine;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const MillraceEngine* millrace_engine(
    std::uint32_t version) {
  static constexpr MillraceEngine engine = make_table();
  return version == millrace_engine_version ? &engine : nullptr;
}
