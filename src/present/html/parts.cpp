#include "present/html/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "application/application_file.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/yaml.h"
#include "plan/plan_file.h"
#include "present/html/facts.h"
#include "present/results/analysis.h"
#include "present/results/deadlines.h"

namespace millrace::present {
namespace {

using nlohmann::json;

enum class FieldType { text, number };
/// "rows[].name": of each item.
struct Field {
  std::string_view path;
  FieldType type = FieldType::number;
};

constexpr Field bench_fields[] = {{"rows[].name", FieldType::text},
                                  {"rows[].throughput_fps"},
                                  {"rows[].plan_is"},
                                  {"rows[].rounds_fps[]"},
                                  {"rows[].latency.p50_ms"},
                                  {"rows[].latency.p90_ms"},
                                  {"rows[].latency.p99_ms"},
                                  {"rows[].latency.maximum_ms"},
                                  {"stages[].name", FieldType::text},
                                  {"stages[].alone_ms"},
                                  {"stages[].arena_bytes"},
                                  {"stages[].weights_bytes"}};
constexpr Field application_fields[] = {{"rows[].name", FieldType::text},
                                        {"rows[].throughput_fps"},
                                        {"rows[].rounds_fps[]"},
                                        {"rows[].latency_ms"},
                                        {"busy[].name", FieldType::text},
                                        {"busy[].on", FieldType::text},
                                        {"busy[].busy"},
                                        {"bottleneck", FieldType::text}};
constexpr Field planning_fields[] = {{"network", FieldType::text},
                                     {"candidates[].name", FieldType::text},
                                     {"candidates[].bound_ns"},
                                     {"candidates[].period_ns"},
                                     {"candidates[].latency_ns"}};

void require(const JsonView& view, std::string_view path, FieldType type) {
  if (path.starts_with("[]")) {
    path.remove_prefix(2 + (path.size() > 2 ? 1 : 0));
    for (const JsonView& item : view.items()) require(item, path, type);
  } else if (!path.empty()) {
    const std::size_t end = std::min(path.find('['), path.find('.'));
    std::string_view rest = path.substr(std::min(end, path.size()));
    if (rest.starts_with('.')) rest.remove_prefix(1);
    require(view.at(path.substr(0, end)), rest, type);
  } else {
    type == FieldType::text ? static_cast<void>(view.text()) : static_cast<void>(view.number());
  }
}

ReportKind kind_of(const JsonView& root, const json& document) {
  if (document.is_object() && document.contains("traceEvents")) return ReportKind::trace;
  if (root.has("kind")) {
    const std::string kind = root.at("kind").text();
    if (kind == "deployment") return ReportKind::deployment;
    if (kind == "bench") return ReportKind::bench;
    if (kind == "application_bench") return ReportKind::application_bench;
    if (kind == "planning") return ReportKind::planning;
    if (kind == "profile") return ReportKind::profile;
    if (kind == "run" || kind == "application_run") return ReportKind::run;
  } else if (root.has("stages") && root.has("channels")) {
    return ReportKind::plan;
  }
  root.fail(
      "is nothing that a report shows; give a plan, an application, a deployment, a trace, a "
      "profile, or what `bench`, `plan` or `run` prints with ⟨json⟩");
}

std::span<const Field> fields_of(ReportKind kind) {
  if (kind == ReportKind::bench) return bench_fields;
  if (kind == ReportKind::application_bench) return application_fields;
  if (kind == ReportKind::planning) return planning_fields;
  return {};
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    if (end > begin) lines.push_back(text.substr(begin, end - begin));
  }
  return lines;
}

/// What `run` writes for frames, a line each, and perhaps the line of the whole run.
ReportPart read_run(const std::string& file, const std::vector<std::string_view>& lines) {
  ReportPart part{file, ReportKind::run};
  std::vector<Time> latencies;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string place = file + ", line " + std::to_string(i + 1);
    const json line = json::parse(lines[i], nullptr, false);
    if (line.is_discarded())
      throw InputError(place, "is not JSON; give the lines as `run` wrote them");
    const JsonView view(line, place);
    if (view.has("kind"))
      part.document = line;
    else
      latencies.push_back(time_from_seconds(view.at("latency_ms").number() / 1000));
  }
  part.facts["latencies"] = latency_facts(std::move(latencies));
  return part;
}

