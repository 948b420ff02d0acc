#include "plan/origin_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/quantity.h"
#include "base/split.h"
#include "formats/fixed_inputs.h"
#include "formats/random_weights.h"

namespace millrace::plan {
namespace {

using Json = nlohmann::ordered_json;

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 8> origin_keys{"model", "model_beside", "weights_beside",
                                                      "network", "board", "profile", "options",
                                                      "version"};

/// From the plan's folder to the file; empty if there is no such file.
std::string way_to(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  if (file.empty() || !fs::is_regular_file(file, error)) return "";
  const fs::path way = fs::relative(file, folder.empty() ? fs::path(".") : folder, error);
  return error ? "" : way.string();
}

/// `file`, or what lies at `way` from the plan's folder, or beside the plan under its name.
fs::path nearest_file(const fs::path& file, const std::string& way, const fs::path& folder) {
  if (file.empty()) return file;
  std::error_code error;
  std::vector<fs::path> places{file};
  if (!way.empty()) places.insert(places.begin(), folder / way);
  if (file.has_parent_path()) places.push_back(folder / file.filename());
  for (const fs::path& place : places) {
    if (!fs::is_regular_file(place, error)) continue;
    const bool is_same = fs::equivalent(place, file, error) && !error;
    return is_same ? file : fs::absolute(place).lexically_normal();
  }
  return file;
}

std::string text_at(const JsonView& json, std::string_view key) {
  return json.has(key) ? json.at(key).text() : "";
}

std::string precisions_text(const std::vector<board::Precision>& precisions) {
  std::vector<std::string> words;
  for (const board::Precision precision : precisions) words.push_back(board::to_text(precision));
  return fmt::format("{}", fmt::join(words, ","));
}

std::vector<board::Precision> read_precisions(const std::string& text, const std::string& place) {
  std::vector<board::Precision> precisions;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');)
    precisions.push_back(board::read_precision(word, place));
  return precisions;
}

template <class Add>
void add_processing(const Add& add, const ProcessingTimes& times) {
  const auto text_of = [](Time time) { return time > Time{} ? duration_text(time) : ""; };
  add("processing_frames", times.frames > 0 ? std::to_string(times.frames) : "");
  add("processing_post", text_of(times.post));
  add("processing_pre", text_of(times.pre));
  add("processing_reading", text_of(times.reading));
}

void read_processing(ProcessingTimes& times, const std::string& name, const JsonView& json) {
  const std::string text = json.text(), place = json.place();
  if (name == "processing_frames") times.frames = read_number<std::int64_t>(text, place);
  if (name == "processing_post") times.post = read_duration(text, place);
  if (name == "processing_pre") times.pre = read_duration(text, place);
  if (name == "processing_reading") times.reading = read_duration(text, place);
}

std::string clocks_text(const std::map<std::string, double>& clocks_mhz) {
  std::vector<std::string> words;
  for (const auto& [device, clock] : clocks_mhz)
    words.push_back(fmt::format("{}={:g}", device, clock));
  return fmt::format("{}", fmt::join(words, ","));
}

std::map<std::string, double> read_clocks(const std::string& text, const std::string& place) {
  std::map<std::string, double> clocks_mhz;
  for (const std::string& word : split(text, ',')) {
    const std::size_t equals = std::min(word.find('='), word.size());
    if (equals == 0 || equals + 1 >= word.size())
      throw InputError(place, fmt::format("found '{}', expected such as cpu0=1800", word));
    clocks_mhz[word.substr(0, equals)] = read_number<double>(word.substr(equals + 1), place);
  }
  return clocks_mhz;
}

/// What is not as usual, by name, ascending; all of it text.
Json options_json(const Origin& origin) {
  Json json = Json::object();
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) json[name] = text;
  };
  const bool searched = !origin.search.empty();
  add("board", origin.board_name);
  add("board_cpu", origin.board_cpu);
  add("board_file", origin.board_file);
  add("clocks_mhz", clocks_text(origin.clocks_mhz));
  add("divided", formats::divided_text(origin.model));
  add("fallback", origin.fallback ? "" : "no");
  add("fitness", origin.fitness);
  add("fix", formats::fixed_text(origin.model));
  add("imported_from", origin.imported_from);
  add("limits", origin.limits);
  add("max_batch", origin.max_latency ? std::to_string(origin.max_batch) : "");
  add("max_error", origin.max_error ? fmt::format("{:g}", *origin.max_error) : "");
  add("max_latency", origin.max_latency ? duration_text(*origin.max_latency) : "");
  add("max_loss", origin.max_loss ? fmt::format("{:g}%", 100 * *origin.max_loss) : "");
  add("max_memory", origin.max_memory ? bytes_text(*origin.max_memory) : "");
  add("precision", precisions_text(origin.precisions));
  add_processing(add, origin.processing);
  add("search", origin.search);
  const std::uint64_t seed = origin.model.seed;
  add("seed", searched || seed != formats::ModelSource{}.seed ? std::to_string(seed) : "");
  add("shape", formats::shapes_text(origin.model));
  add("size", origin.model.size ? std::to_string(*origin.model.size) : "");
  add("streams", origin.streams > 1 ? std::to_string(origin.streams) : "");
  add("weights", origin.model.weights.string());
  return json;
}

