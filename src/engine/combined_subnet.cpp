#include "engine/combined_subnet.h"

#include <algorithm>
#include <map>

namespace millrace::engine {
namespace {

/// Layers of one engine that run one after another.
struct Part {
  Engine* engine = nullptr;
  std::vector<LayerId> layers;  // ascending
};

/// Each part takes all layers of its engine that wait for no other part.
std::vector<Part> parts_of(const SubnetRequest& request, const std::vector<Engine*>& engines) {
  const network::Topology topology = network::topology(*request.network);
  std::vector<bool> waits(request.network->layers.size(), false);
  for (const LayerId layer : request.layers) waits[layer.index] = true;
  const auto is_ready = [&](LayerId layer) {
    return std::ranges::none_of(topology.predecessors[layer.index],
                                [&](LayerId before) { return waits[before.index]; });
  };
  std::vector<Part> parts;
  std::vector<LayerId> left = request.layers;
  while (!left.empty()) {
    Part part{engines[left.front().index], {}};
    std::vector<LayerId> later;
    for (const LayerId layer : left) {
      const bool now = engines[layer.index] == part.engine && is_ready(layer);
      (now ? part.layers : later).push_back(layer);
      if (now) waits[layer.index] = false;
    }
    parts.push_back(std::move(part));
    left = std::move(later);
  }
  return parts;
}

/// Where the memory of a port is.
struct Place {
  enum class Of { input, output, buffer } of = Of::buffer;
  std::size_t index = 0;
};

struct PreparedPart {
  std::unique_ptr<Subnet> subnet;
  std::vector<Place> in, out;
  std::vector<const std::byte*> in_pointers = {};
  std::vector<std::byte*> out_pointers = {};
};

class CombinedSubnet final : public Subnet {
 public:
  CombinedSubnet(std::vector<Port> inputs, std::vector<Port> outputs,
                 std::vector<PreparedPart> parts, std::vector<network::Buffer> buffers)
      : inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        parts_(std::move(parts)),
        buffers_(std::move(buffers)) {}

  std::span<const Port> inputs() const override { return inputs_; }
  std::span<const Port> outputs() const override { return outputs_; }

  void run(std::span<const std::byte* const> in, std::span<std::byte* const> out) override {
    for (PreparedPart& part : parts_) {
      point(part, in, out);
      part.subnet->run(part.in_pointers, part.out_pointers);
    }
  }

  std::vector<GroupTime> run_timed(std::span<const std::byte* const> in,
                                   std::span<std::byte* const> out) override {
    std::vector<GroupTime> times;
    for (PreparedPart& part : parts_) {
      point(part, in, out);
      auto of_part = part.subnet->run_timed(part.in_pointers, part.out_pointers);
      std::ranges::move(of_part, std::back_inserter(times));
    }
    return times;
  }

  Memory memory() const override {
    Memory sum;
    for (const PreparedPart& part : parts_) {
      const Memory memory = part.subnet->memory();
      sum.arena += memory.arena;
      sum.naive += memory.naive;
      sum.weights += memory.weights;
      sum.moved += memory.moved;
      sum.moved_layer_by_layer += memory.moved_layer_by_layer;
    }
    for (const network::Buffer& buffer : buffers_) {
      sum.arena += buffer.size();
      sum.naive += buffer.size();
    }
    return sum;
  }

 private:
  void point(PreparedPart& part, std::span<const std::byte* const> in,
             std::span<std::byte* const> out) {
    const auto writable = [&](const Place& place) {
      return place.of == Place::Of::output ? out[place.index] : buffers_[place.index].data();
    };
    for (std::size_t i = 0; i < part.in.size(); ++i)
      part.in_pointers[i] =
          part.in[i].of == Place::Of::input ? in[part.in[i].index] : writable(part.in[i]);
    for (std::size_t i = 0; i < part.out.size(); ++i) part.out_pointers[i] = writable(part.out[i]);
  }