std::string text_of(const YamlNode& list) {
  constexpr std::size_t most = 12;
  std::string text;
  for (const YamlNode& item : list.items) {
    if (&item - list.items.data() == most)
      return fmt::format("{}, ... ({} in all)", text, list.items.size());
    text += (text.empty() ? "" : ", ") + item.text;
  }
  return text;
}

/// The values below it: names as paths, and texts.
void add_settings(json& settings, const YamlNode& node, const std::string& path) {
  const auto is_scalar = [](const YamlNode& each) { return each.kind == YamlNode::Kind::scalar; };
  if (is_scalar(node)) settings.push_back({path, node.text});
  if (node.kind == YamlNode::Kind::list && std::ranges::all_of(node.items, is_scalar)) {
    settings.push_back({path, text_of(node)});
    return;
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const std::string& key = node.items[i].key;
    add_settings(settings, node.items[i],
                 key.empty()    ? fmt::format("{}[{}]", path, i)
                 : path.empty() ? key
                                : path + "." + key);
  }
}

ReportPart read_application_part(const std::string& file) {
  const YamlNode root = read_yaml(file);
  const YamlView view(root, file);
  if (!view.is_map() || !view.has("network"))
    view.fail("is no application, which has a network; of a system, `millrace deploy` makes the "
              "deployment that a report shows");
  ReportPart part{file, ReportKind::application};
  part.document = {{"steps", json::array()}};
  for (const YamlNode& step : root.items) {
    json settings = json::array();
    add_settings(settings, step, {});
    if (step.key != "format")
      part.document["steps"].push_back({{"name", step.key}, {"settings", settings}});
  }
  return part;
}

void add_trace(ReportPart& part, const Trace& trace) {
  std::vector<Time> latencies;
  for (const TraceFrame& frame : trace.frames)
    latencies.push_back(frame.completed - frame.released);
  part.facts["trace"] = trace_facts(trace);
  part.facts["latencies"] = latency_facts(std::move(latencies));
}

}  // namespace

ReportPart read_report_part(const std::string& file) {
  if (application::is_application_file(file)) return read_application_part(file);
  const std::string text = read_file(file);
  const std::vector<std::string_view> lines = split_lines(text);
  const auto is_json = [](std::string_view line) { return json::accept(line); };
  if (lines.size() > 1 && is_json(lines.front()) && !is_json(text)) return read_run(file, lines);
  ReportPart part{file};
  part.document = read_json(file);
  const JsonView root(part.document, file);
  part.kind = kind_of(root, part.document);
  for (const Field& field : fields_of(part.kind)) require(root, field.path, field.type);
  if (part.kind == ReportKind::run) part.facts["latencies"] = nullptr;
  if (part.kind != ReportKind::trace && part.kind != ReportKind::profile) return part;
  part.document = nullptr;
  if (part.kind == ReportKind::trace) add_trace(part, read_chrome_trace(file));
  return part;
}

ReportPart report_part(const product::PlanReport& report) {
  const product::Analysis& analysis = report.analysis;
  const product::Loaded& loaded = *analysis.loaded;
  ReportPart part{analysis.file};
  part.document = plan::to_json({loaded.plan, loaded.origin, loaded.evidence}, loaded.network,
                                std::filesystem::path(analysis.file).parent_path());
  part.document.erase("calibration");  // long, and no part of the page
  part.facts["analysis"] = json::parse(analysis_json(analysis));
  part.facts["layers"] = layer_facts(analysis);
  if (!report.profiles.empty())
    part.facts["layer_times"] = layer_times(analysis, report.profiles);
  part.facts["stages"] = stage_facts(analysis);
  if (!report.round.firings.empty()) part.facts["trace"] = trace_facts(report.round);
  return part;
}

void add_networks(ReportPart& part, const product::ApplicationReport& report) {
  part.facts["application"] = report.application.name;
  part.facts["network"] = network_facts(report.network);
  if (report.of_crops) part.facts["of_crops"] = network_facts(*report.of_crops);
}

void add_answers(ReportPart& part, const analysis::DeploymentAnswers& answers) {
  part.facts["analysis"] = json::parse(deadlines_json(answers));
}

}  // namespace millrace::present
