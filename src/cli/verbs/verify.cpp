// millrace verify PLAN|MODEL
#include "api/verify.h"

#include <fmt/format.h>

#include "api/json/measured.h"
#include "api/text/measured.h"
#include "cli/options/common.h"
#include "cli/options/frames.h"
#include "cli/options/range_check.h"
#include "cli/options/runnable.h"
#include "cli/verbs/verbs.h"

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
                  "1e-4; 0.01 with f16, 0.05 with bf16, 0.25 with int8; and what float32 rounds")
      ->check(between(0.0, 1.0));
  begin_group(verb, "Output");
  bind_json(verb, options.json);
}

int run(const VerifyOptions& options) {
  const std::string& against = options.request.against;
  const api::VerifyResult result = verify(options.request);
  fmt::print(
      "{}", options.json ? verification_json(result, against) : verification_text(result, against));
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
