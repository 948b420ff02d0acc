#pragma once
// What the profile says of a configuration, in microseconds: enough to choose what to measure.
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "explore/configuration/configuration.h"
#include "explore/mapping/evaluator.h"

namespace millrace::explore {

class Predictor {
 public:
  /// Borrowed.
  explicit Predictor(const SearchContext& context);

  /// The largest time of a processor, in nanoseconds; what takes turns takes its share. Infinite
  /// where a layer has no place.
  double bottleneck(const Configuration& configuration) const;

  /// Whether the subnets it needs seem not to be too many; realise() counts them.
  bool may_fit(const Configuration& configuration) const;

 private:
  const Evaluator& evaluator_for(const Configuration& configuration) const;

  struct Limit {
    std::vector<std::size_t> processors;
    std::size_t subnets = std::numeric_limits<std::size_t>::max();
  };
  std::vector<std::size_t> subnets_of(const plan::Mapping& mapping) const;

  const SearchContext& context_;
  Evaluator evaluator_;
  mutable std::map<std::vector<std::int64_t>, Evaluator> paced_;  // by streams of processors
  std::vector<std::vector<std::size_t>> inputs_;  // by layer: the layers it reads from
  std::vector<Limit> limits_;
};

}  // namespace millrace::explore
