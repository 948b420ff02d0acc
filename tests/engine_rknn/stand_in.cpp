// A stand-in for librknnrt.so: not Rockchip's. It has the functions that the engine rknn calls, and
// lets the toolkit's simulator compute, in a python3 for each model. It knows a model by the folder
// in MILLRACE_RKNN_KEEP in which its conversion was kept.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime.h"

extern char** environ;

namespace {

namespace fs = std::filesystem;
using namespace millrace_rknn;

constexpr int failed = -1, model_invalid = -6, context_invalid = -7;

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string in_environment(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? "" : text;
}

fs::path conversion_of(const std::string& model) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(in_environment("MILLRACE_RKNN_KEEP"), error))
    if (bytes_of(entry.path() / "model.rknn") == model) return entry.path();
  return {};
}

/// simulate.py of a folder, which reads inputs and writes outputs.
class Simulator {
 public:
  explicit Simulator(const std::string& folder) {
    std::array<int, 2> to{}, from{};
    if (::pipe2(to.data(), O_CLOEXEC) != 0 || ::pipe2(from.data(), O_CLOEXEC) != 0) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
    std::string python = in_environment("MILLRACE_RKNN_PYTHON"), script = MILLRACE_SIMULATE;
    std::string given = folder;
    std::array<char*, 4> words{python.data(), script.data(), given.data(), nullptr};
    ::posix_spawnp(&process_, python.c_str(), &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(to[0]);
    ::close(from[1]);
    to_ = ::fdopen(to[1], "wb");
    from_ = ::fdopen(from[0], "rb");
  }
  ~Simulator() {
    if (to_ != nullptr) std::fclose(to_);
    if (from_ != nullptr) std::fclose(from_);
    if (process_ > 0) ::waitpid(process_, nullptr, 0);
  }
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  std::vector<std::uint32_t> numbers() {
    std::uint32_t count = 0;
    if (!get(&count, sizeof count)) return {};
    std::vector<std::uint32_t> result(count);
    if (!get(result.data(), count * sizeof count)) return {};
    return result;
  }
  bool get(void* memory, std::size_t bytes) {
    return std::fread(memory, 1, bytes, from_) == bytes;
  }
  bool put(const void* memory, std::size_t bytes) {
    return std::fwrite(memory, 1, bytes, to_) == bytes;
  }
  bool flush() { return std::fflush(to_) == 0; }

 private:
  pid_t process_ = 0;
  std::FILE *to_ = nullptr, *from_ = nullptr;
};

struct Model {
  explicit Model(const std::string& folder) : simulator(folder) {}
  Simulator simulator;
  std::vector<TensorAttributes> inputs, outputs;
  std::uint32_t bytes = 0;
};

/// As the library describes it: pictures that go in have their channels last.
TensorAttributes info_of(std::uint32_t number, std::vector<std::uint32_t> shape, bool is_input) {
  TensorAttributes info{};
  info.number = number;
  info.rank = static_cast<std::uint32_t>(shape.size());
  info.elements = 1;
  for (const std::uint32_t size : shape) info.elements *= size;
  info.order = shape.size() == 4 ? channels_first : no_order;
  if (is_input && shape.size() == 4) {
    info.order = channels_last;
    shape = {shape[0], shape[2], shape[3], shape[1]};
  }
  std::copy(shape.begin(), shape.end(), info.shape.begin());
  return info;
}

bool read_infos(Model& model) {
  const std::vector<std::uint32_t> counts = model.simulator.numbers();
  if (counts.size() != 2) return false;
  for (std::uint32_t i = 0; i < counts[0]; ++i)
    model.inputs.push_back(info_of(i, model.simulator.numbers(), true));
  for (std::uint32_t i = 0; i < counts[1]; ++i)
    model.outputs.push_back(info_of(i, model.simulator.numbers(), false));
  return true;
}

struct Models {
  std::mutex mutex;
  RknnContext last = 0;
  std::map<RknnContext, std::unique_ptr<Model>> by_context;
};

Models& models() {
  static Models all;
  return all;
}

Model* model_of(RknnContext context) {
  const std::lock_guard lock(models().mutex);
  const auto at = models().by_context.find(context);
  return at == models().by_context.end() ? nullptr : at->second.get();
}

template <class Answer>
int answer(void* to, std::uint32_t bytes, const Answer& value) {
  if (bytes != sizeof(Answer)) return failed;
  std::memcpy(to, &value, sizeof value);
  return 0;
}

int answer_tensor(void* to, std::uint32_t bytes, const std::vector<TensorAttributes>& infos) {
  if (bytes != sizeof(TensorAttributes)) return failed;
  const std::uint32_t number = static_cast<TensorAttributes*>(to)->number;
  return number < infos.size() ? answer(to, bytes, infos[number]) : failed;
}

/// What the engine reads in the file.
[[gnu::used]] constexpr const char* version_text =
    "librknnrt version: " MILLRACE_STAND_IN_VERSION " (a stand-in for tests)";

}  // namespace

