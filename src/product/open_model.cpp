#include "product/open_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "application/application_file.h"
#include "application/image_file.h"
#include "base/error.h"
#include "base/file.h"
#include "base/shell_word.h"
#include "engine/registry.h"
#include "formats/darknet/darknet.h"
#include "formats/random_weights.h"
#include "formats/read.h"
#include "formats/zoo.h"
#include "network/owners.h"
#include "network/simplify/divide.h"
#include "plan/plan_file.h"
#include "product/cache.h"
#include "product/memory/in_memory.h"

namespace millrace::product {
namespace {

using formats::ModelSource;

void check_size(const ModelSource& source) {
  if (source.size && !source.shapes.empty())
    throw InputError("⟨size⟩", "sets the same shape as ⟨shape⟩; give only one of them");
}

network::Network open_onnx_file(ModelSource source, const Context& context) {
  source.foreign = engine::foreign_operators(measuring_options(context));
  const bool has_weights = !formats::named_weights(source).empty();
  if (has_weights || source.size)
    throw InputError(has_weights ? "⟨weights⟩" : "⟨size⟩",
                     "is for Darknet's configurations (.cfg); an ONNX file has its own, and takes "
                     "⟨shape⟩");
  network::Network network = formats::read_network(source);
  if (const std::string owners = network::owners_text(network); !owners.empty())
    context.note(owners);
  if (formats::wants_random_weights(source) && !formats::has_random_weights(network))
    throw InputError("⟨weights⟩ random", source.file + " has weights of its own; leave it out");
  return network;
}

/// A file; what it lacks and others have is said.
network::Network open_file(const ModelSource& source, const Context& context) {
  if (std::filesystem::path(source.file).extension() == ".json")
    throw InputError(source.file,
                     "is a JSON file, such as a plan, where a model is expected; give the ONNX "
                     "file or Darknet configuration, or a command for plans, such as run or bench");
  if (formats::format_of(source.file) != formats::Format::darknet)
    return open_onnx_file(source, context);
  if (!source.constants.empty())
    throw InputError("⟨fix⟩", "is for ONNX files; a Darknet network has one input, its picture");
  check_size(source);
  formats::darknet::Model model = formats::darknet::read_darknet(source);
  if (formats::has_random_weights(model.network) && !formats::wants_random_weights(source))
    context.note(
        fmt::format("{} has no .weights file in its folder, so its weights are random, seed {}; "
                    "give trained ones with ⟨weights⟩ FILE",
                    source.file, source.seed));
  return std::move(model.network);
}

network::Network open_zoo_model(const ModelSource& source) {
  if (!formats::named_weights(source).empty())
    throw InputError("⟨weights⟩",
                     source.file + " is a zoo network, whose weights are random; leave it out");
  check_size(source);
  const std::string bytes = formats::zoo_model(source.file, source.seed, source.size);
  return formats::read_onnx(bytes, source.file, {}, source);
}

bool is_zoo_name(const std::string& name) {
  const auto names = formats::zoo_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

network::Network open_whole(const ModelSource& source, const Context& context) {
  if (application::is_image_name(source.file))
    throw InputError(source.file,
                     fmt::format("is a picture, not a model; give a model first, and the picture "
                                 "with ⟨input⟩ {}",
                                 source.file));
  std::error_code obstacle;
  const auto kind = std::filesystem::status(source.file, obstacle);
  const bool is_zoo = is_zoo_name(source.file);
  if (std::filesystem::exists(kind) && !(is_zoo && std::filesystem::is_directory(kind)))
    return open_file(source, context);
  if (is_zoo) return open_zoo_model(source);
  if (obstacle && kind.type() != std::filesystem::file_type::not_found)
    throw InputError(
        source.file,
        fmt::format("cannot be looked at: {}; allow it, or give another file", obstacle.message()));
  const std::vector<std::string> names = formats::zoo_names();
  const std::vector<std::string_view> known(names.begin(), names.end());
  throw InputError(source.file.empty() ? "''" : source.file,
                   fmt::format("is neither a file nor the name of a zoo network; `millrace zoo` "
                               "lists those{}",
                               did_you_mean(source.file, known)));
}

void check_is_plan(const std::string& path) {
  if (application::is_application_file(path))
    throw InputError(path, fmt::format("is an application or a system, not a plan; plan an "
                                       "application with `millrace plan {}`, a system with "
                                       "`millrace deploy {}`",
                                       shell_word(path), shell_word(path)));
  if (!formats::format_of(path) && !is_zoo_name(path)) return;
  const std::string name = std::filesystem::path(path).stem().string();
  throw InputError(path, fmt::format("is a model, not a plan; plan it first: millrace plan {} -o "
                                     "{}",
                                     shell_word(path), shell_word(name + ".plan.json")));
}

}  // namespace

ModelSource model_named_in(const std::string& plan, const std::string& other_file) {
  check_is_plan(plan);
  ModelSource source = plan::read_plan_origin(plan).model;
  if (!other_file.empty()) source.file = other_file;
  return source;
}

ModelSource model_of_plan(const std::string& plan, const std::string& other_file) {
  const ModelSource source = model_named_in(plan, other_file);
  std::error_code ignored;
  if (other_file.empty() && !is_zoo_name(source.file) &&
      !std::filesystem::exists(source.file, ignored))
    throw InputError(plan, fmt::format("its model '{}' does not exist any more; give its path with "
                                       "⟨model⟩ FILE",
                                       source.file));
  return source;
}

network::Network open_model(const ModelSource& source, const Context& context) {
  if (context.memory != nullptr)
    if (const auto* model = held(context.memory->models, source.file)) return *model;
  return network::divided(open_whole(source, context), source.divided);
}

void check_weights(const network::Network& network, const ModelSource& source,
                   const millrace::Context& context) {
  if (!formats::has_random_weights(network)) return;
  const std::string place = source.file.empty() ? network.name : source.file;
  const bool is_darknet = formats::format_of(source.file) == formats::Format::darknet;
  if (!formats::wants_random_weights(source))
    throw InputError(
        place, fmt::format("{}; to measure with random weights, give ⟨weights⟩ random, in an "
                           "application or a system 'weights: random'",
                           is_darknet
                               ? "has no .weights file in its folder, and random weights give no "
                                 "answers on real input; give trained weights with ⟨weights⟩ FILE, "
                                 "in an application with 'weights: FILE'"
                               : "has random weights, which give no answers on real input; give a "
                                 "trained model"));
  context.note(fmt::format("warning: {} has random weights, so its answers mean nothing", place));
}

}  // namespace millrace::product
