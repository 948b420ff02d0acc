#include "api/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/progress.h"
#include "base/error.h"
#include "network/darknet/darknet.h"
#include "network/read.h"
#include "network/zoo.h"
#include "plan/plan_file.h"

namespace millrace::api {
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
  for (const std::string& text : options.shapes)
    if (!result.shapes.insert(parse_shape(text)).second)
      throw InputError("--shape " + text, "is the second shape for this input; give one");
  if (options.size > 0) result.size = options.size;
  if (options.size > 0 && !options.shapes.empty())
    throw InputError("--size", "says what --shape says too; give one of them");
  result.weights = options.weights;
  result.seed = options.seed;
  return result;
}

bool is_darknet(const std::string& model) {
  return network::format_of(model) == network::Format::darknet;
}

/// A file; what it lacks and others have is said.
network::Network read_file_model(const ModelOptions& options) {
  if (!is_darknet(options.model)) {
    if (!options.weights.empty() || options.size > 0)
      throw InputError(
          options.weights.empty() ? "--size" : "--weights",
          "is for Darknet's configurations (.cfg); an ONNX file has its own, and takes "
          "--shape");
    return network::read_network(options.model, read_options(options));
  }
  network::darknet::Model model =
      network::darknet::read_darknet(std::filesystem::path(options.model), read_options(options));
  if (model.seeded)
    note(
        fmt::format("{} has no weights beside it: they are random, seed {}; give trained ones with "
                    "--weights FILE",
                    options.model, options.seed));
  return std::move(model.network);
}

network::Network read_zoo_model(const ModelOptions& options) {
  if (!options.weights.empty())
    throw InputError("--weights", options.model + " is of the zoo, whose weights are random");
  network::ReadOptions read = read_options(options);
  const std::string bytes = network::zoo_model(options.model, options.seed, read.size);
  return network::read_onnx(bytes, options.model, {}, read);
}

bool is_zoo_name(const std::string& name) {
  const auto names = network::zoo_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// "a=1x3 b=2": a shape ends where numbers behind '=' do, as names may hold spaces.
std::vector<std::string> split_shapes(const std::string& text) {
  std::vector<std::string> shapes{""};
  for (const char c : text) {
    std::string& last = shapes.back();
    const std::size_t equals = last.rfind('=');
    const bool ends = equals != std::string::npos &&
                      last.find_first_not_of("0123456789x", equals + 1) == std::string::npos;
    if (c == ' ' && ends)
      shapes.emplace_back();
    else
      last += c;
  }
  return shapes;
}

/// A whole number among the options of the plan's origin; if it is not there, `number` stays.
template <class Number>
void read_whole(const std::string& path, const plan::Origin& origin, const std::string& option,
                Number& number) {
  const auto found = origin.options.find(option);
  if (found == origin.options.end()) return;
  const std::string& text = found->second;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size())
    throw InputError(
        path, fmt::format("origin.options.{}: found '{}', expected a whole number", option, text));
}

}  // namespace

ModelOptions model_of_plan(const std::string& path, const std::string& model_override) {
  const plan::Origin origin = plan::read_plan_origin(path);
  ModelOptions options;
  options.model = model_override.empty() ? origin.model : model_override;
  std::error_code ignored;
  if (model_override.empty() && !is_zoo_name(origin.model) &&
      !std::filesystem::exists(origin.model, ignored))
    throw InputError(path, fmt::format("its model '{}' is not there any more; say where it is with "
                                       "--model FILE",
                                       origin.model));
  if (const auto shapes = origin.options.find("shape"); shapes != origin.options.end())
    options.shapes = split_shapes(shapes->second);
  if (const auto weights = origin.options.find("weights"); weights != origin.options.end())
    options.weights = weights->second;
  read_whole(path, origin, "size", options.size);
  read_whole(path, origin, "seed", options.seed);
  return options;
}

network::Network load_network(const ModelOptions& options) {
  std::error_code obstacle;
  const auto kind = std::filesystem::status(options.model, obstacle);
  const bool is_zoo = is_zoo_name(options.model);
  if (std::filesystem::exists(kind) && !(is_zoo && std::filesystem::is_directory(kind)))
    return read_file_model(options);
  if (is_zoo) return read_zoo_model(options);
  if (obstacle && kind.type() != std::filesystem::file_type::not_found)
    throw InputError(options.model,
                     fmt::format("cannot be looked at: {}; allow it, or give another file",
                                 obstacle.message()));
  throw InputError(options.model.empty() ? "''" : options.model,
                   "is neither a file nor the name of a zoo network; `millrace zoo` lists those");
}

}  // namespace millrace::api
