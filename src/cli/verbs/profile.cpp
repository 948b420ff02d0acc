// millrace profile MODEL|SYSTEM
#include "product/profile_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "cli/options/request.h"
#include "cli/print/progress.h"
#include "cli/verbs/verbs.h"
#include "present/results/profile.h"
#include "product/deployment/profile_system.h"

namespace millrace::cli {

namespace {

struct ProfileOptions {
  product::ProfileRequest request;
  product::MeasuringRequest tasks;
  bool json = false;
};

void bind(Places& at, ProfileOptions& options) {
  product::ProfileRequest& request = options.request;
  at.word("model", request.setup.source.file,
          "An ONNX file, a Darknet configuration (.cfg), the name of a zoo network, or a system "
          "file")
      ->required();
  bind_input(at, request.setup);
  bind_processors(at, request.setup);
  bind_variants(at, request.variants);
  at.put("subnet", request.subnet).put("iterations", request.least);
  at.put("duration", request.duration_s).put("warmup", request.warmup);
  at.put("fresh", request.fresh).put("batches", request.batches).put("fit", request.fit.file);
  at.put("also", request.fit.also).put("board", request.fit.board);
  at.put("total", request.fit.totals).put("samples", options.tasks.samples);
  at.put("plugin", options.tasks.tasks.libraries).put("output", request.output);
  at.put("json", options.json);
}

/// A stored profile was measured in another way.
bool asks_to_measure(const CLI::App& verb) {
  constexpr const char* numbers[] = {"--iterations", "--duration", "--warmup"};
  return std::ranges::any_of(numbers, [&](const char* name) { return verb.count(name) > 0; });
}

int profile_system(const ProfileOptions& options, const CLI::App& verb) {
  const product::ProfileRequest& request = options.request;
  refuse_all_but(verb, "systems",
                 {{"output"},
                  {"no-cache", "engine-library", "engine-option", "fresh", "samples", "plugin"}});
  const explore::SystemProfile profile =
      product::profile_system({request.setup.source.file, request.output, options.tasks,
                               request.fresh, request.setup.source.seed, request.setup.context});
  if (options.json)
    show(present::system_profile_json(profile));
  else if (request.output != standard_output)
    show(printable_lines(present::system_profile_text(profile)));
  return 0;
}

int run(const ProfileOptions& options, const CLI::App& verb) {
  product::ProfileRequest request = options.request;
  request.fresh = request.fresh || asks_to_measure(verb);
  for (const std::string& file : {request.output, request.fit.file})
    refuse_two_results(options.json, file);
  const std::string& file = request.setup.source.file;
  const bool is_of_system = verb.count("--samples") + verb.count("--plugin") > 0;
  if (product::is_system_file(file) || (is_of_system && file.ends_with(".yaml")))
    return profile_system(options, verb);
  if (is_of_system)
    throw InputError(verb.count("--samples") > 0 ? "--samples" : "--plugin",
                     "is for systems; '" + file + "' is none, leave it out");
  const product::ProfileResult result = profile_model(request);
  show(options.json ? present::profile_json(result, request)
                    : present::profile_text(result, request));
  return 0;
}

}  // namespace

void add_profile(CLI::App& app, int& exit_code) {
  add_verb<ProfileOptions>(app, exit_code, {"profile", bind, run});
}

}  // namespace millrace::cli