extern "C" int rknn_init(RknnContext* context, void* bytes, std::uint32_t count, std::uint32_t,
                         void*) {
  const fs::path folder = conversion_of({static_cast<const char*>(bytes), count});
  if (folder.empty()) return model_invalid;
  auto model = std::make_unique<Model>(folder.string());
  model->bytes = count;
  if (!read_infos(*model)) return failed;
  const std::lock_guard lock(models().mutex);
  *context = ++models().last;
  models().by_context[*context] = std::move(model);
  return 0;
}

extern "C" int rknn_destroy(RknnContext context) {
  const std::lock_guard lock(models().mutex);
  return models().by_context.erase(context) == 1 ? 0 : context_invalid;
}

extern "C" int rknn_query(RknnContext context, std::int32_t what, void* to, std::uint32_t bytes) {
  const Model* const model = model_of(context);
  if (model == nullptr) return context_invalid;
  const auto inputs = static_cast<std::uint32_t>(model->inputs.size());
  const auto outputs = static_cast<std::uint32_t>(model->outputs.size());
  if (what == query_counts) return answer(to, bytes, Counts{inputs, outputs});
  if (what == query_input) return answer_tensor(to, bytes, model->inputs);
  if (what == query_output) return answer_tensor(to, bytes, model->outputs);
  if (what == query_memory) return answer(to, bytes, MemoryInfo{model->bytes, 0, 0, 0, 0, {}});
  return failed;
}

extern "C" int rknn_inputs_set(RknnContext context, std::uint32_t count, GivenInput* inputs) {
  Model* const model = model_of(context);
  if (model == nullptr) return context_invalid;
  for (std::uint32_t i = 0; i < count; ++i)
    if (inputs[i].bytes != model->inputs[i].elements * sizeof(float) ||
        inputs[i].order != model->inputs[i].order ||
        !model->simulator.put(inputs[i].values, inputs[i].bytes))
      return failed;
  return model->simulator.flush() ? 0 : failed;
}

extern "C" int rknn_run(RknnContext context, void*) {
  return model_of(context) == nullptr ? context_invalid : 0;
}

extern "C" int rknn_outputs_get(RknnContext context, std::uint32_t count, TakenOutput* outputs,
                                void*) {
  Model* const model = model_of(context);
  if (model == nullptr) return context_invalid;
  for (std::uint32_t i = 0; i < count; ++i)
    if (outputs[i].bytes != model->outputs[i].elements * sizeof(float) ||
        !model->simulator.get(outputs[i].values, outputs[i].bytes))
      return failed;
  return 0;
}

extern "C" int rknn_outputs_release(RknnContext, std::uint32_t, TakenOutput*) { return 0; }

extern "C" int rknn_set_core_mask(RknnContext context, std::int32_t mask) {
  if (model_of(context) == nullptr) return context_invalid;
  const bool is_one = mask == 1 || mask == 2 || mask == 4;
  return is_one ? 0 : failed;
}
