#include "present/results/simulation.h"

#include <fmt/format.h>

#include <array>

#include "base/json_text.h"
#include "present/description.h"
#include "present/results/energy.h"

namespace millrace::present {
namespace {

using simulate::Arrivals;
using simulate::Simulated;

constexpr std::array<std::pair<const char*, double>, 3> percentiles{
    {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}}};

std::string arrivals_text(const simulate::Application& application) {
  const simulate::Release& release = application.release;
  const std::string period = millrace::to_text(release.period);
  switch (release.arrivals) {
    case Arrivals::closed:
      return release.in_flight > 0
                 ? fmt::format("at most {} frame{} in the pipeline", release.in_flight,
                               release.in_flight == 1 ? "" : "s")
                 : "as many frames in the pipeline as fit";
    case Arrivals::periodic:
      return fmt::format("a frame every {}", period) +
             (release.jitter > Time{}
                  ? fmt::format(", up to {} late", millrace::to_text(release.jitter))
                  : "");
    case Arrivals::poisson:
      break;
  }
  return fmt::format("frames at random, one every {} on average", period);
}

const char* arrivals_name(Arrivals arrivals) {
  constexpr std::array names{"closed", "periodic", "poisson"};
  return names[static_cast<std::size_t>(arrivals)];
}

std::string rate_or_unlimited(double rate) { return rate > 0 ? four_digits(rate) : "unlimited"; }

double bound_rate(const dataflow::Fraction& period) { return 1e9 / period.value(); }

/// A plan, or what was recorded of it, which has no bound of its own.
struct PlanRow {
  simulate::ApplicationResult result;
  std::string bound;
};

std::vector<PlanRow> plan_rows(const Simulated& simulated) {
  std::vector<PlanRow> rows;
  for (std::size_t i = 0; i < simulated.applications.size(); ++i) {
    const auto& bound = simulated.bounds[i];
    rows.push_back({simulated.result.applications[i],
                    bound ? rate_or_unlimited(bound_rate(*bound)) : "unlimited"});
    if (!simulated.recorded[i]) continue;
    rows.push_back({*simulated.recorded[i], ""});
    rows.back().result.name = "  as recorded";
  }
  return rows;
}

/// Keys are those of what is measured of a plan, with its bound or without.
const Description<PlanRow>& plan_fields() {
  using Row = PlanRow;
  const auto latency = [](auto time) {
    return [time](const Row& row) {
      return row.result.frames > 0 ? Value::time(time(row.result.latencies)) : Value::none();
    };
  };
  const auto throughput = [](const Row& row) {
    const simulate::ApplicationResult& result = row.result;
    return Value{result.elapsed > Time{} ? nlohmann::json(result.throughput()) : nlohmann::json(),
                 result.frames > 0 ? rate_or_unlimited(result.throughput()) : "0"};
  };
  static const Description<Row> fields = [&] {
    std::vector<RowField<Row>> all{
        {"", "plan", [](const Row& row) { return row.result.name; }},
        {"frames", "frames", [](const Row& row) { return row.result.frames; }},
        {"throughput_fps", "frames/s", throughput},
        {"", "its bound", &Row::bound, Align::right},
        {"latency/mean_ms", "latency: mean", latency([](const auto& of) { return of.mean(); })}};
    for (const auto& [name, share] : percentiles)
      all.push_back({fmt::format("latency/{}_ms", name), name,
                     latency([part = share](const auto& of) { return of.percentile(part); })});
    all.push_back({"latency/maximum_ms", "maximum",
                   latency([](const auto& of) { return of.maximum(); })});
    all.push_back({"latency/minimum_ms", nullptr,
                   latency([](const auto& of) { return of.minimum(); })});
    return Description<Row>(std::move(all));
  }();
  return fields;
}

nlohmann::json measured_json(const simulate::ApplicationResult& result) {
  nlohmann::json json = plan_fields().json({result, ""});
  if (result.frames == 0) json["latency"] = nullptr;
  return json;
}

Description<simulate::ProcessorResult> processor_fields(const Simulated& simulated) {
  using Result = simulate::ProcessorResult;
  const double elapsed_s = seconds(simulated.result.elapsed);
  const bool has_powers = simulated.has_powers;
  const auto busy = [=](const Result& each) {
    const double share = elapsed_s > 0 ? seconds(each.busy) / elapsed_s : 0;
    return Value{milliseconds(each.busy), elapsed_s > 0 ? Value::share(share).text : "-"};
  };
  const auto energy = [=](const Result& each) {
    return has_powers ? Value{each.energy_mj, four_digits(each.energy_mj) + " mJ"} : Value::none();
  };
  const auto power = [=](const Result& each) -> std::string {
    return elapsed_s > 0 ? four_digits(each.energy_mj / elapsed_s) + " mW" : "-";
  };
  return Description<Result>({
      {"name", "processor", &Result::name},
      {"busy_ms", "busy", busy},
      {"energy_mj", has_powers ? "energy" : nullptr, energy},
      {"", has_powers ? "power" : nullptr, power, Align::right},
  });
}

/// What tables do not say of an application.
std::string remarks_text(const Simulated& simulated, std::size_t index) {
  const simulate::Application& application = simulated.applications[index];
  const simulate::ApplicationResult& result = simulated.result.applications[index];
  const auto& bound = simulated.bounds[index];
  std::string text = fmt::format("{}: {}\n", result.name, arrivals_text(application));
  if (result.frames < application.frames)
    text += fmt::format(
        "{}: only {} frames were done; the other plans left no more processor "
        "time\n",
        result.name, result.frames);
  if (result.steady)
    text += fmt::format(
        "{}: periodic after its beginning, {} every {}\n", result.name,
        result.steady->frames == 1 ? "a frame" : fmt::format("{} frames", result.steady->frames),
        millrace::to_text(result.steady->span));
  const bool open = application.release.arrivals != Arrivals::closed;
  if (open && bound && static_cast<double>(application.release.period.count()) < bound->value())
    text += fmt::format(
        "{}: frames arrive faster than the plan works; more and more of them wait, and latency "
        "grows without limit\n",
        result.name);
  if (application.deadline > Time{} && result.missed == 0)
    text += fmt::format("{}: all {} frames are done within their deadline of {}\n", result.name,
                        result.frames, millrace::to_text(application.deadline));
  else if (application.deadline > Time{})
    text += fmt::format(
        "{}: {} of {} frames miss their deadline of {} ({:.3g} %), first frame {}\n", result.name,
        result.missed, result.frames, millrace::to_text(application.deadline),
        100 * static_cast<double>(result.missed) / static_cast<double>(result.frames),
        *result.first_missed);
  return text;
}

nlohmann::json deadline_json(const simulate::Application& application,
                             const simulate::ApplicationResult& result) {
  if (application.deadline == Time{}) return nullptr;
  return {{"deadline_ms", milliseconds(application.deadline)},
          {"missed", result.missed},
          {"first_missed", or_null(result.first_missed)}};
}

std::string times_text(const Simulated& simulated) {
  if (simulated.times == "drawn") return fmt::format("drawn (seed {})", simulated.seed);
  return simulated.times == "recorded" ? "as recorded" : "as predicted";
}

nlohmann::json plan_json(const Simulated& simulated, std::size_t index) {
  const simulate::Application& application = simulated.applications[index];
  const simulate::ApplicationResult& result = simulated.result.applications[index];
  const auto& bound = simulated.bounds[index];
  const auto& recorded = simulated.recorded[index];
  nlohmann::json json = measured_json(result);
  json.update({{"plan", simulated.files[index]},
               {"name", result.name},
               {"arrivals", arrivals_name(application.release.arrivals)},
               {"period_ms", nullptr},
               {"bound_fps", nullptr},
               {"steady", nullptr},
               {"deadline", deadline_json(application, result)},
               {"recorded", recorded ? measured_json(*recorded) : nullptr}});
  if (application.release.arrivals != Arrivals::closed)
    json["period_ms"] = milliseconds(application.release.period);
  if (bound) json["bound_fps"] = bound_rate(*bound);
  if (result.steady)
    json["steady"] = {{"frames", result.steady->frames}, {"span_ns", result.steady->span.count()}};
  return json;
}

}  // namespace

