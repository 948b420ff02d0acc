#include "dataflow/component.h"

#include <algorithm>
#include <numeric>

#include "dataflow/checked.h"
#include "dataflow/parts.h"

namespace millrace::dataflow {
namespace {

constexpr std::size_t unseen = static_cast<std::size_t>(-1);

/// Tarjan's algorithm with a stack of its own, since graphs may be deeper than the machine's.
class Search {
 public:
  Search(const Graph& graph, const Neighbours& near)
      : graph_(graph),
        near_(near),
        order_(graph.actors.size(), unseen),
        low_(graph.actors.size(), 0),
        component_(graph.actors.size(), unseen) {}

  /// By actor: the number of its component.
  std::vector<std::size_t> run() {
    for (std::size_t root = 0; root < order_.size(); ++root)
      if (order_[root] == unseen) visit(root);
    return component_;
  }
  std::size_t count() const { return count_; }

 private:
  struct Step {
    std::size_t actor, next = 0;
  };

  void enter(std::size_t actor) {
    order_[actor] = low_[actor] = time_++;
    open_.push_back(actor);
    steps_.push_back({actor});
  }

  void visit(std::size_t root) {
    enter(root);
    while (!steps_.empty()) {
      Step& step = steps_.back();
      const auto& outgoing = near_.outgoing[step.actor];
      if (step.next == outgoing.size())
        leave(step.actor);
      else
        look(step.actor, graph_.channels[outgoing[step.next++]].to.index);
    }
  }

  void look(std::size_t actor, std::size_t to) {
    if (order_[to] == unseen)
      enter(to);
    else if (component_[to] == unseen)
      low_[actor] = std::min(low_[actor], order_[to]);
  }

  void leave(std::size_t actor) {
    steps_.pop_back();
    if (!steps_.empty())
      low_[steps_.back().actor] = std::min(low_[steps_.back().actor], low_[actor]);
    if (low_[actor] != order_[actor]) return;
    for (std::size_t member = unseen; member != actor;) {
      member = open_.back();
      open_.pop_back();
      component_[member] = count_;
    }
    ++count_;
  }

  const Graph& graph_;
  const Neighbours& near_;
  std::vector<std::size_t> order_, low_, component_, open_;
  std::vector<Step> steps_;
  std::size_t time_ = 0, count_ = 0;
};

}  // namespace

std::vector<Component> components(const Graph& graph, const std::vector<std::int64_t>& cycles) {
  const Neighbours near = neighbours(graph);
  Search search(graph, near);
  const std::vector<std::size_t> number = search.run();
  std::vector<Component> result(search.count());
  for (std::size_t a = 0; a < number.size(); ++a) {
    result[number[a]].actors.push_back(a);
    result[number[a]].cycles.push_back(cycles[a]);
  }
  for (std::size_t a = 0; a < number.size(); ++a)
    for (std::size_t c : near.outgoing[a])
      if (number[graph.channels[c].to.index] == number[a]) result[number[a]].channels.push_back(c);
  for (Component& component : result) {
    component.rounds = 0;
    for (std::int64_t count : component.cycles)
      component.rounds = std::gcd(component.rounds, count);
    for (std::int64_t& count : component.cycles) count /= component.rounds;
  }
  return result;
}

std::int64_t firings_per_round(const Graph& graph, const Component& component, std::size_t at) {
  const Actor& actor = graph.actors[component.actors[at]];
  return checked_multiply(component.cycles[at], static_cast<std::int64_t>(actor.times.size()),
                          "actor '" + actor.name + "'");
}

bool may_overtake(const Actor& actor) {
  return actor.concurrent && std::any_of(actor.times.begin(), actor.times.end(),
                                         [&](Time time) { return time != actor.times.front(); });
}

}  // namespace millrace::dataflow
