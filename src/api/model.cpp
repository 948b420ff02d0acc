#include "api/model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>

#include "api/cache.h"
#include "api/progress.h"
#include "api/shared_cores.h"
#include "api/simulated_board.h"
#include "base/error.h"
#include "base/file.h"
#include "board/cores_in_use.h"
#include "board/shipped.h"
#include "engine/registry.h"
#include "plan/plan_file.h"
#include "profile/batches.h"
#include "profile/profile_file.h"
#include "profile/select.h"
#include "profile/unlike.h"
#include "runtime/meanwhile.h"
#include "runtime/parallel.h"
#include "schedule/read_plan.h"

namespace millrace::api {
namespace {

std::string profile_name(const std::string& network_hash, const board::Board& board,
                         const std::string& engine) {
  std::string processors;
  for (const board::Processor& processor : board.processors) processors += "-" + processor.name;
  return fmt::format("{}-{}-{}{}.profile.json", network_hash.substr(0, 16),
                     board::hash_of(board).substr(0, 8), engine, processors);
}

profile::Profile measure(const network::Network& network, const board::Board& board,
                         engine::Engine& engine, const ProfileSource& source) {
  board::note_use(board::all_cores(board).cores);
  Progress progress("measuring " + network.name);
  profile::MeasureOptions measure = source.measure;
  measure.progress = [&](const std::string& what, double share) { progress.show(share, what); };
  measure.meanwhile = runtime::meanwhile;
  measure.in_parallel = runtime::in_parallel;
  return profile::measure(network, board, engine, measure);
}

/// Plans made from such a profile are for a machine that is like that.
void note_unlike(const profile::Profile& profile, const board::Board& board) {
  for (const profile::Unlike& each : profile::unlike(profile, board))
    note(
        fmt::format("{} took {:.2f} times as long as {} in {}, though they are alike: something "
                    "else was at work there; measure again with `millrace profile --fresh`",
                    each.slower, each.ratio, each.faster, board::to_text(each.precision)));
}

void measure_batches(profile::Profile& profile, const network::Network& network,
                     engine::Engine& engine, const ProfileSource& source) {
  Progress progress("measuring " + network.name);
  profile::MeasureOptions measure = source.measure;
  measure.progress = [&](const std::string& what, double share) { progress.show(share, what); };
  measure.meanwhile = runtime::meanwhile;
  profile::measure_batches(profile, network, engine, measure);
}

/// A stored profile is a convenience: one that cannot be used is measured again.
std::optional<profile::Profile> stored_profile(
    const std::filesystem::path& path,
    const std::function<Verdict(const profile::Profile&)>& fitting) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  try {
    profile::Profile stored = profile::read_profile(path);
    const Verdict verdict = fitting(stored);
    if (verdict) return stored;
    note("measuring again, the stored profile does not fit: " + verdict.reason());
  } catch (const InputError& error) {
    note(fmt::format("measuring again, the stored profile cannot be read: {}", error.what()));
  }
  return std::nullopt;
}

void store(const profile::Profile& profile, const std::filesystem::path& path) {
  make_cache_folder();
  try {
    profile::write_profile(path, profile);
  } catch (const std::exception& error) {
    note(fmt::format("the profile is not kept for the next time: {}", error.what()));
  }
}

}  // namespace

std::vector<board::Precision> precisions_of(const VariantOptions& options) {
  if (options.precisions.empty()) return {board::Precision::f32};
  std::vector<board::Precision> result;
  for (const std::string& text : options.precisions) {
    const board::Precision precision = board::read_precision(text, "--precision");
    if (std::find(result.begin(), result.end(), precision) != result.end())
      throw InputError("--precision", fmt::format("'{}' stands there twice; give it once", text));
    result.push_back(precision);
  }
  return result;
}

std::string precision_names(const VariantOptions& options, const std::string& between) {
  std::vector<std::string> names;
  for (const board::Precision each : precisions_of(options)) names.push_back(board::to_text(each));
  return fmt::format("{}", fmt::join(names, between));
}

board::Board load_board(const ModelOptions& options, const std::string& of) {
  const board::Board board = of.empty() ? board::this_machine() : board::find_board(of);
  if (options.processors.empty()) return board;
  const board::Board chosen = board::only(board, options.processors);
  if (of.empty()) return chosen;
  for (const board::Processor& processor : chosen.processors)
    if (std::find(board.processors.begin(), board.processors.end(), processor) ==
        board.processors.end())
      throw InputError("--processors " + processor.name,
                       "cores are joined on this machine only; in a board's file, a device says "
                       "`together: true`");
  return chosen;
}

