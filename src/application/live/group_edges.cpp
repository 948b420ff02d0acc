#include "application/live/group_edges.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <span>
#include <utility>

#include "application/live/edge_values.h"
#include "base/error.h"

namespace millrace::application {
namespace {

using Moment = std::chrono::steady_clock::time_point;

/// When the first group of a chain was due for what a value was made of.
struct Origin {
  Moment due{};
  std::size_t operation = 0;
};
using Origins = std::vector<std::optional<Origin>>;  // by chain; none: it did not come that way

struct Value {
  network::Array array = {};
  Origins origins = {};
};

/// The inputs or outputs of a network.
struct Ends {
  const network::Network& network;
  const std::vector<TensorId>& tensors;
  const char* what;
};

std::size_t index_of(const Ends& ends, const std::string& name, const std::string& place) {
  if (name.empty() && ends.tensors.size() == 1) return 0;
  std::string names;
  for (std::size_t i = 0; i < ends.tensors.size(); ++i) {
    const std::string& each = ends.network[ends.tensors[i]].name;
    if (each == name) return i;
    names += (names.empty() ? "" : ", ") + each;
  }
  if (name.empty())
    throw InputError(place, fmt::format("the network '{}' has several {}s, {}; name one",
                                        ends.network.name, ends.what, names));
  throw InputError(place, fmt::format("the network '{}' has no {} '{}'; it has {}",
                                      ends.network.name, ends.what, name, names));
}

struct Connected {
  std::size_t output = 0, input = 0;  // of the networks, by position
};

Connected connected(const EdgesSpecification& all, const EdgeBetween& edge) {
  const network::Network &from = *all.networks[edge.from], &to = *all.networks[edge.to];
  const Connected found{index_of({from, from.outputs, "output"}, edge.output, edge.place),
                        index_of({to, to.inputs, "input"}, edge.input, edge.place)};
  const network::Tensor &output = from[from.outputs[found.output]],
                        &input = to[to.inputs[found.input]];
  if (output.type != input.type || output.shape != input.shape)
    throw InputError(
        edge.place,
        fmt::format("the output '{}' is {} {}, and the input '{}' takes {} {}; they "
                    "must be the same",
                    output.name, network::to_text(output.type), network::to_text(output.shape),
                    input.name, network::to_text(input.type), network::to_text(input.shape)));
  return found;
}

}  // namespace

void check(const EdgesSpecification& specification) {
  for (const EdgeBetween& edge : specification.edges)
    static_cast<void>(connected(specification, edge));
}

struct GroupEdges::State {
  struct Edge {
    EdgeBetween between;
    Connected at;
    std::unique_ptr<EdgeValues<Value>> values;
  };
  EdgesSpecification specification;
  std::vector<Edge> edges;
  std::atomic<bool> running{false};
  std::vector<std::map<std::size_t, ChainTimes>> times;  // each touched by its last group

  /// By chain: the edge of `group` on which it comes there; none: it is not on it, or the first.
  std::vector<std::optional<std::size_t>> ways_to(std::size_t group) const {
    std::vector<std::optional<std::size_t>> ways;
    for (const auto& chain : specification.chains) {
      auto& way = ways.emplace_back();
      const auto at = std::ranges::find(chain, group);
      if (at == chain.end() || at == chain.begin()) continue;
      const auto edge = std::ranges::find_if(edges, [&](const Edge& each) {
        return each.between.from == *(at - 1) && each.between.to == group;
      });
      way = static_cast<std::size_t>(edge - edges.begin());
    }
    return ways;
  }
};

namespace {

/// One group between its edges.
template <class State>
class GroupBetween final : public LiveGroup {
 public:
  GroupBetween(State& state, std::size_t group, std::shared_ptr<LiveGroup> inner)
      : state_(state), group_(group), inner_(std::move(inner)), ways_(state.ways_to(group)) {
    for (std::size_t e = 0; e < state.edges.size(); ++e) {
      if (state.edges[e].between.from == group) outputs_.push_back(e);
      if (state.edges[e].between.to == group) inputs_.push_back(e);
    }
    last_.resize(ways_.size());
  }

