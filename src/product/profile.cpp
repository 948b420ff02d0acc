#include "product/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "base/error.h"
#include "base/interrupt.h"
#include "board/cores_in_use.h"
#include "engine/registry.h"
#include "product/cache.h"
#include "product/shared_cores.h"
#include "profile/batches.h"
#include "profile/profile_file.h"
#include "profile/select.h"
#include "profile/unlike.h"
#include "runtime/background_load.h"
#include "runtime/parallel.h"

namespace millrace::product {
namespace {

std::string profile_name(const std::string& network_hash, const board::Board& board,
                         const std::string& engine, bool quick) {
  std::string processors;
  for (const board::Processor& processor : board.processors) processors += "-" + processor.name;
  return fmt::format("{}-{}-{}{}{}.profile.json", network_hash.substr(0, 16),
                     board::hash_of(board).substr(0, 8), engine, processors,
                     quick ? ".quick" : "");
}

profile::Profile measure(const network::Network& network, const board::Board& board,
                         engine::Engine& engine, const ProfileSource& source) {
  board::note_use(board::all_cores(board).cores);
  const std::string name = engine.name();
  const bool is_one = name.find(',') == std::string::npos;
  const auto work = source.context.begin("measuring " + network.name +
                                         (is_one ? std::string() : " with " + name));
  const InterruptGuard interrupt(source.context.interrupt);
  profile::MeasureOptions measure = source.measure;
  measure.progress = [&](const std::string& what, double share) { work->show(share, what); };
  measure.look = [&] { interrupt.check(); };
  measure.under_background_load = runtime::under_background_load;
  measure.in_parallel = runtime::in_parallel;
  return profile::measure(network, board, engine, measure);
}

/// Plans made from such a profile are for a machine that is like that.
void note_unlike(const profile::Profile& profile, const board::Board& board,
                 const millrace::Context& context) {
  for (const profile::Unlike& each : profile::unlike(profile, board))
    context.note(
        fmt::format("{} took {:.2f} times as long in {} as {}, which is an equal core: another "
                    "program probably ran there; measure again with 'millrace profile MODEL "
                    "⟨fresh⟩'",
                    each.slower, each.ratio, board::to_text(each.precision), each.faster));
}

void measure_batches(profile::Profile& profile, const network::Network& network,
                     engine::Engine& engine, const ProfileSource& source) {
  const auto work = source.context.begin("measuring " + network.name);
  const InterruptGuard interrupt(source.context.interrupt);
  profile::MeasureOptions measure = source.measure;
  measure.progress = [&](const std::string& what, double share) { work->show(share, what); };
  measure.look = [&] { interrupt.check(); };
  measure.under_background_load = runtime::under_background_load;
  profile::measure_batches(profile, network, engine, measure);
}

/// A stored profile is a convenience: one that cannot be used is measured again.
std::optional<profile::Profile> stored_profile(
    const std::filesystem::path& path,
    const std::function<Verdict(const profile::Profile&)>& fitting,
    const millrace::Context& context) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  try {
    profile::Profile stored = profile::read_profile(path);
    const Verdict verdict = fitting(stored);
    if (verdict) return stored;
    context.note("measuring again, the stored profile does not fit: " + verdict.reason());
  } catch (const InputError& error) {
    context.note(
        fmt::format("measuring again, the stored profile cannot be read: {}", error.what()));
  }
  return std::nullopt;
}

void store(const profile::Profile& profile, const std::filesystem::path& path,
           const millrace::Context& context) {
  make_cache_folder(context);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(path, ignored)))
    std::filesystem::remove(path, ignored);  // writing to a pipe would wait for a reader
  try {
    profile::write_profile(path, profile);
  } catch (const std::exception& error) {
    context.note(fmt::format("the profile is not kept for the next time: {}", error.what()));
  }
}

}  // namespace

profile::Profile load_profile(const network::Network& network, const board::Board& board,
                              engine::Engine& engine, const ProfileSource& source) {
  const std::string hash = network::hash_of(network);
  const auto fitting = [&](const profile::Profile& profile) {
    return profile::fits(profile, {hash, &board, engine.name(), engine.version()});
  };
  if (!source.path.empty()) {
    profile::Profile given =
        source.given != nullptr ? *source.given : profile::read_profile(source.path);
    if (const Verdict verdict = fitting(given); !verdict)
      throw InputError(source.path.string(),
                       verdict.reason() + "; measure again with `millrace profile`");
    if (const auto lacking = profile::missing(given, board, source.measure); !lacking.empty())
      throw InputError(source.path.string(),
                       fmt::format("was not measured in {} with this ⟨max_error⟩; measure again "
                                   "with `millrace profile ⟨precision⟩ {}`",
                                   to_text(lacking.front()), to_text(lacking.front())));
    if (source.batches && !profile::has_batches(given, network, source.measure))
      throw InputError(source.path.string(),
                       "has no times of several frames at once; measure again with 'millrace "
                       "profile MODEL ⟨batches⟩'");
    return given;
  }
  note_shared_cores(board::all_cores(board).cores, source.context);
  const auto cache = source.context.cache ? cache_folder(source.context) : std::nullopt;
  const auto path = cache.value_or("") / profile_name(hash, board, engine.name(), source.quick);
  ProfileSource wanted = source;
  std::optional<profile::Profile> profile;
  if (cache && !source.fresh) profile = stored_profile(path, fitting, source.context);
  if (profile) wanted.measure.precisions = profile::missing(*profile, board, source.measure);
  const bool complete = wanted.measure.precisions.empty();
  if (!complete) {
    profile::Profile measured = measure(network, board, engine, wanted);
    note_unlike(measured, board, source.context);
    if (profile)
      profile::extend(*profile, measured);
    else
      profile = std::move(measured);
  }
  const bool lacks_batches =
      source.batches && !profile::has_batches(*profile, network, source.measure);
  if (lacks_batches) measure_batches(*profile, network, engine, source);
  if (cache && (!complete || lacks_batches)) store(*profile, path, source.context);
  return std::move(*profile);
}

std::string engine_of(const Setup& setup, const profile::Profile& measured) {
  if (!setup.engine.empty() || measured.processors.empty()) return engine_of(setup);
  const std::string& engines = measured.processors.front().engine;
  const auto is_same = [&](const profile::ProcessorProfile& p) { return p.engine == engines; };
  if (!std::ranges::all_of(measured.processors, is_same)) return engine_of(setup);
  try {
    if (engine::can_start_all(engines, measuring_options(setup.context))) return engines;
  } catch (const InputError&) {  // names of another build: load_profile() says what differs
  }
  return engine_of(setup);
}

}  // namespace millrace::product
