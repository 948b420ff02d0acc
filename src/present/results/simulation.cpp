#include "present/results/simulation.h"

#include <fmt/format.h>

#include <array>

#include "base/json_text.h"
#include "present/results/energy.h"
#include "present/text/table.h"

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

std::vector<std::string> cells_of(const simulate::ApplicationResult& result,
                                  const std::string& bound) {
  const bool any = result.frames > 0;
  std::vector<std::string> cells{result.name, fmt::to_string(result.frames),
                                 any ? rate_or_unlimited(result.throughput()) : "0", bound,
                                 any ? millrace::to_text(result.latencies.mean()) : "-"};
  for (const auto& [name, share] : percentiles)
    cells.push_back(any ? millrace::to_text(result.latencies.percentile(share)) : "-");
  cells.push_back(any ? millrace::to_text(result.latencies.maximum()) : "-");
  return cells;
}

std::string plans_text(const Simulated& simulated) {
  std::vector<Table::Column> columns{
      {"plan", Align::left}, {"frames"}, {"frames/s"}, {"its bound"}, {"latency: mean"}};
  for (const auto& [name, share] : percentiles) columns.push_back({name});
  columns.push_back({"maximum"});
  Table table(columns);
  for (std::size_t i = 0; i < simulated.applications.size(); ++i) {
    const auto& bound = simulated.bounds[i];
    table.add(cells_of(simulated.result.applications[i],
                       bound ? rate_or_unlimited(bound_rate(*bound)) : "unlimited"));
    if (auto recorded = simulated.recorded[i]) {
      recorded->name = "  as recorded";
      table.add(cells_of(*recorded, ""));
    }
  }
  return table.text();
}

std::string processors_text(const Simulated& simulated) {
  std::vector<Table::Column> columns{{"processor", Align::left}, {"busy"}};
  if (simulated.has_powers) columns.insert(columns.end(), {{"energy"}, {"power"}});
  Table table(columns);
  const double elapsed_s = seconds(simulated.result.elapsed);
  for (const simulate::ProcessorResult& processor : simulated.result.processors) {
    std::vector<std::string> row{
        processor.name,
        elapsed_s > 0 ? fmt::format("{:.1f} %", 100 * seconds(processor.busy) / elapsed_s) : "-"};
    if (simulated.has_powers) {
      row.push_back(four_digits(processor.energy_mj) + " mJ");
      row.push_back(elapsed_s > 0 ? four_digits(processor.energy_mj / elapsed_s) + " mW" : "-");
    }
    table.add(std::move(row));
  }
  return table.text();
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

nlohmann::json latency_json(const simulate::ApplicationResult& result) {
  if (result.frames == 0) return nullptr;
  nlohmann::json json{{"mean_ms", milliseconds(result.latencies.mean())},
                      {"minimum_ms", milliseconds(result.latencies.minimum())},
                      {"maximum_ms", milliseconds(result.latencies.maximum())}};
  for (const auto& [name, share] : percentiles)
    json[fmt::format("{}_ms", name)] = milliseconds(result.latencies.percentile(share));
  return json;
}

nlohmann::json deadline_json(const simulate::Application& application,
                             const simulate::ApplicationResult& result) {
  if (application.deadline == Time{}) return nullptr;
  return {{"deadline_ms", milliseconds(application.deadline)},
          {"missed", result.missed},
          {"first_missed",
           result.first_missed ? nlohmann::json(*result.first_missed) : nlohmann::json()}};
}

nlohmann::json throughput_json(const simulate::ApplicationResult& result) {
  return result.elapsed > Time{} ? nlohmann::json(result.throughput()) : nlohmann::json();
}

std::string times_text(const Simulated& simulated) {
  if (simulated.times == "drawn") return fmt::format("drawn (seed {})", simulated.seed);
  return simulated.times == "recorded" ? "as recorded" : "as predicted";
}

nlohmann::json recorded_json(const std::optional<simulate::ApplicationResult>& recorded) {
  if (!recorded) return nullptr;
  return {{"frames", recorded->frames},
          {"throughput_fps", throughput_json(*recorded)},
          {"latency", latency_json(*recorded)}};
}

nlohmann::json plan_json(const Simulated& simulated, std::size_t index) {
  const simulate::Application& application = simulated.applications[index];
  const simulate::ApplicationResult& result = simulated.result.applications[index];
  const auto& bound = simulated.bounds[index];
  const auto steady = [&]() -> nlohmann::json {
    if (!result.steady) return nullptr;
    return {{"frames", result.steady->frames}, {"span_ns", result.steady->span.count()}};
  };
  const bool open = application.release.arrivals != Arrivals::closed;
  return {{"plan", simulated.files[index]},
          {"name", result.name},
          {"arrivals", arrivals_name(application.release.arrivals)},
          {"period_ms",
           open ? nlohmann::json(milliseconds(application.release.period)) : nlohmann::json()},
          {"frames", result.frames},
          {"throughput_fps", throughput_json(result)},
          {"bound_fps", bound ? nlohmann::json(bound_rate(*bound)) : nlohmann::json()},
          {"steady", steady()},
          {"latency", latency_json(result)},
          {"deadline", deadline_json(application, result)},
          {"recorded", recorded_json(simulated.recorded[index])}};
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
  text += plans_text(simulated) + "\n" + processors_text(simulated) + "\n";
  for (const std::string& note : simulated.borders) text += note + "\n";
  for (const std::string& note : simulated.feeding) text += note + "\n";
  if (!simulated.energy.empty()) text += present::energy_text(simulated.energy) + "\n";
  for (std::size_t i = 0; i < applications.size(); ++i) text += remarks_text(simulated, i);
  return text + fmt::format("simulated {} in {}\n", millrace::to_text(simulated.result.elapsed),
                            millrace::to_text(simulated.took));
}

std::string simulation_json(const Simulated& simulated) {
  nlohmann::json plans = nlohmann::json::array(), processors = nlohmann::json::array();
  for (std::size_t i = 0; i < simulated.applications.size(); ++i)
    plans.push_back(plan_json(simulated, i));
  for (const simulate::ProcessorResult& processor : simulated.result.processors)
    processors.push_back({{"name", processor.name},
                          {"busy_ms", milliseconds(processor.busy)},
                          {"energy_mj", simulated.has_powers ? nlohmann::json(processor.energy_mj)
                                                             : nlohmann::json()}});
  return json_document("simulation", {{"times", simulated.times},
                                      {"seed", simulated.seed},
                                      {"elapsed_ms", milliseconds(simulated.result.elapsed)},
                                      {"plans", plans},
                                      {"processors", processors},
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
