#pragma once
// The 0/1 program of the paper, solved by CBC.
#include <optional>
#include <vector>

#include "explore/admission/problem.h"

namespace millrace::explore {

/// What is to be as small as possible. In billionths of units, or in millijoules a second.
enum class AdmissionGoal {
  any,                // whatever fits
  total_utilisation,  // the paper's
  weighted,           // the same, each task times its weight
  energy,
  largest_load,  // of a unit
};

struct AdmissionOptions {
  AdmissionGoal goal = AdmissionGoal::total_utilisation;
  std::vector<double> weights = {};  // by task; of `weighted`
  double seconds = 60;               // for the program
};

/// What fits, or that nothing does.
struct Admission {
  enum class Answer { fits, does_not_fit, unknown };  // unknown: the time ran out
  Answer answer = Answer::unknown;
  AdmissionChoice choice = {};  // if it fits
  double cost = 0;              // the goal of the choice; 0 for `any`
  double bound = 0;             // no choice costs less
  bool is_optimal() const { return cost <= bound * (1 + 1e-9) + 1e-9; }
};

/// What the goal is for a choice.
double cost_of(const AdmissionProblem& problem, const AdmissionOptions& options,
               const AdmissionChoice& choice);

/// Precondition: check() passes. Each task on exactly one processor on which it meets its deadline,
/// no unit loaded by more than its time. Every answer is checked in whole numbers.
Admission solve_program(const AdmissionProblem& problem, const AdmissionOptions& options = {});

/// No choice costs less: the same without whole numbers. Nothing: even so, nothing fits.
std::optional<double> relaxed_cost(const AdmissionProblem& problem,
                                   const AdmissionOptions& options = {});

}  // namespace millrace::explore
