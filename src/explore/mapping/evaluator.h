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

  /// `genes`: by layer. `times`: one per processor.
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
  std::size_t processors_;
  std::vector<std::size_t> leaders_;
  std::vector<double> together_, alone_;  // [layer * processors + processor]
  std::vector<Problem::Edge> edges_;
  std::vector<Problem::Borders> borders_;       // by processor
  std::vector<std::vector<std::size_t>> able_;  // by layer
  bool has_feeding_ = false;
};

}  // namespace millrace::explore
