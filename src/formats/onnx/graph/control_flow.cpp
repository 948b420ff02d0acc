// If and Loop, as far as they can be decided when the model is read.
#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.h"
#include "formats/onnx/graph/read_nodes.h"
#include "formats/onnx/node/node.h"
#include "formats/onnx/tensor_data.h"
#include "formats/onnx/types.h"

namespace millrace::formats::onnx {
namespace {

constexpr std::int64_t most_rounds = 1 << 14;

bool truth(const Node& node, TensorId id, std::string_view what) {
  const Tensor& tensor = node.tensor(id);
  if (!tensor.constant)
    node.fail(
        fmt::format("{} depends on '{}', which {}; it must be known when the model is read: "
                    "export the model so that it is fixed{}",
                    what, tensor.name, computed_from(node, id), or_fix(node, id)));
  if (tensor.type != DataType::boolean || element_count(tensor.shape) != 1)
    node.fail(fmt::format("{} depends on '{}', which is {} {}, expected one boolean", what,
                          tensor.name, to_text(tensor.type), to_text(tensor.shape)));
  return tensor.constant->bytes()[0] != std::byte{0};
}

/// A graph inside of a node. Its weights are read once, however often it runs.
void add_weights(Node& node, const ::onnx::GraphProto& graph) {
  Reading& reading = node.reading();
  if (graph.sparse_initializer_size() > 0) node.fail("a graph inside of it has a sparse weight");
  for (const ::onnx::TensorProto& weight : graph.initializer()) {
    const std::string place = fmt::format("{}: the weight '{}'", node.place(), weight.name());
    Array value = read_tensor(weight, reading.files, place);
    take_memory(node, value.memory->size());
    const TensorId id = reading.network.add_constant(std::move(value));
    if (has_four_bits(weight.data_type())) reading.of_four_bits.insert(id);
    reading.define(weight.name(), id);
  }
}

std::vector<Known> outputs_of(const Reading& reading, const ::onnx::GraphProto& graph) {
  std::vector<Known> results;
  for (const auto& output : graph.output()) results.push_back(reading.names.known(output.name()));
  return results;
}

/// Leaves out the graph's outputs from number `first` on that are results of the node which nobody
/// reads; `result` is the number of the first of them.
void leave_out_unread(const Node& node, std::size_t first, std::size_t result, NodeList& list) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < list.outputs.size(); ++i)
    if (i < first || node.wants(i - first + result)) kept.push_back(list.outputs[i]);
  list.outputs = std::move(kept);
}

std::vector<Known> read_branch(Node& node, const std::string& name) {
  const ::onnx::GraphProto& graph = node.attributes().graph(name);
  if (static_cast<std::size_t>(graph.output_size()) < node.output_count())
    node.fail(fmt::format("has {} outputs, but its branch has {}", node.output_count(),
                          graph.output_size()));
  const Scope scope(node.reading().names, {node.name() + "/", node.place(), std::nullopt});
  add_weights(node, graph);
  NodeList nodes = nodes_of(graph);
  leave_out_unread(node, 0, 0, nodes);
  read_nodes(node.reading(), nodes);
  return outputs_of(node.reading(), graph);
}

bool lacks_operator(const Node& node, const Known& value) {
  return value.problem && node.reading().problems.lacks_operator({*value.problem});
}

/// A tensor with room for what either branch gives. A branch that does not fit the sizes is refused
/// once a frame takes it; an operator that is missing is known to be missing now.
Known room_for(Node& node, const Known& a, const Known& b) {
  if (lacks_operator(node, a) || (!b.id && !lacks_operator(node, b))) return a;
  if (lacks_operator(node, b) || !a.id) return b;
  const Tensor& left = node.tensor(*a.id);
  const Tensor& right = node.tensor(*b.id);
  if (left.type != right.type || left.shape.size() != right.shape.size())
    node.fail(fmt::format(
        "one branch gives {} {} and the other {} {}, expected the same type and "
        "number of dimensions, as a frame decides between them",
        to_text(left.type), to_text(left.shape), to_text(right.type), to_text(right.shape)));
  Made made{left.type, left.shape};
  for (std::size_t i = 0; i < made.shape.size(); ++i)
    made.shape[i] = std::max(left.shape[i], right.shape[i]);
  return {node.reading().network.add_unknown(std::move(made)), std::nullopt};
}

void lower_if(Node& node) {
  std::vector<Known> results;
  if (is_known(node, 0) || node.reading().purpose != Purpose::largest_sizes) {
    const bool condition = truth(node, node.input(0), "which branch is taken");
    results = read_branch(node, condition ? "then_branch" : "else_branch");
  } else {
    results = read_branch(node, "then_branch");
    const std::vector<Known> others = read_branch(node, "else_branch");
    for (std::size_t i = 0; i < node.output_count(); ++i)
      if (node.wants(i)) results[i] = room_for(node, results[i], others[i]);
  }
  for (std::size_t i = 0; i < node.output_count(); ++i) node.give(i, results[i]);
}

