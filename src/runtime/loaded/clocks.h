#pragma once
// The clocks that cores had while a plan was measured or ran.
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/trace.h"
#include "runtime/loaded/loaded.h"
#include "runtime/scheduling/clock_watch.h"

namespace millrace::runtime {

/// The CPU devices of this machine on which the plan has stages that are not simulated.
std::vector<board::Device> devices_to_watch(const Loaded& loaded);

/// By device the highest clock of one sample: for plan::Origin.
std::map<std::string, double> highest_clocks(const ClockRecord& clocks);

/// One text for each device that ran clearly slower than when the plan was measured: "cpu1 ran at a
/// mean of 1.20 of 2.40 GHz". Compares with the highest clock of the device if that is unknown.
std::vector<std::string> low_clocks(const ClockRecord& clocks,
                                    const std::map<std::string, double>& measured_at_mhz);

/// Adds what was seen to a trace that counts from `begin`.
void add_clocks(const ClockRecord& clocks, std::chrono::steady_clock::time_point begin,
                Trace& trace);

}  // namespace millrace::runtime
