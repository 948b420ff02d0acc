// How far modelled times are from measured ones, each network with a model that was fitted to the
// other networks: docs/evidence/measurements/costs.md.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "board/board_file.h"
#include "formats/read.h"
#include "formats/zoo.h"
#include "present/text/table.h"
#include "profile/fit.h"
#include "profile/profile_file.h"

namespace {

using namespace millrace;

struct Measured {
  network::Network network;
  profile::ProcessorProfile times;
};

const profile::ProcessorProfile& in_f32(const profile::Profile& profile) {
  for (const profile::ProcessorProfile& each : profile.processors)
    if (each.precision == board::Precision::f32) return each;
  throw InputError(profile.network_name, "was not measured in f32");
}

/// Other programs on the machine can only add time: of several profiles, each layer's least.
void take_least(profile::ProcessorProfile& times, const profile::ProcessorProfile& more) {
  for (std::size_t i = 0; i < times.layers.size(); ++i) {
    profile::Statistics& least = times.layers.at(i).together;
    least.median = std::min(least.median, more.layers.at(i).together.median);
  }
}

/// All profiles of zoo networks in the folder.
std::vector<Measured> read_all(const std::filesystem::path& folder) {
  std::map<std::string, Measured> found;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".json") continue;
    const profile::Profile profile = profile::read_profile(file.path());
    const std::string& name = profile.network_name;
    if (const auto known = found.find(name); known != found.end())
      take_least(known->second.times, in_f32(profile));
    else
      found[name] = {formats::read_onnx(formats::zoo_model(name), name, {}), in_f32(profile)};
  }
  if (found.size() < 2)
    throw InputError(folder.string(),
                     "has no profiles of two zoo networks or more; write them with "
                     "`millrace profile NAME --processors core0 -o FILE`");
  std::vector<Measured> result;
  for (auto& [name, measured] : found) result.push_back(std::move(measured));
  return result;
}

std::vector<profile::Sample> samples_without(const std::vector<Measured>& all, std::size_t out) {
  std::vector<profile::Sample> samples;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == out) continue;
    const auto more = profile::samples_of(all[i].network, all[i].times);
    samples.insert(samples.end(), more.begin(), more.end());
  }
  return samples;
}

/// The board of one processor, with its device fitted to the samples.
board::Board with_fit(const board::Board& board, const std::vector<profile::Sample>& samples) {
  board::Board result = board::only(board, {board.processors.front().name});
  result.devices.front() =
      profile::fitted(board.devices.front(), samples,
                      board::peaks_of(board, board.processors.front()), board::Precision::f32);
  return result;
}

/// Errors of the model for one network, as shares of its measured time.
struct Errors {
  double total = 0;   // of the sum of all layers
  double layers = 0;  // the sum of all layers' absolute errors
};

Errors errors_of(const Measured& measured, const profile::ProcessorProfile& modelled) {
  double sum = 0, difference = 0, absolute = 0;
  for (std::size_t i = 0; i < measured.times.layers.size(); ++i) {
    const double real = seconds(measured.times.layers[i].together.median);
    const double model = seconds(modelled.layers[i].together.median);
    sum += real;
    difference += model - real;
    absolute += std::abs(model - real);
  }
  return {difference / sum, absolute / sum};
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

void print_shares(const board::Board& board) {
  const board::Device& device = board.devices.front();
  present::Table table({{"kind", present::Align::left}, {"arithmetic"}, {"memory"}});
  for (const board::Efficiency& each : device.efficiency)
    table.add(
        {each.op, fmt::format("{:.3f}", each.arithmetic), fmt::format("{:.3f}", each.memory)});
  fmt::print("fitted to all of them, {} per kernel and these shares of the peaks:\n{}\n",
             to_text(device.costs.launch), table.text());
}

void print_errors(const std::vector<Measured>& all, const board::Board& board) {
  present::Table table({{"network", present::Align::left},
                        {"measured"},
                        {"modelled"},
                        {"error"},
                        {"of all layers"}});
  std::vector<double> totals, layers;
  for (std::size_t out = 0; out < all.size(); ++out) {
    const board::Board fitted = with_fit(board, samples_without(all, out));
    const auto modelled =
        profile::modelled(all[out].network, fitted, {board::Precision::f32}).processors.front();
    const Errors errors = errors_of(all[out], modelled);
    Time measured{};
    for (const profile::LayerTimes& each : all[out].times.layers) measured += each.together.median;
    totals.push_back(std::abs(errors.total));
    layers.push_back(errors.layers);
    table.add({all[out].network.name, to_text(measured), to_text(modelled.whole.median),
               fmt::format("{:+.1f} %", 100 * errors.total),
               fmt::format("{:.1f} %", 100 * errors.layers)});
  }
  table.add_rule();
  table.add({"median", "", "", fmt::format("{:.1f} %", 100 * median_of(totals)),
             fmt::format("{:.1f} %", 100 * median_of(layers))});
  fmt::print("each network with a model fitted to the others:\n{}", table.text());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr,
               "usage: cost_model BOARD.yaml FOLDER, with NAME.profile.json of each zoo "
               "network; `millrace board --measure --write` writes the board\n");
    return 2;
  }
  try {
    const board::Board board = board::read_board(argv[1]);
    const std::vector<Measured> all = read_all(argv[2]);
    print_shares(with_fit(board, samples_without(all, all.size())));
    print_errors(all, board);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "cost_model: {}\n", error.what());
    return 2;
  }
}
