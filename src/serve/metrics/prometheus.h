#pragma once
// Figures in the text form that Prometheus reads, version 0.0.4.
#include <string>

#include "serve/metrics/figures.h"
#include "serve/metrics/sensors.h"

namespace millrace::serve {

inline constexpr const char* prometheus_type = "text/plain; version=0.0.4; charset=utf-8";

/// docs/methods/operations.md lists the names.
std::string prometheus_text(const FiguresNow& figures, const SensorsNow& sensors);

}  // namespace millrace::serve
