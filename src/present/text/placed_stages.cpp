#include "present/text/placed_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace millrace::present {
namespace {

/// "0-3,5": of layers that ascend.
std::string ranges_text(const std::vector<std::size_t>& layers) {
  std::string text;
  for (std::size_t first = 0, last = 0; first < layers.size(); first = ++last) {
    while (last + 1 < layers.size() && layers[last + 1] == layers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", layers[first]);
    if (last > first) text += fmt::format("-{}", layers[last]);
  }
  return text;
}

}  // namespace

std::string layers_by_stage(const plan::Plan& plan) {
  std::map<std::size_t, std::string> by_first;  // layer
  for (const plan::Stage& stage : plan.stages) {
    std::vector<std::size_t> layers;
    for (const plan::Phase& phase : stage.phases)
      for (const LayerId layer : phase.layers) layers.push_back(layer.index);
    std::ranges::sort(layers);
    by_first[layers.front()] =
        fmt::format("{}[{}]", stage.processors.front().name, ranges_text(layers));
  }
  std::string text;
  for (const auto& [first, stage] : by_first) text += (text.empty() ? "" : " ") + stage;
  return text;
}

std::string placed_stages_text(const explore::GroupSearch& group, std::size_t plan,
                               const board::Board& board,
                               const std::vector<std::size_t>& processors) {
  const auto& tasks = group.plans[plan].assignment.tasks;
  std::istringstream words(layers_by_stage(group.stages[plan]));
  std::string text;
  for (std::string word; words >> word;) {
    const std::size_t end = word.rfind('[');
    std::string name = word.substr(0, end);
    const auto task = std::ranges::find_if(tasks, [&](const deployment::Task& each) {
      return each.step == deployment::Step::phase && each.processor == name;
    });
    if (task != tasks.end())
      name = board.processors[processors[static_cast<std::size_t>(task - tasks.begin())]].name;
    text += (text.empty() ? "" : " ") + name + word.substr(end);
  }
  return text;
}

}  // namespace millrace::present
