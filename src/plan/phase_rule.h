#pragma once
// Where the layers of a processor are cut into phases. Plain numbers: the search asks often.
#include <cstdint>
#include <span>
#include <vector>

namespace millrace::plan {

/// Layers come in topological order and go into the open phase of their processor, or begin its
/// next one: where the batch changes, or where an input comes from a phase that waits for the open
/// one. A phase runs in one piece: it waits for all that any of its layers waits for, and for the
/// phase before it on its processor. Following layers alone would not do: with a1, a2 on one
/// processor and b1, b2 on another, edges b1 to a1 and a2 to b2, no layer waits for itself, but the
/// phases {a1, a2} and {b1, b2} wait for each other.
class PhaseRule {
 public:
  explicit PhaseRule(std::size_t processors) : processors_(processors), phases_(processors) {}

  struct Layer {
    std::size_t processor = 0;
    std::int64_t batch = 1;
  };
  /// `inputs`: the numbers of layers that were added before. The layer's phase on its processor,
  /// counted from 0.
  std::size_t add(const Layer& layer, std::span<const std::size_t> inputs);
  /// So many on this processor.
  std::size_t phases(std::size_t processor) const { return phases_[processor].batches.size(); }

 private:
  /// A processor's phases. `waits`: by phase, then by processor, how many of its phases this one
  /// waits for, also through others; its own only those before it.
  struct Phases {
    std::vector<std::int64_t> batches;
    std::vector<std::size_t> waits;
  };
  struct Place {
    std::size_t processor, phase;
  };

  std::span<std::size_t> waits_of(const Place& place) {
    return std::span(phases_[place.processor].waits)
        .subspan(place.phase * processors_, processors_);
  }
  bool would_wait_for_itself(const Place& open, std::span<const std::size_t> inputs);
  void begin_phase(const Layer& layer);
  void add_wait(const Place& open, const Place& before);

  std::size_t processors_;
  std::vector<Phases> phases_;  // by processor
  std::vector<Place> places_;   // by layer
};

}  // namespace millrace::plan
