// millrace profile MODEL|SYSTEM
#include "api/profile_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "api/deployment/profile_system.h"
#include "api/json/measured.h"
#include "api/text/measured.h"
#include "api/text/system_profile.h"
#include "base/printable.h"
#include "cli/options/common.h"
#include "cli/options/duration.h"
#include "cli/options/fit.h"
#include "cli/options/model.h"
#include "cli/options/of_kind.h"
#include "cli/options/range_check.h"
#include "cli/verbs/verbs.h"

namespace millrace::cli {

namespace {

struct ProfileOptions {
  api::ProfileRequest request;
  api::MeasuringRequest tasks;
  bool json = false;
  std::vector<CLI::Option*> of_models, of_systems;
};

constexpr std::array<std::string_view, 8> of_both{
    "model",           "--seed",  "--no-cache", "--engine-library",
    "--engine-option", "--fresh", "--output",   "--json"};

void bind_system(CLI::App& verb, ProfileOptions& options) {
  begin_group(verb, "Of systems");
  options.of_systems = {
      verb.add_option("--samples", options.tasks.samples,
                      "Runs of each task on each of its processors, beside the other tasks")
          ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}))
          ->capture_default_str(),
      verb.add_option("--plugin", options.tasks.tasks.libraries,
                      "A shared library with functions of tasks (repeatable)")};
}

/// All others are for models only.
std::vector<CLI::Option*> options_of_models(const CLI::App& verb, const ProfileOptions& options) {
  std::vector<CLI::Option*> result;
  for (const CLI::Option* option : verb.get_options()) {
    const auto is_known = [&](std::string_view name) {
      return option->check_name(std::string(name));
    };
    if (!std::ranges::any_of(of_both, is_known) &&
        std::ranges::find(options.of_systems, option) == options.of_systems.end())
      result.push_back(const_cast<CLI::Option*>(option));
  }
  return result;
}

void bind(CLI::App& verb, ProfileOptions& options) {
  api::ProfileRequest& request = options.request;
  bind_model(verb, request.setup);
  verb.get_option("model")->description(
      "An ONNX file, a Darknet configuration (.cfg), the name of a zoo network, or a system file");
  bind_processors(verb, request.setup);
  bind_variants(verb, request.variants);
  begin_group(verb, "Measurement");
  // A stored profile was measured in another way.
  const auto measure_again = [&request](const std::string&) { request.fresh = true; };
  verb.add_option("--subnet", request.subnet,
                  "FIRST:LAST: measure the layers from FIRST to LAST as one piece instead of each "
                  "layer");
  verb.add_option("--iterations", request.least, "Smallest number of repetitions")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str()
      ->each(measure_again);
  verb.add_option("--duration", request.duration_s,
                  "Shortest time on each processor, in seconds or as 200ms")
      ->transform(in_seconds())
      ->check(between(0.0, 3600.0))
      ->capture_default_str()
      ->each(measure_again);
  verb.add_option("--warmup", request.warmup, "Number of runs before the measurement")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str()
      ->each(measure_again);
  verb.add_flag("--fresh", request.fresh,
                "Measure again, even if a stored profile fits; also if one of the "
                "three numbers above is given");
  verb.add_flag("--batches", request.batches,
                "Also measure the last layers on batches of 2 to 16 frames");
  bind_fit(verb, request.fit);
  bind_system(verb, options);
  begin_group(verb, "Output");
  verb.add_option("-o,--output", request.output, "Also write the profile into this file");
  bind_json(verb, options.json);
  options.of_models = options_of_models(verb, options);
}

int profile_system(const ProfileOptions& options) {
  const api::ProfileRequest& request = options.request;
  refuse_given(options.of_models, request.setup.source.file, "models");
  const api::SystemProfile profile =
      api::profile_system({request.setup.source.file, request.output, options.tasks, request.fresh,
                           request.setup.source.seed, request.setup.context});
  if (options.json)
    fmt::print("{}", system_profile_json(profile));
  else if (request.output != standard_output)
    fmt::print("{}", printable_lines(api::system_profile_text(profile)));
  return 0;
}

int run(const ProfileOptions& options) {
  const api::ProfileRequest& request = options.request;
  for (const std::string& file : {request.output, request.fit.file})
    refuse_two_results(options.json, file);
  const std::string& file = request.setup.source.file;
  const bool is_meant_as_system =
      file.ends_with(".yaml") && std::ranges::any_of(options.of_systems, &CLI::Option::count);
  if (api::is_system_file(file) || is_meant_as_system) return profile_system(options);
  refuse_given(options.of_systems, file, "systems");
  const api::ProfileResult result = profile_model(request);
  fmt::print("{}", options.json ? profile_json(result, request) : profile_text(result, request));
  return 0;
}

}  // namespace

void add_profile(CLI::App& app, int& exit_code) {
  add_verb<ProfileOptions>(
      app, exit_code,
      {{"profile", "Measure every layer on every processor; or the tasks and networks of a system",
        "millrace profile resnet18.onnx"},
       bind,
       run});
}

}  // namespace millrace::cli