  std::vector<Port> inputs_, outputs_;
  std::vector<PreparedPart> parts_;
  std::vector<network::Buffer> buffers_;
};

class CombinedBuilder {
 public:
  CombinedBuilder(const SubnetRequest& request, const std::vector<Engine*>& engines,
                  std::vector<board::Variant> variants)
      : request_(request),
        engines_(engines),
        variants_(std::move(variants)),
        topology_(network::topology(*request.network)) {
    for (std::size_t i = 0; i < request.inputs.size(); ++i)
      known_[request.inputs[i].tensor] = {request.inputs[i].layout, {Place::Of::input, i}};
    outputs_.resize(request.outputs.size());
  }

  std::unique_ptr<Subnet> build() {
    std::vector<PreparedPart> prepared;
    for (const Part& part : parts_of(request_, engines_)) prepared.push_back(prepare(part));
    return std::make_unique<CombinedSubnet>(request_.inputs, std::move(outputs_),
                                            std::move(prepared), std::move(buffers_));
  }

 private:
  struct Known {
    Layout layout;
    Place place;
  };

  PreparedPart prepare(const Part& part) {
    SubnetRequest request;
    request.network = request_.network;
    request.processor = request_.processor;
    request.layers = part.layers;
    request.variants = variants_;
    request.calibration = request_.calibration;
    const Border border = border_of(*request_.network, part.layers);
    PreparedPart result;
    for (const TensorId input : border.inputs) {
      const Known& known = known_.at(input);
      request.inputs.push_back({input, known.layout});
      result.in.push_back(known.place);
    }
    request.outputs = with_asked(border.outputs, part.layers);
    for (const TensorId output : request.outputs)
      request.plain.push_back(must_be_plain(output, part.engine));
    result.subnet = part.engine->prepare(request);
    for (const Port& port : result.subnet->outputs()) result.out.push_back(place_of(port));
    result.in_pointers.resize(result.in.size());
    result.out_pointers.resize(result.out.size());
    return result;
  }

  /// The caller may ask for what no other layer outside reads.
  std::vector<TensorId> with_asked(std::vector<TensorId> outputs,
                                   const std::vector<LayerId>& layers) const {
    for (const LayerId layer : layers)
      for (const TensorId made : (*request_.network)[layer].outputs)
        if (std::ranges::count(request_.outputs, made) > 0 &&
            std::ranges::count(outputs, made) == 0)
          outputs.push_back(made);
    return outputs;
  }

  /// The caller's memory for what it asked for, a buffer of ours for what only other parts read.
  Place place_of(const Port& port) {
    const auto asked = std::ranges::find(request_.outputs, port.tensor);
    Place place{Place::Of::buffer, buffers_.size()};
    if (asked != request_.outputs.end()) {
      place = {Place::Of::output, static_cast<std::size_t>(asked - request_.outputs.begin())};
      outputs_[place.index] = port;
    } else {
      buffers_.emplace_back(port.layout.size);
    }
    known_[port.tensor] = {port.layout, place};
    return place;
  }

  /// Only the engine that chose a layout reads it. Who reads a tensor in another subnet, only the
  /// variants say.
  bool must_be_plain(TensorId tensor, const Engine* writer) const {
    const auto asked = std::ranges::find(request_.outputs, tensor);
    if (asked != request_.outputs.end()) {
      const auto index = static_cast<std::size_t>(asked - request_.outputs.begin());
      if (request_.variants.empty() || request_.plain[index]) return true;
    }
    return std::ranges::any_of(topology_.consumers[tensor.index],
                               [&](LayerId reader) { return engines_[reader.index] != writer; });
  }

  const SubnetRequest& request_;
  const std::vector<Engine*>& engines_;
  std::vector<board::Variant> variants_;
  network::Topology topology_;
  std::map<TensorId, Known> known_;
  std::vector<Port> outputs_;
  std::vector<network::Buffer> buffers_;
};

}  // namespace

std::unique_ptr<Subnet> prepare_combined(const SubnetRequest& request,
                                         const std::vector<Engine*>& engines,
                                         std::vector<board::Variant> variants) {
  return CombinedBuilder(request, engines, std::move(variants)).build();
}

}  // namespace millrace::engine
