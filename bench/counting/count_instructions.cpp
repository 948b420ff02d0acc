// Counts the instructions that engines execute for layers and networks. bench/instructions starts
// it in an emulator with a plug-in that counts:
//   count_instructions list                      the names of what it can count
//   count_instructions write NAME FILE           as an ONNX file
//   count_instructions count NAME LOG [ENGINE]   LOG: where the plug-in writes
//   count_instructions kernels NAME LOG [ENGINE] by kernel, in the order in which they run
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "board/board.h"
#include "counter.h"
#include "engine/registry.h"
#include "formats/onnx_writer/write_onnx.h"
#include "network/calibration.h"
#include "network/random_values.h"
#include "samples.h"

namespace millrace::counting {
namespace {

using board::Variant;
using network::Network;

/// Between these lie random values after a few layers; the counts hardly depend on it.
network::Calibration wide_ranges(const Network& network) {
  network::Calibration result;
  for (const network::Tensor& tensor : network.tensors)
    if (!tensor.constant && tensor.type == network::DataType::float32)
      result.ranges[tensor.name] = {-4, 4};
  return result;
}

/// A prepared subnet with memory for its borders.
class Runner {
 public:
  Runner(engine::Engine& engine, const engine::SubnetRequest& request)
      : subnet_(engine.prepare(request)) {
    Random random(5);
    for (const engine::Port& port : subnet_->inputs()) {
      network::Buffer& buffer = memory_.emplace_back(port.layout.size);
      network::fill_random(buffer.bytes(), (*request.network)[port.tensor].type, random);
      in_.push_back(buffer.data());
    }
    for (const engine::Port& port : subnet_->outputs())
      out_.push_back(memory_.emplace_back(port.layout.size).data());
  }
  void run() { subnet_->run(in_, out_); }
  std::vector<engine::GroupTime> run_timed() { return subnet_->run_timed(in_, out_); }

 private:
  std::unique_ptr<engine::Subnet> subnet_;
  std::vector<network::Buffer> memory_;
  std::vector<const std::byte*> in_;
  std::vector<std::byte*> out_;
};

class Counting {
 public:
  Counting(const Network& network, const std::string& engine, const std::string& log)
      : network_(network),
        ranges_(wide_ranges(network)),
        core_(board::this_machine().processors.front()),
        engine_(engine::make_engine(engine, {})),
        counter_(log) {}

  /// Instructions by variant of the only layer that has several variants.
  nlohmann::json each_variant() {
    nlohmann::json counts = nlohmann::json::object();
    engine::SubnetRequest request = whole();
    for (const LayerId layer : request.layers)
      for (const Variant& variant : engine_->variants(network_, layer, core_)) {
        if (network::cost_of(network_, layer).macs == 0) continue;
        request.variants.assign(network_.layers.size(), {});
        request.variants[layer.index] = variant;
        counts[to_text(variant)] = count(request);
      }
    return counts;
  }

  /// Instructions of a frame, each layer in the variant that needs fewest by itself, among those of
  /// the precision where it has any, else of float32.
  std::int64_t best_variants(board::Precision precision) {
    return count(with_best_variants(precision));
  }

  /// The same, kernel by kernel: the layers, what ran them, and what they needed.
  nlohmann::json each_kernel(board::Precision precision) {
    Runner runner(*engine_, with_best_variants(precision));
    runner.run();
    const InstructionClock clock(counter_);
    nlohmann::json kernels = nlohmann::json::array();
    for (const engine::GroupTime& group : runner.run_timed()) {
      std::int64_t macs = 0;
      for (const LayerId layer : group.layers) macs += network::cost_of(network_, layer).macs;
      kernels.push_back({{"layer", network_[group.layers.front()].name},
                         {"kernel", group.kernel},
                         {"macs", macs},
                         {"count", group.time.count()}});
    }
    return kernels;
  }

  /// In float32, and in the others if there are these.
  nlohmann::json best_of_each_precision() {
    using enum board::Precision;
    nlohmann::json counts{{"f32", best_variants(f32)}};
    for (const board::Precision precision : {f16, bf16, int8})
      if (has(precision)) counts[board::to_text(precision)] = best_variants(precision);
    return counts;
  }

  nlohmann::json kernels_of_each_precision() {
    using enum board::Precision;
    nlohmann::json kernels{{"f32", each_kernel(f32)}};
    for (const board::Precision precision : {f16, bf16, int8})
      if (has(precision)) kernels[board::to_text(precision)] = each_kernel(precision);
    return kernels;
  }

