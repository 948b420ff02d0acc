#include "explore/configuration/mapping_options.h"

#include <algorithm>
#include <map>

namespace millrace::explore {
namespace {

/// Processors that are alike, in the board's order.
struct Class {
  ProcessorGroup members;
  bool restricted = false;  // its SDK does not run all operators, or only whole subnets
};

bool is_restricted(const board::Device* device) {
  return device != nullptr &&
         (!device->limits.operators.empty() || !device->limits.not_operators.empty() ||
          device->limits.granularity == board::Granularity::subnet);
}

std::vector<Class> classes_of(const board::Board& board) {
  std::vector<Class> classes;
  std::map<std::pair<const board::Device*, board::ProcessorKind>, std::size_t> known;
  for (std::size_t p = 0; p < board.processors.size(); ++p) {
    const board::Device* device = board::device_of(board, board.processors[p]);
    const auto [at, added] = known.try_emplace({device, board.processors[p].kind}, classes.size());
    if (added) classes.push_back({{}, is_restricted(device)});
    classes[at->second].members.emplace_back(p);
  }
  const bool none_is_free = std::all_of(classes.begin(), classes.end(),
                                        [](const Class& each) { return each.restricted; });
  for (Class& each : classes) each.restricted &= !none_is_free;
  return classes;
}

class Enumeration {
 public:
  explicit Enumeration(const board::Board& board)
      : board_(board), classes_(classes_of(board)), used_(classes_.size(), 0) {}

  std::vector<MappingOption> all() {
    extend();
    add_alternations();
    std::stable_sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) {
      return a.stages.size() < b.stages.size();
    });
    if (found_.size() > most_options) found_.resize(most_options);
    return std::move(found_);
  }

 private:
  void extend() {
    if (stages_.size() == most_stages) return;
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      const std::size_t size = classes_[c].members.size();
      for (std::size_t together = 1; together <= size; ++together)
        if (size % together == 0) take(c, together);
    }
  }

  void take(std::size_t index, std::size_t together) {
    const ProcessorGroup& members = classes_[index].members;
    if (used_[index] + together > members.size()) return;
    if (together > 1 && group_ > 1 && together != group_) return;
    const std::size_t group_before = group_;
    if (together > 1) group_ = together;
    const auto first = members.begin() + static_cast<std::ptrdiff_t>(used_[index]);
    stages_.emplace_back(first, first + static_cast<std::ptrdiff_t>(together));
    used_[index] += together;
    emit(index);
    extend();
    used_[index] -= together;
    stages_.pop_back();
    group_ = group_before;
  }

  /// What stands there, and with the first processor once more at the end.
  void emit(std::size_t last_class) {
    if (!classes_[last_class].restricted) add(stages_);
    const ProcessorGroup& first = stages_.front();
    if (stages_.size() < 2 || stages_.size() == most_stages || first.size() > 1 ||
        class_of(first.front()).restricted)
      return;
    std::vector<ProcessorGroup> closed = stages_;
    closed.push_back(first);
    add(closed);
  }

  void add_alternations() {
    if (board_.processors.size() != 2) return;
    const bool alike = classes_.size() == 1;
    for (std::size_t first = 0; first < (alike ? 1u : 2u); ++first) {
      const ProcessorGroup one{ProcessorId(first)}, other{ProcessorId(1 - first)};
      if (!class_of(other.front()).restricted) add({one, other, one, other});
    }
  }

  void add(const std::vector<ProcessorGroup>& stages) {
    found_.push_back({name_of(stages), stages});
  }

  const Class& class_of(ProcessorId processor) const {
    return *std::find_if(classes_.begin(), classes_.end(), [&](const Class& each) {
      return std::count(each.members.begin(), each.members.end(), processor) > 0;
    });
  }

  /// The thesis's letters, where there is one unrestricted processor, "M", and one kind of others.
  std::string name_of(const std::vector<ProcessorGroup>& stages) const {
    static const std::map<std::string, std::string> letters{
        {"M", "E"},    {"1M", "A"},     {"M1M", "B"},    {"11M", "C"},
        {"M11M", "D"}, {"2M", "PND-A"}, {"M2M", "PND-B"}};
    const bool has_letters = classes_.size() == 2 &&
                             classes_[0].restricted != classes_[1].restricted &&
                             classes_[classes_[0].restricted ? 1 : 0].members.size() == 1;
    if (!has_letters) return text_of(stages, board_);
    std::string pattern;
    std::vector<ProcessorGroup> seen;
    for (const ProcessorGroup& group : stages) {
      const bool helper = class_of(group.front()).restricted;
      if (helper && std::count(seen.begin(), seen.end(), group) > 0) return text_of(stages, board_);
      pattern += helper ? std::to_string(group.size()) : "M";
      seen.push_back(group);
    }
    const auto found = letters.find(pattern);
    return found == letters.end() ? text_of(stages, board_) : found->second;
  }

  const board::Board& board_;
  std::vector<Class> classes_;
  std::vector<std::size_t> used_;  // by class
  std::vector<ProcessorGroup> stages_;
  std::size_t group_ = 1;  // of the groups among them
  std::vector<MappingOption> found_;
};

}  // namespace

std::vector<MappingOption> mapping_options(const board::Board& board) {
  return Enumeration(board).all();
}

std::string text_of(const std::vector<ProcessorGroup>& stages, const board::Board& board) {
  std::string text;
  for (const ProcessorGroup& group : stages) {
    if (!text.empty()) text += " - ";
    for (const ProcessorId processor : group)
      text += (processor == group.front() ? "" : "+") + board[processor].name;
  }
  return text;
}

}  // namespace millrace::explore
