#pragma once
// Inside the folder: a choice that grows task by task, and what else fits beside it. Exact.
#include <optional>
#include <vector>

#include "explore/admission/goal.h"

namespace millrace::explore {

/// A processor that a task may have.
struct PlaceOption {
  struct Use {
    std::size_t unit = 0;
    UnitParts parts = 0;
    double share = 0;  // the same
  };
  std::size_t processor = 0;
  double cost = 0;  // what it adds to a goal that is a sum
  std::vector<Use> uses;
};

class Occupancy {
 public:
  static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

  /// Borrowed.
  Occupancy(const AdmissionProblem& problem, const AdmissionOptions& options);

  const std::vector<PlaceOption>& options(std::size_t task) const { return options_[task]; }
  const AdmissionChoice& choice() const { return choice_; }
  bool is_placed(std::size_t task) const { return choice_[task] != nowhere; }
  UnitParts load(std::size_t unit) const { return loads_[unit]; }
  double cost() const { return cost_; }

  /// Whether all of its units have time left for it, it is not excluded, and it is not before the
  /// processor of an equal task of a lower number: of equal choices only one is looked at.
  bool may_have(std::size_t task, const PlaceOption& option) const;
  void put(std::size_t task, const PlaceOption& option);
  void take(std::size_t task, const PlaceOption& option);

 private:
  void add_refused(const std::vector<Placed>& places);
  bool has_time(std::size_t task, const PlaceOption& option) const;
  /// Whether nothing that is refused would be complete.
  bool is_refused(std::size_t task, std::size_t processor) const;
  /// Whether this unit has time for the task, where rounded shares do not tell.
  bool has_time_exactly(std::size_t unit, std::size_t task, const PlaceOption& option) const;

  const AdmissionProblem& problem_;
  std::vector<std::vector<PlaceOption>> options_;            // by task; by processor
  std::vector<std::optional<std::size_t>> before_, behind_;  // the next equal tasks
  std::vector<std::vector<std::size_t>> excludes_;           // by processor
  /// How many tasks that are alike, by the first of them, on a processor.
  struct Alike {
    std::size_t first = 0, processor = 0, count = 0;
  };
  std::vector<std::size_t> alike_;  // by task
  std::vector<std::vector<Alike>> refused_;
  std::vector<std::vector<std::vector<std::size_t>>> refused_with_;  // by first and processor
  std::vector<std::vector<std::size_t>> count_;  // likewise: how many are placed
  AdmissionChoice choice_;
  std::vector<UnitParts> loads_;
  std::vector<std::size_t> on_unit_, users_;  // tasks by unit and by processor
  double cost_ = 0;
};

}  // namespace millrace::explore