class Unrolled {
 public:
  explicit Unrolled(Node& node)
      : node_(node),
        reading_(node.reading()),
        graph_(node.attributes().graph("body")),
        nodes_(nodes_of(graph_)) {
    for (std::size_t i = 2; i < node.optional_inputs().size(); ++i)
      carried_.push_back({node.input(i), std::nullopt});
    const auto inputs = static_cast<std::size_t>(graph_.input_size());
    const auto outputs = static_cast<std::size_t>(graph_.output_size());
    if (inputs != carried_.size() + 2 || outputs < carried_.size() + 1 ||
        node.output_count() > outputs - 1)
      node.fail(fmt::format("carries {} values, but its body has {} inputs and {} outputs",
                            carried_.size(), inputs, outputs));
    rows_.resize(outputs - 1 - carried_.size());
    leave_out_unread(node_, 1 + carried_.size(), carried_.size(), nodes_);
    reads_round_ = reads(graph_.input(0).name());
  }

  void run() {
    const std::int64_t rounds = round_count();
    if (node_.has(0) && rounds > most_rounds) fail_on_many_rounds();
    bool goes_on = !node_.has(1) || truth(node_, node_.input(1), "whether the loop runs");
    const Scope scope(reading_.names, {node_.name() + "/", node_.place(), std::nullopt});
    add_weights(node_, graph_);
    std::int64_t round = 0;
    while (goes_on && round < rounds) {
      const std::vector<Known> before = carried_;
      const MadeInside made = reading_.inside.made();
      goes_on = run_round(round++);
      if (goes_on && reading_.purpose == Purpose::network && repeats(before))
        round = foresee(made, round, rounds);
    }
    check_layers(round);
  }

  void give() {
    for (std::size_t i = 0; i < node_.output_count(); ++i) {
      if (i < carried_.size())
        node_.give(i, carried_[i]);
      else if (node_.wants(i))
        node_.give(i, stacked(rows_[i - carried_.size()]));
    }
  }

 private:
  std::int64_t round_count() const {
    if (!node_.has(0)) return most_rounds + 1;
    const Tensor& count = node_.tensor(0);
    if (!count.constant)
      node_.fail(fmt::format(
          "how many rounds it runs depends on '{}', which {}; it must be known "
          "when the model is read: export the model so that it is fixed{}",
          count.name, computed_from(node_, node_.input(0)), or_fix(node_, node_.input(0))));
    const Shape values = integers(node_, 0, "the number of rounds");
    if (values.size() != 1) node_.fail("the number of rounds is not one number");
    return std::min(values[0], most_rounds + 1);
  }

  [[noreturn]] void fail_on_many_rounds() const {
    node_.fail(fmt::format("runs more than {} rounds; at most so many are unrolled", most_rounds));
  }

  bool reads(const std::string& name) const {
    const auto is_name = [&](const std::string& each) { return each == name; };
    return std::ranges::any_of(nodes_.outputs, is_name) ||
           std::ranges::any_of(nodes_.nodes, [&](const ::onnx::NodeProto* node) {
             return std::ranges::any_of(names_read(*node), is_name);
           });
  }

  /// Whether all rounds to come make what the last one made: they get nothing else to decide by.
  bool repeats(const std::vector<Known>& before) const {
    const auto is_same = [&](const Known& a, const Known& b) {
      return a.id && b.id && (*a.id == *b.id || is_like(*a.id, *b.id));
    };
    return !reads_round_ && std::ranges::equal(before, carried_, is_same);
  }

  /// Two tensors whose values are not known.
  bool is_like(TensorId a, TensorId b) const {
    const Tensor &left = node_.tensor(a), &right = node_.tensor(b);
    return !left.constant && !right.constant && left.type == right.type &&
           left.shape == right.shape &&
           reading_.of_varying_length.contains(a) == reading_.of_varying_length.contains(b) &&
           reading_.of_four_bits.contains(a) == reading_.of_four_bits.contains(b);
  }

  /// After `done` rounds, of which the last will repeat. The number of rounds that are done then.
  std::int64_t foresee(const MadeInside& before, std::int64_t done, std::int64_t rounds) {
    if (rounds > most_rounds) fail_on_many_rounds();
    const auto left = static_cast<std::size_t>(rounds - done);
    reading_.inside.foresee(before, left, node_.place(),
                            fmt::format("unrolls to {} rounds", rounds));
    if (!reading_.inside.counts_repeats()) return done;
    for (std::vector<Known>& rows : rows_) rows.resize(rows.size() + left, rows.back());
    return rounds;
  }

