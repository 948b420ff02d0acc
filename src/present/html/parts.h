#pragma once
// What a page is about: files that Millrace wrote, and what is known of them.
#include <nlohmann/json.hpp>
#include <string>

#include "analysis/schedulability.h"
#include "base/trace.h"
#include "product/planning/report.h"

namespace millrace::present {

enum class ReportKind {
  plan,
  deployment,
  trace,
  bench,
  application_bench,
  planning,
  run,
  application,
  profile
};

/// A file. `document`: what stands in it; `facts`: what was found out about it.
struct ReportPart {
  std::string file;
  ReportKind kind = ReportKind::plan;
  nlohmann::json document = nullptr;
  nlohmann::json facts = nlohmann::json::object();
};

/// What the file is, by its content. InputError if it is nothing that a page shows, or lacks what
/// the page shows of it. Of plans, deployments and applications (.yaml): the document, unchecked;
/// add what the functions below say. Of traces and profiles: without the document, which can be
/// long. A profile is no part of a page by itself: report_part() takes its times.
ReportPart read_report_part(const std::string& file);

/// The plan as a file of today's format, its network, its proof, and the predicted round.
ReportPart report_part(const product::PlanReport& report);
/// Sizes of its networks.
void add_networks(ReportPart& part, const product::ApplicationReport& report);
/// Response times, utilisation and power.
void add_answers(ReportPart& part, const analysis::DeploymentAnswers& answers);

}  // namespace millrace::present
