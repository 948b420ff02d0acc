#pragma once
// The 0/1 program of the paper: each task on one processor, no unit loaded by more than its time.
#include "explore/admission/goal.h"

namespace millrace::explore {

/// What fits, or that nothing does.
struct Admission {
  enum class Answer { fits, does_not_fit, unknown };  // unknown: the time ran out
  Answer answer = Answer::unknown;
  AdmissionChoice choice = {};  // if it fits
  double cost = 0;              // the goal of the choice; 0 for `any`
  double bound = 0;             // no choice costs less
  double relaxed = 0;           // nor less than this, of whole numbers or not
  bool is_optimal() const { return cost <= bound * (1 + 1e-9) + 1e-9; }
};

/// Precondition: check() passes. Each task on exactly one processor on which it meets its deadline,
/// no unit loaded by more than its time. What fits is checked in whole numbers; that nothing fits,
/// or nothing better, is a proof that was replayed.
Admission solve_program(const AdmissionProblem& problem, const AdmissionOptions& options = {});

}  // namespace millrace::explore
