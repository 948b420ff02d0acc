#pragma once
// One HTML page about plans, deployments and what was measured of them.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "present/html/parts.h"

namespace millrace::present {

/// Complete in itself: it asks the network for nothing. All data stand in it as one JSON document,
/// from which its script draws; texts of users are only ever shown as text.
/// `word`: how the reader says a setting that a hint names.
std::string report_page(
    const std::vector<ReportPart>& parts,
    const std::function<std::string(std::string_view setting)>& word =
        [](std::string_view setting) { return std::string(setting); });

}  // namespace millrace::present
