#include "product/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/utf8.h"
#include "network/evaluate/evaluate.h"
#include "network/npy.h"

namespace millrace::product {
namespace {

constexpr std::size_t all_values_up_to = 16;
constexpr std::size_t top_count = 5;

double number(float value) { return shortest(value); }
std::int64_t number(std::int64_t value) { return value; }

template <class T>
nlohmann::json values_json(const network::Array& array) {
  const auto values = array.values<T>();
  if (values.size() <= all_values_up_to) {
    nlohmann::json all = nlohmann::json::array();
    for (const T value : values) all.push_back(number(value));
    return {{"values", all}};
  }
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto is_nan = [](T value) { return value != value; };
  const auto larger = [&](std::size_t a, std::size_t b) {  // what is not a number comes last
    if (is_nan(values[a]) || is_nan(values[b])) return !is_nan(values[a]) && is_nan(values[b]);
    return values[a] != values[b] ? values[a] > values[b] : a < b;
  };
  std::partial_sort(order.begin(), order.begin() + top_count, order.end(), larger);
  nlohmann::json top = nlohmann::json::array();
  for (std::size_t i = 0; i < top_count; ++i)
    top.push_back({{"index", order[i]}, {"value", number(values[order[i]])}});
  return {{"top", top}};
}

nlohmann::json output_json(const network::Array& array) {
  switch (array.type) {
    case network::DataType::float32:
      return values_json<float>(array);
    case network::DataType::float16:
      return values_json<float>(network::converted(array, network::DataType::float32));
    case network::DataType::int64:
      return values_json<std::int64_t>(array);
    default:
      return {{"bytes", array.bytes().size()}};
  }
}

}  // namespace

std::string json_line(const network::Network& network, const std::string& source,
                      const runtime::Result& result) {
  nlohmann::json outputs = nlohmann::json::object();
  for (std::size_t i = 0; i < result.outputs.size(); ++i)
    outputs[network[network.outputs[i]].name] = output_json(result.outputs[i]);
  const nlohmann::json line = {{"frame", result.frame},
                               {"source", source},
                               {"latency_ms", milliseconds(result.latency)},
                               {"outputs", outputs}};
  return json_text(line, -1) + "\n";
}

std::optional<std::int64_t> top_class(const runtime::Result& result) {
  const network::Array& output = result.outputs.front();
  if (output.type == network::DataType::int64) return output.values<std::int64_t>().front();
  const bool half = output.type == network::DataType::float16;
  if ((output.type != network::DataType::float32 && !half) || output.bytes().empty())
    throw InputError("⟨labels⟩", "the first output is no list of scores; labels need a classifier");
  const network::Array scores = network::converted(output, network::DataType::float32);
  const auto values = scores.values<float>();
  const auto is_less = [](float a, float b) { return a < b || (std::isnan(a) && !std::isnan(b)); };
  const auto best = std::max_element(values.begin(), values.end(), is_less);
  if (std::isnan(*best)) return std::nullopt;
  return best - values.begin();
}

std::vector<std::int64_t> read_labels(const std::string& path) {
  const std::string content = read_file(path);
  std::string_view rest = without_byte_order_mark(content);
  std::vector<std::int64_t> labels;
  for (int number = 1; !rest.empty(); ++number) {
    const std::string_view line = take_line(rest);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    std::int64_t label = 0;
    const auto parsed = std::from_chars(line.data(), line.data() + line.size(), label);
    if (parsed.ec == std::errc{} && parsed.ptr == line.data() + line.size() && label >= 0) {
      labels.push_back(label);
      continue;
    }
    throw InputError(fmt::format("{}: line {}", path, number),
                     fmt::format("found '{}', expected one class number per line", line));
  }
  return labels;
}

std::vector<std::string> output_files(const network::Network& network, const std::string& path) {
  if (network.outputs.size() <= 1) return {path};
  const std::string stem = path.substr(0, path.size() - std::string_view(".npy").size());
  std::vector<std::string> files;
  for (const TensorId output : network.outputs) {
    std::string name = network[output].name;
    for (char& c : name)
      if (static_cast<unsigned char>(c) <= ' ' || c == '/' || c == 0x7f) c = '_';
    std::string file = fmt::format("{}.{}.npy", stem, name);
    for (int i = 2; std::find(files.begin(), files.end(), file) != files.end(); ++i)
      file = fmt::format("{}.{}.{}.npy", stem, name, i);
    files.push_back(file);
  }
  return files;
}

void OutputArray::add(const network::Array& output) {
  shape_ = output.shape;
  type_ = output.type;
  bytes_.insert(bytes_.end(), output.bytes().begin(), output.bytes().end());
  ++frames_;
}

void OutputArray::write(const std::string& path) const {
  network::Shape shape = shape_;
  // A leading dimension of one is the batch: frames take its place.
  if (!shape.empty() && shape.front() == 1)
    shape.front() = frames_;
  else
    shape.insert(shape.begin(), frames_);
  network::Buffer memory(Bytes{static_cast<std::int64_t>(bytes_.size())});
  std::memcpy(memory.data(), bytes_.data(), bytes_.size());
  network::write_npy(path, network::make_array(type_, shape, std::move(memory)));
}

}  // namespace millrace::product
