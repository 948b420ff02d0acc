#pragma once
// One HTML page about plans, deployments and what was measured of them.
#include <string>
#include <vector>

#include "present/html/parts.h"

namespace millrace::present {

/// Complete in itself: it asks the network for nothing. All data stand in it as one JSON document,
/// from which its script draws; texts of users are only ever shown as text.
std::string report_page(const std::vector<ReportPart>& parts);

}  // namespace millrace::present
