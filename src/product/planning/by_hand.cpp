#include "product/planning/by_hand.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/file.h"
#include "explore/configuration/configuration.h"
#include "explore/configuration/mapping_options.h"
#include "explore/configuration/methods.h"

namespace millrace::product {
namespace {

using application::ByHand;

constexpr const char* by_hand_name = "by hand";

[[noreturn]] void fail(const ByHand& mapping, const char* key, const std::string& text) {
  throw InputError(
      mapping.place.empty() ? fmt::format("--{}", key) : fmt::format("{}: {}", mapping.place, key),
      text);
}

const char* cut_key(const ByHand& mapping) {
  return mapping.place.empty() ? "cut-points" : "cut_points";
}

/// By number, from 0, or by name.
std::size_t layer_of(const ByHand& mapping, const std::string& text,
                     const network::Network& network) {
  std::size_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size()) {
    if (number < network.layers.size()) return number;
    fail(mapping, cut_key(mapping),
         fmt::format("found {}, but the network's last layer is {}", text,
                     network.layers.size() - 1));
  }
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    if (network.layers[i].name == text) return i;
    names.push_back(network.layers[i].name);
  }
  fail(mapping, cut_key(mapping),
       fmt::format("the network has no layer '{}'{}", text, did_you_mean(text, names)));
}

/// "core0", or "core0+core1" for replicas.
explore::ProcessorGroup group_of(const ByHand& mapping, const std::string& text,
                                 const board::Board& board) {
  explore::ProcessorGroup group;
  std::vector<std::string_view> names;
  for (const board::Processor& each : board.processors) names.push_back(each.name);
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('+', at), text.size());
    const std::string name = text.substr(at, end - at);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      fail(mapping, "devices",
           fmt::format("{} has no processor '{}'{}", board.name, name, did_you_mean(name, names)));
    group.emplace_back(static_cast<std::size_t>(found - names.begin()));
    at = end + 1;
  }
  return group;
}

bool is_in(ProcessorId processor, const explore::ProcessorGroup& group) {
  return std::find(group.begin(), group.end(), processor) != group.end();
}

/// A processor has one part in the plan: all frames, or its turn among the same replicas.
void check_group(const ByHand& mapping, const std::vector<explore::ProcessorGroup>& stages,
                 std::size_t stage, const board::Board& board) {
  for (const ProcessorId processor : stages[stage]) {
    const std::string& name = board[processor].name;
    if (std::count(stages[stage].begin(), stages[stage].end(), processor) > 1)
      fail(mapping, "devices",
           fmt::format("'{}' names {} twice; for several streams on one processor say streams",
                       mapping.devices[stage], name));
    for (std::size_t before = 0; before < stage; ++before)
      if (stages[before] != stages[stage] && is_in(processor, stages[before]))
        fail(mapping, "devices",
             fmt::format("{} is in '{}' and in '{}'; a processor that takes turns with others in "
                         "one stage can be in no other one",
                         name, mapping.devices[before], mapping.devices[stage]));
  }
}

/// One number is for all stages.
std::vector<std::int64_t> streams_of(const ByHand& mapping) {
  const std::size_t stages = mapping.devices.size();
  if (mapping.streams.size() == 1) return std::vector(stages, mapping.streams.front());
  if (!mapping.streams.empty() && mapping.streams.size() != stages)
    fail(mapping, "streams",
         fmt::format("found {} numbers for {} devices, expected one for each",
                     mapping.streams.size(), stages));
  return mapping.streams;
}

}  // namespace

std::vector<std::size_t> cuts_of(const ByHand& mapping, const network::Network& network) {
  std::vector<std::size_t> cuts;
  for (const std::string& text : mapping.cut_points) {
    cuts.push_back(layer_of(mapping, text, network));
    if (cuts.size() > 1 && cuts.back() <= cuts[cuts.size() - 2])
      fail(mapping, cut_key(mapping),
           fmt::format("found {} after {}, expected layers in their order", text,
                       mapping.cut_points[cuts.size() - 2]));
  }
  const std::size_t stages = mapping.devices.size(), last = network.layers.size() - 1;
  if (cuts.size() == stages && !cuts.empty() && cuts.back() == last) cuts.pop_back();
  if (cuts.size() + 1 != stages)
    fail(mapping, cut_key(mapping),
         fmt::format("found {} cut points for {} devices, expected {}: the last layer of each "
                     "stage but the last. The network's last layer is {}",
                     mapping.cut_points.size(), stages, stages - 1, last));
  if (!cuts.empty() && cuts.back() == last)
    fail(mapping, cut_key(mapping), "leaves the last stage without layers");
  return cuts;
}

std::vector<board::Precision> precisions_by_layer(const ByHand& mapping,
                                                  const network::Network& network) {
  std::vector<board::Precision> result;
  if (mapping.precisions.empty()) return result;
  if (mapping.precisions.size() != mapping.devices.size())
    fail(mapping, "precisions",
         fmt::format("found {} for {} devices, expected one for each", mapping.precisions.size(),
                     mapping.devices.size()));
  const std::vector<std::size_t> cuts = cuts_of(mapping, network);
  for (std::size_t layer = 0, stage = 0; layer < network.layers.size(); ++layer) {
    while (stage < cuts.size() && layer > cuts[stage]) ++stage;
    result.push_back(mapping.precisions[stage]);
  }
  return result;
}

explore::Choice choose_by_hand(const HandPlace& place, const ByHand& mapping,
                               const explore::ChooseOptions& choose) {
  const explore::Problem problem = explore::make_problem(place.network, place.board, place.profile);
  const explore::SearchContext search_context{place.network, place.board, problem, choose.build};
  explore::Configuration configuration;
  for (const std::string& device : mapping.devices)
    configuration.stages.push_back(
        fewest_layers_first(problem, group_of(mapping, device, place.board)));
  for (std::size_t i = 0; i < configuration.stages.size(); ++i)
    check_group(mapping, configuration.stages, i, place.board);
  configuration.cuts = cuts_of(mapping, place.network);
  configuration.streams = streams_of(mapping);
  if (mapping.slots) configuration.slots = *mapping.slots;
  if (const explore::Realised realised = realise(search_context, configuration); !realised.verdict)
    fail(mapping, "devices", realised.verdict.reason());
  explore::Choice choice =
      explore::choose_found(search_context, {by_hand_name, configuration, 1, Time{}}, choose);
  const auto found = std::find_if(choice.candidates.begin(), choice.candidates.end(),
                                  [](const auto& each) { return each.name == by_hand_name; });
  if (found == choice.candidates.end())
    fail(mapping, "devices",
         "the board cannot run this plan: " +
             (choice.left_out.empty() ? "nobody knows why" : choice.left_out.front()));
  choice.best = static_cast<std::size_t>(found - choice.candidates.begin());
  return choice;
}

}  // namespace millrace::product