 private:
  bool has(board::Precision precision) {
    return std::ranges::any_of(whole().layers, [&](LayerId layer) {
      return std::ranges::count(engine_->variants(network_, layer, core_), precision,
                                &Variant::precision) > 0;
    });
  }

  engine::SubnetRequest whole() {
    engine::SubnetRequest request = engine::whole_network(network_, core_);
    request.calibration = &ranges_;
    return request;
  }

  engine::SubnetRequest with_best_variants(board::Precision precision) {
    engine::SubnetRequest request = whole();
    request.variants.assign(network_.layers.size(), {});
    for (const LayerId layer : request.layers)
      request.variants[layer.index] = best_of(layer, precision);
    return request;
  }

  Variant best_of(LayerId layer, board::Precision precision) {
    std::vector<Variant> all = engine_->variants(network_, layer, core_);
    if (std::ranges::count(all, precision, &Variant::precision) == 0)
      precision = board::Precision::f32;
    std::erase_if(all, [&](const Variant& v) { return v.precision != precision; });
    if (all.size() < 2) return all.empty() ? Variant{} : all.front();
    std::pair<std::int64_t, Variant> best{0, {}};
    for (const Variant& variant : all) {
      const std::int64_t needed = count(alone(layer, variant));
      if (best.first == 0 || needed < best.first) best = {needed, variant};
    }
    return best.second;
  }

  engine::SubnetRequest alone(LayerId layer, const Variant& variant) {
    engine::SubnetRequest request;
    request.network = &network_;
    request.calibration = &ranges_;
    request.processor = core_;
    request.layers = {layer};
    const engine::Border border = engine::border_of(network_, request.layers);
    for (const TensorId id : border.inputs)
      request.inputs.push_back({id, engine::plain_layout(network_[id])});
    request.outputs = border.outputs;
    request.plain.assign(border.outputs.size(), true);
    request.variants.assign(network_.layers.size(), {});
    request.variants[layer.index] = variant;
    return request;
  }

  /// Instructions of the second run: the first may still prepare something.
  std::int64_t count(const engine::SubnetRequest& request) {
    Runner runner(*engine_, request);
    runner.run();
    counter_.take();
    runner.run();
    return counter_.take();
  }

  const Network& network_;
  network::Calibration ranges_;
  board::Processor core_;
  std::unique_ptr<engine::Engine> engine_;
  Counter counter_;
};

void list() {
  for (const auto* samples : {&layer_samples(), &network_samples()})
    for (const Sample& sample : *samples)
      fmt::print("{}\t{}\n", sample.kind == SampleKind::layer ? "layer" : "network", sample.name);
}

void count(const std::string& name, const std::string& log, const std::string& engine) {
  const Network network = make_sample(name);
  const auto& layers = layer_samples();
  const bool is_layer =
      std::ranges::any_of(layers, [&](const Sample& sample) { return sample.name == name; });
  nlohmann::json answer{{"name", name}, {"macs", network::cost_of(network).macs}};
  Counting counting(network, engine, log);
  answer["counts"] = is_layer ? counting.each_variant()
                              : counting.best_of_each_precision();
  fmt::print("{}\n", answer.dump());
}

void count_kernels(const std::string& name, const std::string& log, const std::string& engine) {
  const Network network = make_sample(name);
  Counting counting(network, engine, log);
  fmt::print("{}\n", counting.kernels_of_each_precision().dump());
}

int run(const std::vector<std::string>& words) {
  const std::string verb = words.empty() ? "" : words[0];
  if (verb == "list" && words.size() == 1) {
    list();
  } else if (verb == "write" && words.size() == 3) {
    write_file(words[2], formats::write_onnx(make_sample(words[1])).bytes);
  } else if (verb == "count" && (words.size() == 3 || words.size() == 4)) {
    count(words[1], words[2], words.size() == 4 ? words[3] : "onednn");
  } else if (verb == "kernels" && (words.size() == 3 || words.size() == 4)) {
    count_kernels(words[1], words[2], words.size() == 4 ? words[3] : "onednn");
  } else {
    fmt::print(stderr, "usage: count_instructions list | write NAME FILE | "
                       "count NAME LOG [ENGINE] | kernels NAME LOG [ENGINE]\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace millrace::counting

int main(int count, char** words) {
  try {
    return millrace::counting::run({words + 1, words + count});
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 3;
  }
}
