#include "engine/plugin/check/checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "engine/plugin/check/results.h"
#include "engine/plugin/questions.h"

namespace millrace::engine::plugin::check {
namespace {

using Check = void (*)(const Bench&, const Case&);

const PluginDevice& device_called(const Instance& instance, const std::string& name) {
  const auto at = std::ranges::find(instance.devices(), name, &PluginDevice::name);
  if (at == instance.devices().end()) throw EngineError("the device " + name + " has gone");
  return *at;
}

/// What is wrong with an answer by itself; empty: nothing.
std::string fault_of(const Answer& answer, const SubnetView& view) {
  if (answer.reason == millrace_runs) return {};
  if (word_of_reason(answer.reason).empty())
    return fmt::format("the reason {} is none", answer.reason);
  if (answer.text.empty()) return "a refusal has no text";
  if (answer.node >= view.subnet().node_count) return "a refusal names a node that is not there";
  return {};
}

/// The refused node, without what the reason leaves open.
const MillraceNode& node_of(const Answer& answer, const SubnetView& view) {
  return view.subnet().nodes[answer.node];
}

/// The types of what the node reads.
std::vector<std::int32_t> types_of(const MillraceNode& node, const SubnetView& view) {
  std::vector<std::int32_t> types;
  for (std::size_t i = 0; i < node.input_count; ++i)
    types.push_back(node.inputs[i] < 0 ? 0 : view.subnet().tensors[node.inputs[i]].type);
  return types;
}

/// Whether the two answers cannot both be true: an operator, or a type of it, that runs elsewhere.
bool contradicts(const Answer& no, const SubnetView& refused, const SubnetView& runs) {
  const MillraceNode& node = node_of(no, refused);
  const auto types = types_of(node, refused);
  const MillraceNode* const begin = runs.subnet().nodes;
  return std::any_of(begin, begin + runs.subnet().node_count, [&](const MillraceNode& other) {
    if (std::string_view(node.op) != other.op) return false;
    if (no.reason == millrace_no_operator) return true;
    return no.reason == millrace_no_type && types == types_of(other, runs);
  });
}

/// Says "NAME" of each case that runs, and "NAME: REASON: TEXT" of each other.
void check_reasons(const Bench& bench) {
  const std::vector<Case> all = cases();
  std::vector<std::pair<std::unique_ptr<SubnetView>, Answer>> answers;
  for (const Case& test : all) {
    bench.teller.at("can_run() of " + test.name);
    auto view = std::unique_ptr<SubnetView>(
        new SubnetView(view_of(test, bench.device, bench.instance)));
    const Answer answer = ask(bench.instance, bench.device, *view);
    if (std::string fault = fault_of(answer, *view); !fault.empty())
      return bench.teller.fault(fmt::format("wrong reason: {}: {}", test.name, fault));
    if (ask(bench.instance, bench.device, *view) != answer)
      return bench.teller.fault(
          fmt::format("wrong reason: {}: the second answer is another one", test.name));
    bench.teller.say(answer.reason == millrace_runs
                         ? test.name
                         : fmt::format("{}: {}: {}", test.name, word_of_reason(answer.reason),
                                       answer.text));
    answers.emplace_back(std::move(view), answer);
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < all.size(); ++j)
      if (answers[i].second.reason != millrace_runs && answers[j].second.reason == millrace_runs &&
          contradicts(answers[i].second, *answers[i].first, *answers[j].first))
        return bench.teller.fault(fmt::format(
            "wrong reason: {} is refused because of its {} {}, with which {} runs", all[i].name,
            word_of_reason(answers[i].second.reason),
            node_of(answers[i].second, *answers[i].first).op, all[j].name));
}

class DeviceChecker {
 public:
  DeviceChecker(const Tested& tested, double limit, DeviceReport& report)
      : tested_(tested), limit_(limit), report_(report), all_(cases()) {}

  void check() {
    const Told told = in_device(check_reasons);
    for (const std::string& result : told.results)
      (result.find(':') == std::string::npos ? runs_ : report_.refused).push_back(result);
    take_faults(told);
    for (const Case& test : all_)
      if (std::ranges::find(runs_, test.name) != runs_.end()) ready_.push_back(&test);
    report_.run = ready_.size();
    if (!told.ended || ready_.empty()) return;
    check_each(check_results);
    report_.right = right_.size();
    if (right_.empty()) return;
    const Case& usual = *right_[right_.size() > 1 ? right_.size() - 2 : 0];
    for (const std::pair<Check, const Case*>& each :
         {std::pair<Check, const Case*>{check_threads, &usual}, {check_leaks, &usual},
          {check_memory, right_.back()}})
      take_faults(in_device([&](const Bench& bench) { each.first(bench, *each.second); }));
    const Told times = in_device([&](const Bench& bench) {
      for (const Case* test : right_) check_times(bench, *test);
    });
    report_.times = times.results;
    take_faults(times);
  }

 private:
  Told in_device(const std::function<void(const Bench&)>& work) const {
    return in_child(limit_, [&](Teller& teller) {
      teller.at("open()");
      const auto instance = open(tested_);
      work({*instance, device_called(*instance, report_.name), teller});
    });
  }

  void take_faults(const Told& told) {
    report_.faults.insert(report_.faults.end(), told.faults.begin(), told.faults.end());
  }

  /// A case that ends its process is passed over by the next one.
  void check_each(Check check) {
    std::size_t next = 0;
    while (next < ready_.size()) {
      std::size_t begun = next;
      const Told told = in_device([&](const Bench& bench) {
        for (std::size_t i = next; i < ready_.size(); ++i) {
          bench.teller.say("begin");
          check(bench, *ready_[i]);
        }
      });
      for (const std::string& result : told.results) {
        if (result == "begin")
          ++begun;
        else
          right_.push_back(ready_[begun - 1]);
      }
      take_faults(told);
      if (begun == next) return;  // it did not even open
      next = begun;
    }
  }

  const Tested& tested_;
  double limit_;
  DeviceReport& report_;
  const std::vector<Case> all_;
  std::vector<std::string> runs_;
  std::vector<const Case*> ready_, right_;
};

}  // namespace

bool Report::is_good() const {
  return faults.empty() && std::ranges::all_of(devices, [](const DeviceReport& device) {
           return device.faults.empty();
         });
}

Report check_plugin(const Tested& tested, double limit) {
  Report report;
  const Told told = in_child(limit, [&](Teller& teller) {
    teller.at("loading");
    const auto instance = open(tested);
    for (const PluginDevice& device : instance->devices())
      if (!device.is_absent) {
        teller.say(device.name);
        teller.say(device.model);
      }
  });
  report.faults = told.faults;
  for (std::size_t i = 0; i + 1 < told.results.size(); i += 2) {
    DeviceReport& device = report.devices.emplace_back();
    device.name = told.results[i];
    device.model = told.results[i + 1];
    DeviceChecker(tested, limit, device).check();
  }
  return report;
}

}  // namespace millrace::engine::plugin::check