std::string simulation_text(const Simulated& simulated) {
  const auto& applications = simulated.applications;
  std::string text =
      fmt::format("{} on {} processor{}, times {}\n\n",
                  applications.size() == 1 ? applications.front().name
                                           : fmt::format("{} plans", applications.size()),
                  simulated.result.processors.size(),
                  simulated.result.processors.size() == 1 ? "" : "s", times_text(simulated));
  text += plan_fields().text(plan_rows(simulated)) + "\n" +
          processor_fields(simulated).text(simulated.result.processors) + "\n";
  for (const std::string& note : simulated.borders) text += note + "\n";
  for (const std::string& note : simulated.feeding) text += note + "\n";
  if (!simulated.energy.empty()) text += present::energy_text(simulated.energy) + "\n";
  for (std::size_t i = 0; i < applications.size(); ++i) text += remarks_text(simulated, i);
  return text + fmt::format("simulated {} in {}\n", millrace::to_text(simulated.result.elapsed),
                            millrace::to_text(simulated.took));
}

std::string simulation_json(const Simulated& simulated) {
  nlohmann::json plans = nlohmann::json::array();
  for (std::size_t i = 0; i < simulated.applications.size(); ++i)
    plans.push_back(plan_json(simulated, i));
  const auto& processors = simulated.result.processors;
  return json_document("simulation",
                       {{"times", simulated.times},
                        {"seed", simulated.seed},
                        {"elapsed_ms", milliseconds(simulated.result.elapsed)},
                        {"plans", plans},
                        {"processors", processor_fields(simulated).array(processors)},
                        {"borders", simulated.borders},
                        {"feeding", simulated.feeding},
                        {"energy_per_frame", energy_json(simulated.energy)}});
}

std::string names_of(const simulate::Simulated& simulated) {
  std::string names;
  for (const simulate::Application& application : simulated.applications)
    names += (names.empty() ? "" : ", ") + application.name;
  return names;
}

}  // namespace millrace::present
