// millrace report FILE... -o report.html
#include "product/planning/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "application/application_file.h"
#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "cli/options/old_words.h"
#include "cli/options/request.h"
#include "cli/print/progress.h"
#include "cli/verbs/verbs.h"
#include "present/html/page.h"
#include "product/deployment/analyze.h"
#include "product/written_over.h"

namespace millrace::cli {
namespace {

using present::ReportKind;
using present::ReportPart;

struct ReportOptions {
  std::vector<std::string> files;
  std::string model, output = "report.html";
};

void bind(Places& at, ReportOptions& options) {
  at.word("file", options.files,
          "A plan, an application, a deployment, a trace, a profile of a plan's network, or what "
          "`bench`, `plan` or `run` prints with --json; several make one page")
      ->required();
  at.put("model", options.model).put("output", options.output);
}

/// With the plan that an application names.
std::vector<ReportPart> read_parts(const ReportOptions& options) {
  std::vector<ReportPart> parts;
  for (const std::string& file : options.files) {
    parts.push_back(present::read_report_part(file));
    if (parts.back().kind != ReportKind::application) continue;
    const std::string plan = application::read_application(file).mapping.plan;
    if (!plan.empty() && std::ranges::find(options.files, plan) == options.files.end())
      parts.push_back(present::read_report_part(plan));
  }
  return parts;
}

void refuse_to_write_over(const std::vector<ReportPart>& parts, const ReportOptions& options) {
  product::FilesRead files;
  for (const ReportPart& part : parts) {
    files.add("file to show", part.file);
    if (part.kind == ReportKind::plan) files.add_plan(part.file, options.model);
    if (part.kind == ReportKind::deployment) files.add_deployment(part.file, {});
    if (part.kind == ReportKind::application)
      files.add(application::read_application(part.file));
  }
  files.refuse_unwritable({options.output});
}

/// What is known beside its file.
void complete(ReportPart& part, const std::string& model,
              const std::vector<std::string>& profiles) {
  if (part.kind == ReportKind::plan)
    part = present::report_part(product::report_plan(
        {.plan = part.file, .model = model, .context = at_terminal()}, profiles));
  if (part.kind == ReportKind::application)
    add_networks(part, product::report_application(part.file, at_terminal()));
  if (part.kind == ReportKind::deployment)
    add_answers(part, product::analyze_deadlines({.deployment = part.file,
                                                  .simulation = {.seed = 1, .runs = 1000},
                                                  .context = at_terminal()}));
}

/// Their files; takes them out of the parts.
std::vector<std::string> profiles_in(std::vector<ReportPart>& parts) {
  std::vector<std::string> profiles;
  const auto is_profile = [](const ReportPart& part) { return part.kind == ReportKind::profile; };
  for (const ReportPart& part : parts)
    if (is_profile(part)) profiles.push_back(part.file);
  std::erase_if(parts, is_profile);
  return profiles;
}

int run(const ReportOptions& options, const CLI::App&) {
  std::vector<ReportPart> parts = read_parts(options);
  refuse_to_write_over(parts, options);
  const std::vector<std::string> profiles = profiles_in(parts);
  const auto is_plan = [](const ReportPart& part) { return part.kind == ReportKind::plan; };
  if (!profiles.empty() && std::ranges::none_of(parts, is_plan))
    throw InputError("report", "a profile has times of a plan's layers, but there is no plan; add "
                               "the plan's file");
  for (ReportPart& part : parts) complete(part, options.model, profiles);
  write_file(options.output, present::report_page(parts, option_of));
  if (options.output != standard_output) fmt::print("written: {}\n", printable(options.output));
  return 0;
}

}  // namespace

void add_report(CLI::App& app, int& exit_code) {
  add_verb<ReportOptions>(app, exit_code, {"report", bind, run});
}

}  // namespace millrace::cli
