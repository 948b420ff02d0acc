#pragma once
// What runs and benches of models and applications came to, for people and for programs.
#include <string>
#include <vector>

#include "application/bench/bench.h"
#include "present/svg/waterfall.h"
#include "product/application/run.h"
#include "product/run.h"

namespace millrace::present {

std::string application_text(const application::ApplicationResult& result);
/// An `application_bench`.
std::string application_json(const application::ApplicationResult& result);

/// A step for each row.
std::vector<WaterfallStep> waterfall_of(const application::ApplicationResult& result);

/// Says that an output, or the input of the frame that is named, holds what is no finite number, or
/// that a layer that is named makes NaN: a sentence each.
std::vector<std::string> not_finite_text(const std::string& frame, const std::string& layer,
                                         bool outputs_are_finite);

/// The totals of a run of a plan or a model.
std::string run_text(const product::RunTotals& totals);
/// Frames, rates and ages of a run, and what was wrong with pictures, a sentence each.
std::vector<std::string> summary_of(const product::ApplicationTotals& run);
/// The last line of a run: a `run`, or an `application_run`.
std::string run_json(const product::RunTotals& totals);
std::string run_json(const product::ApplicationTotals& run);

}  // namespace millrace::present
