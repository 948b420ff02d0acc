#pragma once
// Small plans with given times, ready to be simulated.
#include <chrono>
#include <string>
#include <vector>

#include "plan/networks.h"
#include "simulate/simulate.h"

namespace millrace::simulate::test {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;
using std::chrono_literals::operator""s;

inline Application application_of(plan::Plan plan, const plan::PhaseTimes& times) {
  Application application{.name = plan.network_name, .plan = std::move(plan), .durations = {}};
  for (const auto& phases : times) {
    std::vector<Duration> durations;
    for (const Time time : phases) durations.push_back({time, time});
    application.durations.add(std::move(durations));
  }
  return application;
}

/// Stages one after the other, each a layer on a processor of its own, from core0 on.
inline Application chain(const std::vector<Time>& times, plan::BuildOptions options = {}) {
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  std::vector<std::size_t> processors;
  plan::PhaseTimes by_phase;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (i > 0) edges.emplace_back(i - 1, i);
    processors.push_back(i);
    by_phase.add({times[i]});
  }
  const auto network = plan::test::network_of(times.size(), edges);
  const auto board = plan::test::board_of(times.size());
  return application_of(plan::build(network, board, plan::test::mapping_of(processors), options),
                        by_phase);
}

/// One phase on core0.
inline Application alone(const std::string& name, Time time, Release release,
                         std::size_t layers = 1) {
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  for (std::size_t i = 1; i < layers; ++i) edges.emplace_back(i - 1, i);
  const auto network = plan::test::network_of(layers, edges);
  const std::vector<std::size_t> processors(layers, 0);
  Application application = application_of(
      plan::build(network, plan::test::board_of(1), plan::test::mapping_of(processors)), {{time}});
  application.name = name;
  application.release = release;
  return application;
}

inline Release every(Time period) { return {.arrivals = Arrivals::periodic, .period = period}; }

}  // namespace millrace::simulate::test
