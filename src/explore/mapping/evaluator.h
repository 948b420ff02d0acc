#pragma once
// Equations 3.2 to 3.4, laid out for speed: searches ask them millions of times.
#include <cstdint>
#include <span>
#include <vector>

#include "explore/mapping/problem.h"

namespace millrace::explore {

/// The processor of a layer. Small, since searches copy mappings all the time.
using Gene = std::uint16_t;
std::vector<Gene> genes_of(const plan::Mapping& mapping);

/// Copies what it needs of the problem.
class Evaluator {
 public:
  explicit Evaluator(const Problem& problem);

  std::size_t layers() const { return leaders_.size(); }
  std::size_t processors() const { return processors_; }
  /// By layer: the first layer of its fused group, itself if it has none.
  const std::vector<std::size_t>& leaders() const { return leaders_; }

  /// The processors, and behind them their copy engines.
  std::size_t resources() const { return resources_; }
  /// `genes`: by layer. `times`: one per resource.
  void processor_times(std::span<const Gene> genes, std::span<double> times) const;
  /// What `layer` costs on `processor` when its group's first layer is on `leader_processor`.
  double layer_time(std::size_t layer, std::size_t processor, std::size_t leader_processor) const {
    return time_of(layer, processor, processor == leader_processor);
  }
  /// The same, in one piece with its group or separated from it.
  double time_of(std::size_t layer, std::size_t processor, bool together) const {
    return (together ? together_ : alone_)[layer * processors_ + processor];
  }

  const std::vector<Problem::Edge>& edges() const { return edges_; }
  /// Adds what the edge costs, `sign` times, if it crosses from one memory to another. `genes`: a
  /// processor for each layer.
  template <class Genes>
  void add_edge(const Problem::Edge& edge, const Genes& genes, double sign,
                std::span<double> times) const {
    const std::size_t from = genes[edge.from], to = genes[edge.to];
    if (from == to || is_one_space(from, to)) return;
    times[writes_on_[from]] += sign * write_ns(edge, from);
    times[reads_on_[to]] += sign * read_ns(edge, to);
  }
  /// Adds what copy engines do for the layer's ends there.
  void add_ends(std::size_t layer, std::size_t processor, double sign,
                std::span<double> times) const {
    if (reads_on_[processor] == processor) return;
    for (const Problem::End& end : ends_[layer])
      times[(end.is_input ? reads_on_ : writes_on_)[processor]] +=
          sign * end_ns(end, processor);
  }
  /// Whether copy engines do what crosses the borders of a processor, while it works.
  bool has_copy_engine(std::size_t processor) const { return reads_on_[processor] != processor; }
  /// Whether both work in one memory, which is not the host's.
  bool is_one_space(std::size_t a, std::size_t b) const {
    return !borders_[a].space.empty() && borders_[a].space == borders_[b].space;
  }
  /// What an edge that crosses costs where it begins, and where it ends.
  double write_ns(const Problem::Edge& edge, std::size_t processor) const {
    const Problem::Borders& costs = borders_[processor];
    return costs.border_ns + static_cast<double>(edge.elements) * costs.write_ns;
  }
  double read_ns(const Problem::Edge& edge, std::size_t processor) const {
    const Problem::Borders& costs = borders_[processor];
    return costs.border_ns + static_cast<double>(edge.elements) * costs.read_ns;
  }

  /// Whether cores feed devices; adds what that takes to the cores' times.
  bool has_feeding() const { return has_feeding_; }
  void feed(std::span<double> times) const { add_feeding(times, borders_); }

  /// Where a layer can run, ascending.
  const std::vector<std::size_t>& able(std::size_t layer) const { return able_[layer]; }

 private:
  void name_copy_engines();
  double end_ns(const Problem::End& end, std::size_t processor) const {
    const Problem::Borders& costs = borders_[processor];
    return costs.border_ns +
           static_cast<double>(end.elements) * (end.is_input ? costs.read_ns : costs.write_ns);
  }

  std::size_t processors_, resources_;
  std::vector<std::size_t> reads_on_, writes_on_;  // by processor: the resource that does it
  std::vector<std::vector<Problem::End>> ends_;    // by layer
  std::vector<std::size_t> leaders_;
  std::vector<double> together_, alone_;  // [layer * processors + processor]
  std::vector<Problem::Edge> edges_;
  std::vector<Problem::Borders> borders_;       // by processor
  std::vector<std::vector<std::size_t>> able_;  // by layer
  bool has_feeding_ = false;
};

}  // namespace millrace::explore
