#include "cli/verbs/bench_slices.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/interrupt.h"
#include "cli/print/json_text.h"

namespace millrace::cli {
namespace {

constexpr double longest_s = 3600;

Time parse_duration(const std::string& line, int number) {
  double value = 0;
  const char* const end = line.data() + line.size();
  const auto [stop, error] = std::from_chars(line.data(), end, value);
  if (error != std::errc{} || stop != end || !(value > 0 && value <= longest_s))
    throw InputError(fmt::format("standard input: line {}", number),
                     fmt::format("found '{}', expected the seconds of a slice, above 0 and at most "
                                 "{:.0f}",
                                 line, longest_s));
  return time_from_seconds(value);
}

void print_json_line(const nlohmann::json& line) {
  fmt::print("{}\n", json_text(line, -1));
  std::fflush(stdout);  // the reader waits for it
}

nlohmann::json to_json(const runtime::Load& load) {
  nlohmann::json latencies = nlohmann::json::array();
  for (const Time latency : load.latencies) latencies.push_back(milliseconds(latency));
  return {
      {"frames", load.frames}, {"elapsed_s", seconds(load.elapsed)}, {"latencies_ms", latencies}};
}

}  // namespace

void serve_slices(const api::Loaded& loaded, const SliceOptions& options, std::istream& requests) {
  runtime::Session session = runtime::deploy(loaded.plan, loaded.network, loaded.engine_pointers());
  const Time first = runtime::first_latency(session, loaded.network, options.load.seed);
  // A signal that comes during a slice ends it; one that comes in between ends the process.
  std::optional<InterruptGuard> interrupt;
  runtime::LoadOptions of_slices = options.load;
  of_slices.between = [&] { interrupt->check(); };
  runtime::IntermittentLoad load(std::move(session), loaded.network, of_slices);
  print_json_line({{"ready", true}, {"first_ms", milliseconds(first)}});
  std::string line;
  for (int number = 1; std::getline(requests, line); ++number) {
    const Time duration = parse_duration(line, number);
    interrupt.emplace();
    if (options.warmup > Time{}) load.run(options.warmup, 1);
    print_json_line(to_json(load.run(duration)));
    interrupt.reset();
  }
}

}  // namespace millrace::cli
