#pragma once
// What a page about a plan or an application shows beside its file. Nothing runs and nothing is
// measured.
#include <optional>
#include <string>
#include <vector>

#include "application/application.h"
#include "base/trace.h"
#include "explore/choose.h"
#include "product/analyze.h"
#include "profile/profile.h"

namespace millrace::product {

struct PlanReport {
  Analysis analysis;
  Trace round;  // the first frames, as predicted; empty where times are unknown
  std::vector<profile::Profile> profiles = {};  // of the plan's network
};

/// As analyze() without its measurement. `profiles`: files; those of other networks are left out.
PlanReport report_plan(const AnalyzeRequest& request,
                       const std::vector<std::string>& profiles = {});

struct ApplicationReport {
  application::Application application;
  network::Network network;
  std::optional<network::Network> of_crops = {};  // the second one, if it has one
};

/// InputError if the file is no application, or one of its models cannot be read.
ApplicationReport report_application(const std::string& file, const Context& context);

/// Predicted latency of frames that come one bound of the candidate apart. 0: unknown.
Time latency_of(const explore::Candidate& candidate, const network::Network& network);

}  // namespace millrace::product
