#pragma once
// Inside the explore room: search results made into plans, predicted, measured and compared.
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/verdict.h"
#include "explore/choose.h"
#include "plan/variants.h"

namespace millrace::explore {

/// What a candidate is made for: the problem, with what layers take that gather.
struct SearchCase {
  Problem problem;
  std::vector<std::int64_t> batches = {};                         // by LayerId; empty: 1 for all
  VariantsByProcessor one_frame_variants = {};                    // empty: those of the problem
  std::map<ProcessorId, std::vector<ProcessorId>> replicas = {};  // as BuildOptions has them
  std::vector<std::int64_t> streams = {};        // by ProcessorId; empty: 1 for all
  std::vector<std::int64_t> layer_streams = {};  // by LayerId, for the plan; empty: as above
};

/// What the profile says of the plan's stages and phases, each of a frame.
plan::Evidence predicted(const plan::Plan& plan, const plan::Mapping& mapping,
                         const SearchCase& given);

/// The variants of the mapping, and the calibration where it has int8; null: without one.
plan::Variants variants_for(const Problem& problem, const plan::Mapping& mapping,
                            const network::Calibration* calibration);

class Candidates {
 public:
  /// All borrowed.
  Candidates(const network::Network& network, const board::Board& board,
             const ChooseOptions& options)
      : network_(network), board_(board), options_(options) {}

  /// `before`: what was spent on it until now.
  void add(const std::string& name, const SearchCase& given,
           const std::function<SearchResult()>& search, Time before = {});
  /// The promising ones, and one processor if they prove slower than that is predicted to be.
  void measure();

  std::size_t best() const;
  bool is_in_time(const Candidate& candidate) const;
  const std::vector<Candidate>& list() const { return list_; }
  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  /// By their bounds.
  std::vector<Candidate*> promising();
  /// Plans that are alike share one measurement.
  void measure(const std::vector<Candidate*>& chosen);
  /// Together, or one after the other where a board has no room for two.
  std::vector<plan::Measured> results_of(std::span<const plan::Assessed> plans) const;
  Verdict without_fallback(const plan::Mapping& mapping, const SearchCase& given) const;
  void build_plan(Candidate& candidate, const SearchCase& given) const;
  /// Not faster by more than measurements tell apart than one with fewer phases.
  bool is_needless(const Candidate& candidate) const;
  bool is_faster(const Candidate& a, const Candidate& b) const;
  bool is_as_fast(const Candidate& candidate, const Candidate& fastest) const;
  /// Of the board that draws most.
  board::DeviceEnergy energy_of(const Candidate& candidate) const;
  Verdict within_energy(const Candidate& candidate) const;
  std::size_t least_energy() const;

  const network::Network& network_;
  const board::Board& board_;
  const ChooseOptions& options_;
  std::vector<Candidate> list_;
  std::vector<std::string> left_out_;
};

}  // namespace millrace::explore
