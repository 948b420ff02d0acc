#include "cli/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/error.h"
#include "base/file.h"
#include "cli/progress.h"
#include "engine/registry.h"
#include "network/read.h"
#include "network/zoo.h"
#include "plan/plan_file.h"
#include "profile/profile_file.h"

namespace millrace::cli {
namespace {

/// "input=1x3x224x224"
std::pair<std::string, network::Shape> parse_shape(const std::string& text) {
  const auto fail = [&]() {
    throw InputError("--shape " + text, "expected NAME=SIZExSIZE..., such as input=1x3x224x224");
  };
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) fail();
  network::Shape shape;
  for (const char* at = text.data() + equals + 1;;) {
    std::int64_t size = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(at, end, size);
    if (parsed.ec != std::errc{} || size <= 0) fail();
    shape.push_back(size);
    if (parsed.ptr == end) return {text.substr(0, equals), shape};
    if (*parsed.ptr != 'x') fail();
    at = parsed.ptr + 1;
  }
}

network::ReadOptions read_options(const ModelOptions& options) {
  network::ReadOptions result;
  for (const std::string& text : options.shapes) result.shapes.insert(parse_shape(text));
  return result;
}

bool is_zoo_name(const std::string& name) {
  const auto names = network::zoo_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::filesystem::path cache_folder() {
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder != nullptr && *folder != '\0')
    return std::filesystem::path(folder) / "millrace";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return std::filesystem::path(home) / ".cache" / "millrace";
  return std::filesystem::temp_directory_path() / "millrace";
}

std::filesystem::path profile_path(const std::string& network_hash, const board::Board& board,
                                   const std::string& engine) {
  std::string processors;
  for (const board::Processor& processor : board.processors) processors += "-" + processor.name;
  return cache_folder() / fmt::format("{}-{}-{}{}.profile.json", network_hash.substr(0, 16),
                                      board::hash_of(board).substr(0, 8), engine, processors);
}

profile::Profile measure(const network::Network& network, const board::Board& board,
                         engine::Engine& engine, const ProfileSource& source) {
  Progress progress("measuring " + network.name);
  profile::MeasureOptions measure = source.measure;
  measure.progress = [&](const std::string& what, double share) { progress.show(share, what); };
  return profile::measure(network, board, engine, measure);
}

void store(const profile::Profile& profile, const std::filesystem::path& path) {
  std::error_code ignored;  // writing fails with its own sentence if the folder is not there
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
  profile::write_profile(path, profile);
}

}  // namespace

void bind_model(CLI::App& verb, ModelOptions& options) {
  verb.add_option("model", options.model, "An ONNX file, or the name of a zoo network")->required();
  verb.add_option("--shape", options.shapes, "Fix an input's shape: NAME=1x3x224x224 (repeatable)");
}

void bind_processors(CLI::App& verb, ModelOptions& options) {
  verb.add_option("--processors", options.processors, "Use only these, such as core0,core1")
      ->delimiter(',');
  verb.add_option("--engine", options.engine, "The engine that runs the layers")
      ->capture_default_str();
  verb.add_option("--seed", options.seed, "Seed of everything random")->capture_default_str();
}

network::Network load_network(const ModelOptions& options) {
  std::error_code ignored;
  if (std::filesystem::exists(options.model, ignored))
    return network::read_network(options.model, read_options(options));
  if (is_zoo_name(options.model))
    return network::read_onnx(network::zoo_model(options.model, options.seed), options.model, {},
                              read_options(options));
  throw InputError(options.model,
                   "is neither a file nor the name of a zoo network; `millrace zoo` lists those");
}

board::Board load_board(const ModelOptions& options) {
  const board::Board board = board::this_machine();
  return options.processors.empty() ? board : board::only(board, options.processors);
}

std::map<std::string, engine::Engine*> Loaded::engine_pointers() const {
  std::map<std::string, engine::Engine*> result;
  for (const auto& [name, engine] : engines) result[name] = engine.get();
  return result;
}

bool is_plan_file(const std::string& path) {
  return std::filesystem::path(path).extension() == ".json";
}

std::unique_ptr<Loaded> load_plan(const std::string& path, const std::string& model_override) {
  auto loaded = std::make_unique<Loaded>();
  const plan::Origin origin = plan::read_plan_origin(path);
  ModelOptions options;
  options.model = model_override.empty() ? origin.model : model_override;
  if (const auto shapes = origin.options.find("shape"); shapes != origin.options.end())
    for (std::string_view rest = shapes->second; !rest.empty();) {
      const std::size_t space = std::min(rest.find(' '), rest.size());
      options.shapes.emplace_back(rest.substr(0, space));
      rest.remove_prefix(std::min(space + 1, rest.size()));
    }
  if (const auto seed = origin.options.find("seed"); seed != origin.options.end())
    options.seed = std::stoull(seed->second);
  loaded->network = load_network(options);
  loaded->board = board::this_machine();
  loaded->plan = plan::read_plan(path, loaded->network);
  plan::check_board(loaded->plan, loaded->board);
  for (const plan::Stage& stage : loaded->plan.stages)
    if (!loaded->engines.contains(stage.engine))
      loaded->engines[stage.engine] = engine::make_engine(stage.engine);
  return loaded;
}

profile::Profile load_profile(const network::Network& network, const board::Board& board,
                              engine::Engine& engine, const ProfileSource& source) {
  const std::string hash = network::hash_of(network);
  const std::filesystem::path path =
      source.path.empty() ? profile_path(hash, board, engine.name()) : source.path;
  if (!source.fresh && std::filesystem::exists(path)) {
    profile::Profile stored = profile::read_profile(path);
    const Verdict verdict = profile::fits(stored, {hash, &board, engine.name(), engine.version()});
    if (verdict) return stored;
    if (!source.path.empty())
      throw InputError(path.string(), verdict.reason() + "; measure again with `millrace profile`");
    note("measuring again, the stored profile does not fit: " + verdict.reason());
  }
  profile::Profile profile = measure(network, board, engine, source);
  store(profile, path);
  return profile;
}

}  // namespace millrace::cli