void read_option(Origin& origin, const std::string& name, const JsonView& json) {
  const std::string text = json.text(), place = json.place();
  if (name == "board") origin.board_name = text;
  if (name == "board_cpu") origin.board_cpu = text;
  if (name == "board_file") origin.board_file = text;
  if (name == "clocks_mhz") origin.clocks_mhz = read_clocks(text, place);
  if (name == "divided") formats::add_divided(origin.model, text, place);
  if (name == "fallback") origin.fallback = text != "no";
  if (name == "fitness") origin.fitness = text;
  if (name == "fix") formats::add_all_fixed(origin.model, text, place);
  if (name == "imported_from") origin.imported_from = text;
  if (name == "limits") origin.limits = text;
  if (name == "max_batch") origin.max_batch = read_number<std::int64_t>(text, place);
  if (name == "max_error") origin.max_error = read_number<double>(text, place);
  if (name == "max_latency") origin.max_latency = read_duration(text, place);
  if (name == "max_loss") origin.max_loss = read_share(text, place);
  if (name == "max_memory") origin.max_memory = read_bytes(text, place);
  if (name == "precision") origin.precisions = read_precisions(text, place);
  read_processing(origin.processing, name, json);
  if (name == "search") origin.search = text;
  if (name == "seed") origin.model.seed = read_number<std::uint64_t>(text, place);
  if (name == "shape") formats::add_shapes(origin.model, text, place);
  if (name == "size") origin.model.size = read_number<std::int64_t>(text, place);
  if (name == "streams") origin.streams = static_cast<int>(read_number<std::int64_t>(text, place));
  if (name == "weights") origin.model.weights = text;
}

}  // namespace

Json to_json(const Origin& origin, const fs::path& folder) {
  Json json = {{"model", origin.model.file}};
  const std::string model = way_to(origin.model.file, folder);
  const std::string weights = way_to(formats::named_weights(origin.model), folder);
  if (!model.empty()) json["model_beside"] = model;
  if (!weights.empty()) json["weights_beside"] = weights;
  json.update({{"network", origin.network},
               {"board", origin.board},
               {"profile", origin.profile},
               {"options", options_json(origin)},
               {"version", origin.version}});
  return json;
}

Origin read_origin(const JsonView& json, const fs::path& folder) {
  json.only(origin_keys);
  Origin origin;
  origin.network = json.at("network").text();
  origin.board = json.at("board").text();
  origin.profile = json.at("profile").text();
  origin.model.file = json.at("model").text();
  origin.version = json.at("version").text();
  const JsonView options = json.at("options");
  for (const std::string& name : options.keys()) read_option(origin, name, options.at(name));
  formats::ModelSource& model = origin.model;
  model.file = nearest_file(model.file, text_at(json, "model_beside"), folder);
  model.weights = nearest_file(model.weights, text_at(json, "weights_beside"), folder);
  return origin;
}

}  // namespace millrace::plan