  /// What an inner loop has refused is not refused again.
  void check_layers(std::int64_t rounds) const {
    if (std::ranges::any_of(carried_, [](const Known& one) { return one.problem.has_value(); }))
      return;
    reading_.inside.check_layers(node_.place(), fmt::format("has unrolled {} rounds", rounds));
  }

  /// Whether another round follows.
  bool run_round(std::int64_t round) {
    if (round == most_rounds) fail_on_many_rounds();
    check_layers(round);
    const Scope scope(reading_.names,
                      {fmt::format("{}/{}/", node_.name(), round), node_.place(), std::nullopt});
    const std::vector<std::int64_t> number{round};
    define_input(
        0, {reading_.network.add_constant(make_array<std::int64_t>(DataType::int64, {}, number)),
            std::nullopt});
    Buffer yes(size_of(DataType::boolean));
    yes.data()[0] = std::byte{1};
    define_input(1,
                 {reading_.network.add_constant(make_array(DataType::boolean, {}, std::move(yes))),
                  std::nullopt});
    for (std::size_t i = 0; i < carried_.size(); ++i) define_input(i + 2, carried_[i]);
    read_nodes(reading_, nodes_);
    const std::vector<Known> results = outputs_of(reading_, graph_);
    std::copy_n(results.begin() + 1, carried_.size(), carried_.begin());
    for (std::size_t i = 0; i < rows_.size(); ++i)
      rows_[i].push_back(results[1 + carried_.size() + i]);
    if (!results[0].id) {
      if (results[0].problem) reading_.problems.refuse({*results[0].problem}, reading_.source.file);
      node_.fail("its body does not say whether the loop goes on");
    }
    return truth(node_, *results[0].id, "whether the loop goes on");
  }

  void define_input(std::size_t i, const Known& value) {
    reading_.define(graph_.input(static_cast<int>(i)).name(), value);
  }

  /// The results of all rounds, one after the other.
  Known stacked(const std::vector<Known>& rows) {
    if (rows.empty()) node_.fail("runs no round, and one of its outputs joins all rounds");
    std::vector<TensorId> parts;
    for (const Known& row : rows) {
      if (!row.id) return row;
      Made made{node_.tensor(*row.id).type, node_.tensor(*row.id).shape};
      made.shape.insert(made.shape.begin(), 1);
      parts.push_back(node_.add(Reshape{}, {*row.id}, made));
      if (!reading_.names.is_inside()) reading_.inside.count_layers(1);
      check_layers(std::ssize(parts));
    }
    Made all{node_.tensor(parts[0]).type, node_.tensor(parts[0]).shape};
    for (const TensorId part : parts)
      if (node_.tensor(part).shape != all.shape || node_.tensor(part).type != all.type)
        node_.fail("the rounds give results of different shapes, which cannot be joined");
    all.shape[0] = std::ssize(parts);
    if (parts.size() == 1) return {parts[0], std::nullopt};
    return {node_.add(Concat{0}, parts, all), std::nullopt};
  }

  Node& node_;
  Reading& reading_;
  const ::onnx::GraphProto& graph_;
  NodeList nodes_;
  bool reads_round_ = false;
  std::vector<Known> carried_;
  std::vector<std::vector<Known>> rows_;  // by output that joins all rounds
};

void unroll(Node& node) {
  Unrolled loop(node);
  loop.run();
  loop.give();
}

bool has_loop(const ::onnx::GraphProto& graph) {
  return std::ranges::any_of(graph.node(), [](const ::onnx::NodeProto& node) {
    return node.op_type() == "Loop" ||
           std::ranges::any_of(node.attribute(), [](const ::onnx::AttributeProto& attribute) {
             return attribute.has_g() && has_loop(attribute.g());
           });
  });
}

/// Loops inside of a loop multiply. So a copy of the reading first counts what all of them make
/// together, without reading each round.
void count_inner_loops(const Node& node) {
  const Reading& reading = node.reading();
  if (reading.names.is_inside() || reading.purpose != Purpose::network) return;
  if (!has_loop(node.attributes().graph("body"))) return;
  Reading copy = reading;
  copy.inside.count_repeats();
  Node counted(node, copy);
  unroll(counted);
}

void lower_loop(Node& node) {
  count_inner_loops(node);
  unroll(node);
}

constexpr std::array table_of_control{
    OperatorEntry{"If", lower_if, 1, 1, "else_branch then_branch"},
    OperatorEntry{"Loop", lower_loop, 0, any_number, "body"},
};

}  // namespace

std::span<const OperatorEntry> control_operators() { return table_of_control; }

}  // namespace millrace::formats::onnx
