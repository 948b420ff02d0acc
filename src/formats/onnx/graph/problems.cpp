#include "formats/onnx/graph/problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace millrace::formats::onnx {
namespace {

/// One operator, and the layers that are made of it.
struct Lacking {
  std::string op, first;
  std::size_t layers = 0;
};

void count(std::vector<Lacking>& list, const Problem& problem) {
  const auto known = std::find_if(list.begin(), list.end(), [&](const Lacking& lacking) {
    return lacking.op == problem.unsupported;
  });
  if (known == list.end())
    list.push_back({problem.unsupported, problem.node, 1});
  else
    ++known->layers;
}

std::string text_of(const std::vector<Lacking>& list) {
  constexpr std::size_t most_named = 40;
  std::string text;
  for (std::size_t i = 0; i < std::min(list.size(), most_named); ++i)
    text += fmt::format("{}'{}' ({} layer{}, {}'{}')", i == 0 ? "" : ", ", list[i].op,
                        list[i].layers, list[i].layers == 1 ? "" : "s",
                        list[i].layers == 1 ? "" : "the first is ", list[i].first);
  if (list.size() > most_named) text += fmt::format(" and {} more", list.size() - most_named);
  return text;
}

}  // namespace

std::size_t Problems::add(Problem problem) {
  constexpr std::size_t most_kept = 1 << 16;
  if (all_.size() > most_kept && !problem.error.empty()) throw problem.error.front();
  all_.push_back(std::move(problem));
  return all_.size() - 1;
}

const std::string& Problems::hint(const std::string& op_type,
                                  const std::function<std::string()>& make) {
  const auto [hint, is_new] = hints_.try_emplace(op_type);
  if (is_new) hint->second = make();
  return hint->second;
}

std::vector<std::size_t> Problems::reached_from(const std::vector<std::size_t>& roots) const {
  std::set<std::size_t> reached;
  std::vector<std::size_t> waiting = roots;
  while (!waiting.empty()) {
    const std::size_t problem = waiting.back();
    waiting.pop_back();
    if (!reached.insert(problem).second) continue;
    const std::vector<std::size_t>& causes = all_[problem].causes;
    waiting.insert(waiting.end(), causes.begin(), causes.end());
  }
  return {reached.begin(), reached.end()};
}

bool Problems::lacks_operator(const std::vector<std::size_t>& roots) const {
  const std::vector<std::size_t> reached = reached_from(roots);
  return std::any_of(reached.begin(), reached.end(),
                     [&](std::size_t i) { return !all_[i].unsupported.empty(); });
}

void Problems::refuse(const std::vector<std::size_t>& roots, const std::string& file) const {
  const std::vector<std::size_t> reached = reached_from(roots);
  std::vector<Lacking> lacking;
  std::size_t layers = 0;
  const InputError* first = nullptr;
  for (const std::size_t i : reached) {
    const Problem& problem = all_[i];
    if (!problem.unsupported.empty()) {
      count(lacking, problem);
      ++layers;
    }
    if (first == nullptr && !problem.error.empty()) first = &problem.error.front();
  }
  for (const std::size_t i : reached)
    if (layers == 1 && !all_[i].unsupported.empty() && !all_[i].error.empty())
      throw all_[i].error.front();
  if (layers > 0)
    throw InputError(file,
                     fmt::format("{} layer{} operators that no engine of this build runs: {}; {}",
                                 layers, layers == 1 ? " has" : "s have", text_of(lacking),
                                 !remedy_.empty() ? remedy_
                                                  : "export the model without them, or add them as "
                                                    "docs/methods/operators.md says"));
  if (first != nullptr) throw *first;
  throw InputError(file, "a value that an output needs could not be read");
}

}  // namespace millrace::formats::onnx
