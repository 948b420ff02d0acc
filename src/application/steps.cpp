#include "application/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "application/batching.h"
#include "base/error.h"
#include "network/finite.h"

namespace millrace::application {
namespace {

/// False: it is left out.
bool decode_or_skip(const Application& application, const Parts& parts, Travel& travel) {
  const Picture& picture = travel.outcome.picture;
  try {
    parts.source->decode(travel.outcome.picture);
  } catch (const InputError& error) {
    if (!parts.skip || !may_be_skipped(application, picture)) throw;
    travel.undecoded = error;
  }
  return !travel.undecoded;
}

}  // namespace

std::optional<Picture> read_next(Source& source) {
  const auto begin = Clock::now();
  auto picture = source.next();
  if (picture) picture->reading = Clock::now() - begin;
  return picture;
}

bool may_be_skipped(const Application& application, const Picture& picture) {
  const Input& input =
      picture.source == 0 ? application.input : application.beside.at(picture.source - 1);
  std::error_code ignored;
  return input.kind == InputKind::images && input.on_error == OnError::skip &&
         std::filesystem::is_directory(input.path, ignored);
}

void prepare(const Application& application, const Parts& parts, Travel& travel) {
  Picture& picture = travel.outcome.picture;
  travel.begin = Clock::now();
  if (picture.taken == Clock::time_point{}) picture.taken = travel.begin;
  if (!decode_or_skip(application, parts, travel)) return;
  guarded(application.preprocess.kind, picture,
          [&] { travel.inputs = parts.before->before(picture); });
  travel.has_finite_inputs = network::is_finite(travel.inputs);
  travel.prepared = Clock::now();
}

std::vector<network::Array> take_inputs(std::vector<Travel>& travels, std::int64_t batch) {
  if (batch == 1) return std::exchange(travels.front().inputs, {});
  std::vector<std::vector<network::Array>> each;
  for (Travel& travel : travels) each.push_back(std::exchange(travel.inputs, {}));
  return joined(each, batch);
}

void give_outputs(std::vector<Travel>& travels, std::vector<network::Array> outputs,
                  std::int64_t batch) {
  if (batch == 1) {
    travels.front().outputs = std::move(outputs);
    return;
  }
  for (std::size_t i = 0; i < travels.size(); ++i)
    travels[i].outputs = part_of(outputs, static_cast<std::int64_t>(i), batch);
}

void examine(const Application& application, const Parts& parts, Travel& travel) {
  travel.examined = Clock::now();
  travel.has_finite_outputs = network::is_finite(travel.outputs);
  guarded(application.postprocess.kind, travel.outcome.picture, [&] {
    travel.outcome.findings = parts.after->after(travel.outcome.picture, travel.outputs);
  });
  travel.outputs.clear();
  travel.done = Clock::now();
}

void count(const Travel& travel, Totals& totals) {
  ++totals.frames;
  totals.finite = totals.finite && travel.has_finite_outputs;
  if (!travel.has_finite_inputs && totals.not_finite_input.empty())
    totals.not_finite_input =
        fmt::format("frame {} ({})", travel.outcome.picture.frame, travel.outcome.picture.name);
  const Findings& findings = travel.outcome.findings;
  totals.crops.crops += static_cast<std::int64_t>(findings.crops.size());
  totals.crops.most = std::max(totals.crops.most, static_cast<std::int64_t>(findings.crops.size()));
  totals.crops.too_many += findings.not_cropped;
  totals.crops.outside += findings.outside;
  if (!travel.given.empty()) totals.suspects.push_back(travel.given);
  Ages& ages = totals.ages;
  ages.last_lag = travel.outcome.picture.lag;
  ages.last = travel.outcome.latency;
  ages.longest_lag = std::max(ages.longest_lag, ages.last_lag);
  ages.longest = std::max(ages.longest, ages.last);
  StepTimes& times = totals.times;
  times.reading += travel.outcome.picture.reading;
  times.before += travel.prepared - travel.begin;
  times.entry += travel.arrived - travel.pipeline - travel.prepared;
  times.pipeline += travel.pipeline;
  times.exit += travel.examined - travel.arrived;
  times.after += travel.done - travel.examined;
  const bool has_crops = travel.cropped != Clock::time_point{};
  if (has_crops) times.crops += travel.cropped - travel.done;
  times.turn += Clock::now() - (has_crops ? travel.cropped : travel.done);
  times.total += travel.outcome.latency;
}

}  // namespace millrace::application
