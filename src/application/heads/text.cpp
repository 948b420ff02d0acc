#include "application/heads/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "application/heads/as_float.h"
#include "application/heads/table.h"
#include "base/error.h"

namespace millrace::application {
namespace {

/// What may be off in a sum of probabilities.
constexpr double rounding = 1e-2;

/// The probability of a step's symbol. Values that are no probabilities go through softmax.
double probability_of(const Table& table, std::int64_t step, std::int64_t symbol) {
  double sum = 0, least = 0, largest = table.at(step, symbol), total = 0;
  for (std::int64_t i = 0; i < table.columns; ++i) {
    sum += table.at(step, i);
    least = std::min(least, table.at(step, i));
  }
  if (least >= 0 && std::abs(sum - 1) < rounding) return largest;
  for (std::int64_t i = 0; i < table.columns; ++i) total += std::exp(table.at(step, i) - largest);
  return 1 / total;
}

std::int64_t largest_of(const Table& table, std::int64_t step) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < table.columns; ++i)
    if (table.at(step, i) > table.at(step, best)) best = i;
  return best;
}

/// Greedy: the most probable symbol of each step; then each once where it repeats, and no blanks.
class Text : public Processing {
 public:
  Text(std::vector<std::string> symbols, std::int64_t blank)
      : symbols_(std::move(symbols)), blank_(blank) {}

  Findings after(const Picture&, std::span<const network::Array> outputs) const override {
    const network::Array output = as_float(outputs.front());
    const auto columns = static_cast<std::int64_t>(symbols_.size());
    const std::int64_t steps = network::element_count(output.shape) / columns;
    const Table table{output.values<float>(), steps, columns, columns, 1};
    ReadText read;
    std::int64_t before = blank_, characters = 0;
    for (std::int64_t step = 0; step < steps; ++step) {
      const std::int64_t symbol = largest_of(table, step);
      if (symbol != before && symbol != blank_) {
        read.text += symbols_[static_cast<std::size_t>(symbol)];
        read.probability += probability_of(table, step, symbol);
        ++characters;
      }
      before = symbol;
    }
    if (characters > 0) read.probability /= static_cast<double>(characters);
    Findings findings;
    findings.text = std::move(read);
    return findings;
  }

 private:
  std::vector<std::string> symbols_;  // by column
  std::int64_t blank_;
};

}  // namespace

std::unique_ptr<Processing> make_text(const Application& application,
                                      const network::Network& network) {
  const Postprocess& wanted = application.postprocess;
  if (network.outputs.empty()) throw InputError(wanted.place, "the network has no outputs");
  const network::Tensor& output = network[network.outputs.front()];
  const network::Shape& shape = output.shape;
  std::vector<std::string> symbols = wanted.alphabet;
  const std::size_t characters = symbols.size();
  const bool is_table = shape.size() == 3 && (shape[0] == 1 || shape[1] == 1);
  const std::size_t columns = is_table ? static_cast<std::size_t>(shape[2]) : 0;
  if (columns == characters + 2) symbols.emplace_back(" ");
  if (columns != symbols.size() + 1)
    throw InputError(
        wanted.place,
        fmt::format("the alphabet has {} characters, so text needs 1 x steps x {} (one symbol "
                    "stands for none), but the first output '{}' is {} {}; give the alphabet of "
                    "the network",
                    characters, characters + 1, output.name, network::to_text(output.type),
                    network::to_text(shape)));
  const std::int64_t blank = wanted.blank_is_last ? static_cast<std::int64_t>(symbols.size()) : 0;
  symbols.insert(symbols.begin() + blank, std::string());
  return std::make_unique<Text>(std::move(symbols), blank);
}

}  // namespace millrace::application
