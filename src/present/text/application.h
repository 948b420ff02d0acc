#pragma once
// What `run APPLICATION` and `bench APPLICATION` measured, for people.
#include <string>
#include <vector>

#include "present/svg/waterfall.h"
#include "application/bench/bench.h"
#include "product/application/run.h"

namespace millrace::present {

std::string application_text(const application::ApplicationResult& result);

/// A step for each row.
std::vector<WaterfallStep> waterfall_of(const application::ApplicationResult& result);

/// Frames, rates and ages of a run, a sentence each.
std::vector<std::string> summary_of(const product::ApplicationTotals& run);

}  // namespace millrace::present