  std::optional<Picture> picture() override {
    note_begin({});
    return inner_ ? inner_->picture() : std::nullopt;
  }
  void fill(std::span<const std::span<std::byte>> inputs) override {
    if (inner_) inner_->fill(inputs);
    std::map<std::size_t, const Value*> found;
    bool is_new = false;
    for (const std::size_t e : inputs_) {
      const auto& edge = state_.edges[e];
      const FoundValue<Value> read = edge.values->read();
      if (read.value == nullptr) continue;
      std::ranges::copy(read.value->array.bytes(), inputs[edge.at.input].data());
      found[e] = read.value;
      is_new = is_new || read.is_new;
    }
    if (inner_ && !found.empty()) inner_->filled(is_new);
    note_begin(found);
  }
  bool wants_outputs() const override { return !outputs_.empty(); }
  void take(LiveResult result) override {
    if (state_.running) {
      const std::lock_guard lock(mutex_);
      results_.push_back(result.outputs);
    }
    if (result.picture) result.outputs.clear();  // an application's are its findings
    if (inner_) inner_->take(std::move(result));
  }
  void ended(const runtime::EndedFrame& frame) override {
    Origins origins;
    std::vector<network::Array> outputs;
    {
      const std::lock_guard lock(mutex_);
      origins = std::move(on_the_way_.front());
      on_the_way_.pop_front();
      outputs = std::move(results_.front());
      results_.pop_front();
    }
    for (std::size_t c = 0; c < origins.size(); ++c) {
      const auto& chain = state_.specification.chains[c];
      if (chain.front() == group_) origins[c] = Origin{frame.due, frame.operation};
      if (chain.back() == group_) measure(c, origins[c], frame);
    }
    for (const std::size_t e : outputs_)
      state_.edges[e].values->write({outputs[state_.edges[e].at.output], origins});
    if (inner_) inner_->ended(frame);
  }

 private:
  /// Frames of the warm-up are filled, and do not end.
  void note_begin(const std::map<std::size_t, const Value*>& found) {
    if (!state_.running) return;
    Origins origins(ways_.size());
    for (std::size_t c = 0; c < ways_.size(); ++c) {
      const auto value = ways_[c] ? found.find(*ways_[c]) : found.end();
      if (value != found.end()) origins[c] = value->second->origins[c];
    }
    const std::lock_guard lock(mutex_);
    on_the_way_.push_back(std::move(origins));
  }
  void measure(std::size_t chain, const std::optional<Origin>& origin,
               const runtime::EndedFrame& frame) {
    std::optional<Origin>& last = last_[chain];
    if (!origin || origin->operation != frame.operation) {
      last.reset();  // rates have changed on the way
      return;
    }
    ChainTimes& times = state_.times[chain][frame.operation];
    times.ages.add(frame.end - origin->due);
    if (last && last->operation == origin->operation && last->due < origin->due)
      times.reactions.add(frame.end - last->due);
    last = origin;
  }

  State& state_;
  const std::size_t group_;
  const std::shared_ptr<LiveGroup> inner_;
  const std::vector<std::optional<std::size_t>> ways_;  // by chain
  std::vector<std::size_t> outputs_, inputs_;           // edges
  Origins last_;                                        // by chain, of frames that have ended
  std::mutex mutex_;  // of the group's threads, which have one priority
  std::deque<Origins> on_the_way_;
  std::deque<std::vector<network::Array>> results_;
};

}  // namespace

GroupEdges::GroupEdges(EdgesSpecification specification) : state_(std::make_unique<State>()) {
  for (const EdgeBetween& edge : specification.edges) {
    State::Edge& connected_edge = state_->edges.emplace_back();
    connected_edge.between = edge;
    connected_edge.at = connected(specification, edge);
    if (edge.capacity > 0)
      connected_edge.values =
          std::make_unique<ValueQueue<Value>>(static_cast<std::size_t>(edge.capacity));
    else
      connected_edge.values = std::make_unique<LastValue<Value>>();
  }
  state_->times.resize(specification.chains.size());
  state_->specification = std::move(specification);
}

GroupEdges::~GroupEdges() = default;

std::shared_ptr<LiveGroup> GroupEdges::around(std::size_t group, std::shared_ptr<LiveGroup> inner) {
  const bool has_edge = std::ranges::any_of(state_->edges, [&](const State::Edge& edge) {
    return edge.between.from == group || edge.between.to == group;
  });
  if (!has_edge) return inner;
  return std::make_shared<GroupBetween<State>>(*state_, group, std::move(inner));
}

void GroupEdges::begin() { state_->running = true; }

const std::vector<std::map<std::size_t, ChainTimes>>& GroupEdges::times() const {
  return state_->times;
}

std::vector<std::int64_t> GroupEdges::unread() const {
  std::vector<std::int64_t> counts;
  for (const State::Edge& edge : state_->edges) counts.push_back(edge.values->unread());
  return counts;
}

}  // namespace millrace::application
