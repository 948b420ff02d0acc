// Frames of a network through an engine on one processor: are they right, how long do they take,
// does memory grow? `engine_frames NETWORK [FRAMES [ENGINE [PROCESSOR]]]`, where NETWORK is a file
// or of the zoo, and PROCESSOR one of this machine's or a device that an engine reaches. Options of
// the engine come as KEY=VALUE; precision=f16 computes all layers so that have such a variant, and
// compiled=FOLDER is where the engine keeps what it has compiled; check=0 compares nothing.
// 1 if outputs differ from the plain loops by more than 1e-3, or 0.03 in lower precisions.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "engine/registry.h"
#include "formats/read.h"
#include "formats/zoo.h"
#include "network/evaluate/evaluate.h"
#include "network/random_values.h"
#include "network/simplify/simplify.h"

namespace {

using namespace millrace;  // NOLINT: a program of its own
using Clock = std::chrono::steady_clock;

struct Options {
  std::string network, engine = "onednn", processor;
  board::Precision precision = board::Precision::f32;
  int frames = 1000;
  std::map<std::string, std::string> settings;
  std::string compiled;
  bool check = true;
};

Options read_options(int count, char** texts) {
  Options options;
  std::vector<std::string> words;
  for (int i = 1; i < count; ++i) {
    const std::string word = texts[i];
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos)
      words.push_back(word);
    else if (word.starts_with("precision="))
      options.precision = board::read_precision(word.substr(equals + 1), "precision");
    else if (word == "check=0")
      options.check = false;
    else if (word.starts_with("compiled="))
      options.compiled = word.substr(equals + 1);
    else
      options.settings[word.substr(0, equals)] = word.substr(equals + 1);
  }
  words.resize(4);
  options.network = words[0];
  if (!words[1].empty()) options.frames = std::atoi(words[1].c_str());
  if (!words[2].empty()) options.engine = words[2];
  options.processor = words[3];
  return options;
}

network::Network read(const std::string& name) {
  if (std::filesystem::exists(name)) return network::simplify(formats::read_network(name));
  return network::simplify(formats::read_onnx(formats::zoo_model(name), name, {}));
}

board::Processor processor_of(const Options& options, const engine::EngineOptions& given) {
  const std::string& name = options.processor;
  const board::Board board = board::this_machine();
  if (name.empty()) return board.processors.front();
  for (const engine::ReachedDevice& reached : engine::reached_devices(options.engine, given)) {
    fmt::print("{}: {}, {}\n", reached.device.name, reached.device.model, reached.driver);
    for (const board::Processor& processor : board::processors_of(reached.device))
      if (processor.name == name) return processor;
  }
  if (name == "all") return board::all_cores(board);
  return board::only(board, {name}).processors.front();
}

double resident_megabytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  file >> all >> resident;
  return static_cast<double>(resident) * 4096 / 1e6;
}

double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double largest_error(const network::Array& found, const network::Array& expected) {
  const auto a = found.values<float>(), b = expected.values<float>();
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference = std::max(difference, std::fabs(static_cast<double>(a[i] - b[i])));
    largest = std::max(largest, std::fabs(static_cast<double>(b[i])));
  }
  return largest > 0 ? difference / largest : difference;
}

/// A subnet with memory for its borders.
class Runner {
 public:
  Runner(const network::Network& network, std::unique_ptr<engine::Subnet> subnet)
      : network_(network), inputs_(network::random_inputs(network, 5)), subnet_(std::move(subnet)) {
    for (const network::Array& input : inputs_) in_.push_back(input.memory->data());
    for (const engine::Port& port : subnet_->outputs())
      out_.push_back(memory_.emplace_back(port.layout.size).data());
  }
  void run() { subnet_->run(in_, out_); }
  std::vector<engine::GroupTime> run_timed() { return subnet_->run_timed(in_, out_); }

