#include "present/html/page.h"

#include <array>
#include <string_view>

#include "base/json_text.h"
#include "base/text/escape.h"
#include "base/text/masked.h"
#include "base/text/settings.h"
#include "present/html/texts.h"

namespace millrace::present {
namespace {

/// By ReportKind.
constexpr std::array<const char*, 9> kind_names{"plan",  "deployment",        "trace",
                                                "bench", "application_bench", "planning",
                                                "run",   "application",       "profile"};

void mask(nlohmann::json& value) {
  if (value.is_string()) value = masked(value.get<std::string>());
  if (value.is_structured())
    for (nlohmann::json& item : value) mask(item);
}

std::string data_of(const std::vector<ReportPart>& parts) {
  nlohmann::json data = {{"version", MILLRACE_VERSION}, {"parts", nlohmann::json::array()}};
  for (const ReportPart& part : parts)
    data["parts"].push_back({{"file", part.file},
                             {"kind", kind_names[static_cast<std::size_t>(part.kind)]},
                             {"document", part.document},
                             {"facts", part.facts}});
  mask(data);
  return json_in_html(json_text(data, -1));
}

std::string title_of(const std::vector<ReportPart>& parts) {
  for (const ReportPart& part : parts)
    if (part.kind == ReportKind::plan || part.kind == ReportKind::planning)
      return part.document["network"].get<std::string>();
    else if (part.kind == ReportKind::deployment)
      return part.document["system"].value("name", part.file);
    else if (part.kind == ReportKind::application)
      return part.facts.value("application", part.file);
  return parts.empty() ? "" : masked(parts.front().file);
}

}  // namespace

std::string report_page(const std::vector<ReportPart>& parts,
                        const std::function<std::string(std::string_view)>& word) {
  const std::array<std::pair<std::string_view, std::string>, 5> values{
      {{"{{title}}", xml_text(title_of(parts))},
       {"{{css}}", report_css},
       {"{{charts}}", charts_js},
       {"{{report}}", with_settings(report_js, word)},
       {"{{data}}", data_of(parts)}}};
  std::string page;
  std::string_view left = page_html;
  for (std::size_t begin = left.find("{{"); begin != left.npos; begin = left.find("{{")) {
    page += left.substr(0, begin);
    left.remove_prefix(begin);
    for (const auto& [name, value] : values)
      if (left.starts_with(name)) {
        page += value;
        left.remove_prefix(name.size());
        break;
      }
  }
  return page += left;
}

}  // namespace millrace::present
