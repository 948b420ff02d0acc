#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/file.h"
#include "dataflow/sdf3.h"
#include "system/read_task_code.h"

namespace millrace::system {
namespace {

constexpr double longest_us = 1e12;

/// Tasks of one group are fired one after the other, so that nothing is left of a channel that only
/// says so: from an actor to itself, with tokens of no size.
bool only_says_one_by_one(const dataflow::Channel& channel) {
  return channel.from == channel.to && channel.token_bits == 0 &&
         channel.production.front() == channel.consumption.front() &&
         channel.initial_tokens >= channel.consumption.front();
}

class Sdf3GraphReader {
 public:
  Sdf3GraphReader(const YamlView& group, bool has_network)
      : group_(group),
        has_network_(has_network),
        path_(group.at("graph").path()),
        file_(dataflow::read_sdf3(path_)) {}

  TaskGraph read() {
    check_processors();
    for (std::size_t a = 0; a < file_.graph.actors.size(); ++a) add_actor(a);
    for (const dataflow::Channel& channel : file_.graph.channels)
      if (!only_says_one_by_one(channel)) add_channel(channel);
    if (group_.has("code")) add_code(group_.at("code"));
    return std::move(result_);
  }

 private:
  void add_actor(std::size_t a) {
    const dataflow::Actor& actor = file_.graph.actors[a];
    if (is_network(actor.name)) {
      node_.push_back(file_.graph.actors.size() - 1);
      return;
    }
    const std::string place = fmt::format("{}: actor '{}'", path_, actor.name);
    if (actor.times.size() > 1)
      throw InputError(place, "has several phases, expected one: a task has one function");
    GraphTask task{.name = actor.name, .on = {}, .code = {}, .place = place};
    for (const auto& [type, time] : file_.times_by_type[a]) {
      const double us = static_cast<double>(time) / static_cast<double>(file_.ticks);
      if (!(us <= longest_us))
        throw InputError(place, fmt::format("takes {:.4g} us on '{}', expected at most {:.4g}", us,
                                            type, longest_us));
      const Time worst(std::llround(1e3 * us));
      const std::string processor = processor_of(type);
      const auto same = std::ranges::find(task.on, processor, &TimesOn::processor);
      if (same == task.on.end())
        task.on.push_back({processor, worst, worst, Time{}});
      else  // two types of the file are one of the board
        same->worst = same->average = std::max(same->worst, worst);
    }
    node_.push_back(result_.tasks.size());
    result_.tasks.push_back(std::move(task));
  }

  void add_channel(const dataflow::Channel& channel) {
    result_.edges.push_back({node_[channel.from.index], node_[channel.to.index],
                             channel.production.front(), channel.consumption.front(),
                             channel.initial_tokens, (channel.token_bits + 7) / 8,
                             fmt::format("{}: channel '{}'", path_, channel.name)});
  }

  void add_code(const YamlView& code) {
    for (const std::string& actor : code.keys()) {
      const auto task = std::ranges::find(result_.tasks, actor, &GraphTask::name);
      if (task == result_.tasks.end()) refuse_code(code.at(actor), actor);
      task->code = read_code(code.at(actor));
    }
    for (const GraphTask& task : result_.tasks)
      if (task.code.function.empty())
        code.fail(
            fmt::format("has no function for the actor '{}' of {}; add it, or leave out "
                        "'code' for a graph that is only analysed",
                        task.name, path_));
  }

  [[noreturn]] void refuse_code(const YamlView& code, const std::string& actor) const {
    if (is_network(actor)) code.fail("stands for the group's network, which needs no function");
    std::vector<std::string_view> known;
    for (const GraphTask& task : result_.tasks) known.push_back(task.name);
    code.fail(
        fmt::format("there is no actor '{}' in {}{}", actor, path_, did_you_mean(actor, known)));
  }

  /// Processor of the board, for a type of the file.
  std::string processor_of(const std::string& type) const {
    if (!group_.has("processors") || !group_.at("processors").has(type)) return type;
    return group_.at("processors").at(type).text();
  }

  void check_processors() const {
    if (!group_.has("processors")) return;
    std::vector<std::string_view> known;
    for (const auto& times : file_.times_by_type)
      for (const auto& [type, time] : times) known.push_back(type);
    for (const std::string& type : group_.at("processors").keys())
      if (std::ranges::find(known, type) == known.end())
        group_.at("processors")
            .at(type)
            .fail(fmt::format("there is no type of processor '{}' in {}{}", type, path_,
                              did_you_mean(type, known)));
  }

  bool is_network(const std::string& actor) const { return has_network_ && actor == network_node; }

  const YamlView& group_;
  const bool has_network_;
  const std::string path_;
  const dataflow::Sdf3File file_;
  std::vector<std::size_t> node_ = {};  // by actor
  TaskGraph result_ = {};
};

}  // namespace

TaskGraph read_sdf3_graph(const YamlView& group, bool has_network) {
  return Sdf3GraphReader(group, has_network).read();
}

}  // namespace millrace::system