std::map<std::string, engine::Engine*> Loaded::engine_pointers() const {
  std::map<std::string, engine::Engine*> result;
  for (const auto& [name, engine] : engines) result[name] = engine.get();
  return result;
}

LayerId layer_named(const network::Network& network, const std::string& name,
                    const std::string& option) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    if (network.layers[i].name == name) return LayerId(i);
    names.push_back(network.layers[i].name);
  }
  const std::string near = did_you_mean(name, names);
  throw InputError(option + " " + name,
                   fmt::format("is no layer of {}{}", network.name,
                               near.empty() ? "; `millrace inspect` lists them" : near));
}

bool is_plan_file(const std::string& path) {
  return std::filesystem::path(path).extension() == ".json";
}

std::unique_ptr<Loaded> read_plan_and_network(const std::string& path,
                                              const std::string& model_override) {
  auto loaded = std::make_unique<Loaded>();
  loaded->network = load_network(model_of_plan(path, model_override));
  loaded->plan = schedule::read_plan(path, loaded->network);
  return loaded;
}

void make_ready(Loaded& loaded, const std::string& path, const RunOptions& options) {
  loaded.board = board::this_machine();
  try {
    plan::check_board(loaded.plan, loaded.board);
    add_simulated_engine(loaded, options.time_scale, options.use_cache);
    for (const plan::Stage& stage : loaded.plan.stages)
      if (!loaded.engines.contains(stage.engine))
        loaded.engines[stage.engine] =
            engine::make_engine(stage.engine, engine_options(options.use_cache));
  } catch (const InputError& error) {
    throw InputError(path, error.what());
  }
  if (loaded.simulated.engine == nullptr) note_shared_cores(loaded.plan);
}

std::unique_ptr<Loaded> load_plan(const std::string& path, const std::string& model_override,
                                  const RunOptions& options) {
  auto loaded = read_plan_and_network(path, model_override);
  make_ready(*loaded, path, options);
  return loaded;
}

profile::Profile load_profile(const network::Network& network, const board::Board& board,
                              engine::Engine& engine, const ProfileSource& source) {
  const std::string hash = network::hash_of(network);
  const auto fitting = [&](const profile::Profile& profile) {
    return profile::fits(profile, {hash, &board, engine.name(), engine.version()});
  };
  if (!source.path.empty()) {
    profile::Profile given = profile::read_profile(source.path);
    if (const Verdict verdict = fitting(given); !verdict)
      throw InputError(source.path.string(),
                       verdict.reason() + "; measure again with `millrace profile`");
    if (const auto lacking = profile::missing(given, board, source.measure); !lacking.empty())
      throw InputError(source.path.string(),
                       fmt::format("was not measured in {} with this --max-error; measure again "
                                   "with `millrace profile --precision {}`",
                                   to_text(lacking.front()), to_text(lacking.front())));
    if (source.batches && !profile::has_batches(given, network, source.measure))
      throw InputError(source.path.string(),
                       "has no times of several frames at once; measure again with `millrace "
                       "profile --batches`");
    return given;
  }
  note_shared_cores(board::all_cores(board).cores);
  const auto cache = source.cache ? cache_folder() : std::nullopt;
  const auto path = cache.value_or("") / profile_name(hash, board, engine.name());
  ProfileSource wanted = source;
  std::optional<profile::Profile> profile;
  if (cache && !source.fresh) profile = stored_profile(path, fitting);
  if (profile) wanted.measure.precisions = profile::missing(*profile, board, source.measure);
  const bool complete = wanted.measure.precisions.empty();
  if (!complete) {
    profile::Profile measured = measure(network, board, engine, wanted);
    note_unlike(measured, board);
    if (profile)
      profile::extend(*profile, measured);
    else
      profile = std::move(measured);
  }
  const bool lacks_batches =
      source.batches && !profile::has_batches(*profile, network, source.measure);
  if (lacks_batches) measure_batches(*profile, network, engine, source);
  if (cache && (!complete || lacks_batches)) store(*profile, path);
  return std::move(*profile);
}

}  // namespace millrace::api