  double error() {
    run();
    const std::vector<network::Array> expected = network::evaluate(network_, inputs_);
    double worst = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (expected[i].type != network::DataType::float32) continue;
      network::Buffer copy(memory_[i].size());
      std::ranges::copy(memory_[i].bytes(), copy.data());
      worst = std::max(worst, largest_error(network::make_array(expected[i].type, expected[i].shape,
                                                                std::move(copy)),
                                            expected[i]));
    }
    return worst;
  }

 private:
  const network::Network& network_;
  std::vector<network::Array> inputs_;
  std::unique_ptr<engine::Subnet> subnet_;
  std::vector<network::Buffer> memory_;
  std::vector<const std::byte*> in_;
  std::vector<std::byte*> out_;
};

void print_groups(const network::Network& network, const std::vector<engine::GroupTime>& groups) {
  Time sum{};
  for (const engine::GroupTime& group : groups) {
    sum += group.time;
    fmt::print("  {:>9}  {:<24} {}", to_text(group.time), group.kernel,
               network[group.layers.front()].name);
    for (std::size_t i = 1; i < group.layers.size(); ++i)
      fmt::print(" + {}", network[group.layers[i]].name);
    fmt::print("\n");
  }
  fmt::print("{} groups of {} layers, {}\n", groups.size(), network.layers.size(), to_text(sum));
}

void run_frames(Runner& runner, int frames) {
  runner.run();
  const double before = resident_megabytes(), used = processor_seconds();
  std::vector<double> times;
  const auto start = Clock::now();
  for (int i = 0; i < frames; ++i) {
    const auto begin = Clock::now();
    runner.run();
    times.push_back(seconds_since(begin) * 1e6);
  }
  const double whole = seconds_since(start);
  std::sort(times.begin(), times.end());
  fmt::print("{} frames: median {:.1f} us, least {:.1f} us; {:.0f} % of a core\n", frames,
             times[times.size() / 2], times.front(), 100 * (processor_seconds() - used) / whole);
  fmt::print("memory {:.1f} MB before, {:.1f} MB after\n", before, resident_megabytes());
}

/// By layer: the first variant that it has in this precision, or else its first variant.
std::vector<board::Variant> variants_in(board::Precision precision, const engine::Engine& engine,
                                        const engine::SubnetRequest& request) {
  std::vector<board::Variant> result(request.network->layers.size());
  for (const LayerId layer : request.layers)
    for (const board::Variant& variant :
         engine.variants(*request.network, layer, request.processor))
      if (variant.precision == precision) {
        result[layer.index] = variant;
        break;
      }
  return result;
}

int measure(const Options& options) {
  const network::Network network = read(options.network);
  engine::EngineOptions engine_options;
  engine_options.settings[options.engine] = options.settings;
  engine_options.compiled = options.compiled;
  const auto engine = engine::make_engine(options.engine, engine_options);
  const board::Processor processor = processor_of(options, engine_options);
  fmt::print("{} {}, {} on {}\n", engine->name(), engine->version(), network.name, processor.name);
  engine::SubnetRequest request = engine::whole_network(network, processor);
  request.variants = variants_in(options.precision, *engine, request);
  auto start = Clock::now();
  for (const LayerId layer : request.layers)
    if (const Verdict verdict = engine->supports(network, layer, processor); !verdict)
      fmt::print("{}: {}\n", network[layer].name, verdict.reason());
  fmt::print("asked for {} layers in {:.1f} ms\n", request.layers.size(),
             1e3 * seconds_since(start));
  start = Clock::now();
  Runner runner(network, engine->prepare(request));
  fmt::print("prepared in {:.1f} ms\n", 1e3 * seconds_since(start));
  const double error = options.check ? runner.error() : 0;
  if (options.check) fmt::print("largest error {:.2g} of the largest value\n", error);
  if (options.frames <= 0)
    print_groups(network, runner.run_timed());
  else
    run_frames(runner, options.frames);
  return error <= (options.precision == board::Precision::f32 ? 1e-3 : 0.03) ? 0 : 1;
}

}  // namespace

int main(int count, char** texts) {
  try {
    return measure(read_options(count, texts));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 3;
  }
}
