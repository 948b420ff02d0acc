// millrace verify PLAN|MODEL
#include "api/verify.h"

#include <fmt/format.h>

#include "api/json/measured.h"
#include "cli/options/common.h"
#include "cli/options/frames.h"
#include "cli/options/range_check.h"
#include "cli/options/runnable.h"
#include "cli/verbs/verbs.h"
#include "report/table.h"

namespace millrace::cli {
namespace {

struct VerifyOptions {
  api::VerifyRequest request;
  bool json = false;
};

void bind(CLI::App& verb, VerifyOptions& options) {
  api::VerifyRequest& request = options.request;
  bind_runnable(verb, request.runnable, "A plan file (.json)");
  bind_frames(verb, request.frames);
  begin_group(verb, "Comparison");
  verb.add_option("--random-mappings", request.mappings,
                  "Also verify this number of random mappings, which are not contiguous")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  verb.add_option("--against", request.against,
                  "The engine of the sequential run in float32. Other engines than 'reference' are "
                  "faster, but may have the same fault as the plan")
      ->capture_default_str();
  verb.add_option("--tolerance", request.tolerance,
                  "Largest absolute difference, as a share of the largest absolute value. Default: "
                  "1e-4; 0.01 with f16, 0.05 with bf16, 0.25 with int8")
      ->check(between(0.0, 1.0));
  begin_group(verb, "Output");
  bind_json(verb, options.json);
}

std::string table_text(const api::VerifyResult& result) {
  using report::Align;
  report::Table table({{"plan", Align::left},
                       {"stages"},
                       {"phases"},
                       {"frames"},
                       {"largest error"},
                       {"", Align::left}});
  for (const api::VerifiedPlan& plan : result.plans)
    table.add({plan.name, std::to_string(plan.stages), std::to_string(plan.phases),
               std::to_string(plan.frames), fmt::format("{:.1e}", plan.error),
               plan.bit_equal          ? "bit-equal"
               : plan.within_tolerance ? "within tolerance"
                                       : "DIFFERENT"});
  return table.text();
}

int run(const VerifyOptions& options) {
  const std::string& against = options.request.against;
  const api::VerifyResult result = verify(options.request);
  if (options.json)
    fmt::print("{}", verification_json(result, against));
  else
    fmt::print("{}{}{}{}: the pipeline and a sequential run of {} {}\n", table_text(result),
               result.why, result.equal() ? "" : "\n", result.network, against,
               result.equal() ? "agree" : "differ");
  return result.equal() ? 0 : answer_is_no;
}

}  // namespace

void add_verify(CLI::App& app, int& exit_code) {
  add_verb<VerifyOptions>(app, exit_code,
                          {{"verify", "Compare a plan's outputs with those of the reference engine",
                            "millrace verify resnet18.plan.json --random-mappings 20"},
                           bind,
                           run});
}

}  // namespace millrace::cli
