#include "profile/choose_variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

#include "base/error.h"
#include "network/operator_kinds.h"
#include "profile/alone.h"
#include "profile/error.h"

namespace millrace::profile {
namespace {

using board::Precision;
using board::Variant;

constexpr double promising = 1.15;       // times the best so far, of a layer: worth more
constexpr double revisited = 2;          // times the fastest: one run may have been disturbed
constexpr double hopeless = 1.25;        // times the best: its error is not worth measuring
constexpr double worth_it = 0.97;        // times what it is compared with: more than noise
constexpr double worth_settling = 0.01;  // of the whole network: less no few runs can tell
constexpr double usual_pace = 1.15;      // the pacer's fastest time to another: nothing disturbs it
constexpr int most_attempts = 3;
constexpr double worth_leaving = 0.9;  // times the others' algorithm: more than conversions between

class VariantMeasurement {
 public:
  VariantMeasurement(const MeasurementTarget& target, Precision precision, const Ways& ways,
                     const ProcessorProfile* known)
      : target_(target),
        ways_(ways),
        bound_(max_error_of(target.options, precision)),
        own_(own_choice()),
        known_(known != nullptr && offers_all_of(*known) ? known : nullptr),
        trial_(target, known_ != nullptr ? variants_of(known_->layers) : own_) {}

  void choose() {
    if (known_ != nullptr) return take_over(*known_);
    trial_.run(few_runs(3));
    runs_.push_back(trial_.result());
    usual_ = pace_ = runs_.front().whole.median;
    try_all(trials_of(ways_, own_));
    visit_again(0);  // if its first runs were disturbed, all others seem faster than they are
    for (const std::size_t run : promising_)
      if (ratio(runs_[run].whole.median, fastest_run().whole.median) < revisited) visit_again(run);
    list_alternatives();
    base_ = best_of_one_kind();
    choice_ = base_;
    for (std::size_t i = 0; i < own_.size(); ++i)
      if (!alternatives_[i].empty()) choice_[i] = best_of(LayerId(i));
    if (choice_ == base_) return;
    if (promised() < worth_settling)
      choice_ = base_;
    else
      settle();
  }

  /// Each layer in its best variant, measured thoroughly.
  NetworkRun best_run() {
    if (choice_ != trial_.variants()) trial_ = NetworkTrial(target_, choice_);
    MeasureOptions options = target_.options;
    if (trial_.is_warm()) options.warmup = 0;
    trial_.start_again();
    trial_.run(options);
    NetworkRun best = trial_.result();
    if (target_.options.alone) add_alone(best.layers);
    return best;
  }
  std::vector<Alternative> take_alternatives(std::size_t layer) {
    return std::move(alternatives_[layer]);
  }
  NetworkTrial take_trial() { return std::move(trial_); }
  std::optional<double> bound() const { return bound_; }

 private:
  /// As many runs as the options ask for, divided by `share`, within their time divided by it.
  MeasureOptions few_runs(int share) const {
    MeasureOptions options = target_.options;
    options.warmup = std::min(1, options.warmup);
    options.least = std::max(1, options.least / share);
    options.duration /= share;
    return options;
  }

  Variants own_choice() const {
    Variants result;
    for (const Variants& ways : ways_) result.push_back(ways.empty() ? Variant{} : ways.front());
    return result;
  }

  /// Whether this processor has the same ways to run each layer.
  bool offers_all_of(const ProcessorProfile& known) const {
    for (std::size_t i = 0; i < own_.size(); ++i)
      for (const Alternative& each : known.layers[i].alternatives)
        if (std::find(ways_[i].begin(), ways_[i].end(), each.variant) == ways_[i].end())
          return false;
    return true;
  }

  void take_over(const ProcessorProfile& known) {
    choice_ = trial_.variants();
    for (const LayerTimes& layer : known.layers) {
      alternatives_.push_back(layer.alternatives);
      alone_.push_back(layer.alone);
    }
  }

  void add_alone(std::vector<LayerTimes>& layers) {
    if (alone_.empty()) {
      MeasureOptions brief = few_runs(3);
      brief.duration /= 100;
      measure_alone({target_.network, target_.engine, target_.processor, brief}, layers);
      return;
    }
    for (std::size_t i = 0; i < layers.size(); ++i) layers[i].alone = alone_[i];
  }

  const NetworkRun& fastest_run() const {
    return *std::min_element(
        runs_.begin(), runs_.end(),
        [](const NetworkRun& a, const NetworkRun& b) { return a.whole.median < b.whole.median; });
  }

  /// Some time later: what slowed a part of it down, but not the pacer, may have gone meanwhile.
  void visit_again(std::size_t index) {
    NetworkRun& run = runs_[index];
    const Variants variants = variants_of(run.layers);
    if (variants == trial_.variants()) return;
    NetworkTrial trial(target_, variants);
    const NetworkRun again = beside_pacer(trial, few_runs(5));
    if (again.whole.median < run.whole.median) run = again;
  }

  void list_alternatives() {
    alternatives_.resize(own_.size());
    const FusionGroups groups(runs_);
    for (std::size_t i = 0; i < own_.size(); ++i) {
      if (ways_[i].size() < 2 && !network::multiplies(target_.network.layers[i].op)) continue;
      for (const NetworkRun& run : runs_)
        if (&run == &runs_.front() || run.layers[i].variant != own_[i])
          alternatives_[i].push_back(
              {run.layers[i].variant, groups.time(run, LayerId(i)), std::nullopt});
    }
    in_parallel(own_.size(), [&](std::size_t i) { add_errors(LayerId(i)); });
  }

  /// For what is not timed.
  void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work) const {
    if (target_.options.in_parallel && !target_.cores.empty())
      return target_.options.in_parallel(target_.cores, count, work);
    for (std::size_t i = 0; i < count; ++i) work(i);
  }

  /// Two are made ready at a time: each has all weights.
  void try_all(const std::vector<Variants>& all) {
    for (std::size_t first = 0; first < all.size(); first += 2) {
      std::vector<std::optional<NetworkTrial>> ready(std::min<std::size_t>(2, all.size() - first));
      in_parallel(ready.size(), [&](std::size_t i) { ready[i].emplace(target_, all[first + i]); });
      for (std::optional<NetworkTrial>& trial : ready) try_out(std::move(*trial));
    }
  }

  void try_out(NetworkTrial trial) {
    runs_.push_back(beside_pacer(trial, few_runs(10)));
    if (is_promising()) promising_.push_back(runs_.size() - 1);
    if (runs_.back().whole.median >= pace_) return;
    pace_ = runs_.back().whole.median;
    trial_ = std::move(trial);
    usual_ = trial_.result().whole.median;
  }

  /// The trial's times, interleaved with the fastest so far, as if the machine had been all the
  /// while as fast as it was for the first run. Beside a pacer that is slow for a moment the trial
  /// seems faster than it is: once more then.
  NetworkRun beside_pacer(NetworkTrial& trial, MeasureOptions options) {
    options.warmup = 0;  // the pacer is warm
    trial.run(one_run(options));
    NetworkRun nearest;
    double least_off = std::numeric_limits<double>::infinity();
    Time usual = usual_;
    for (int attempt = 0; attempt < most_attempts && least_off > usual_pace; ++attempt) {
      NetworkTrial::run_interleaved(trial_, trial, options);
      const Time now = trial_.result().whole.median;
      const double off = std::max(ratio(now, usual_), ratio(usual_, now));
      if (off >= least_off) continue;
      least_off = off;
      usual = now;  // the machine's pace may have changed for good
      nearest = at_pace(trial.result(), ratio(pace_, now));
    }
    usual_ = usual;
    return nearest;
  }

  /// Whether the last run has a layer that is about as fast as in the best of the others.
  bool is_promising() const {
    const FusionGroups groups(runs_);
    for (std::size_t i = 0; i < own_.size(); ++i) {
      if (runs_.back().layers[i].variant == own_[i]) continue;
      Time best = groups.time(runs_.front(), LayerId(i));
      for (std::size_t p = 1; p + 1 < runs_.size(); ++p)
        best = std::min(best, groups.time(runs_[p], LayerId(i)));
      if (ratio(groups.time(runs_.back(), LayerId(i)), best) < promising) return true;
    }
    return false;
  }

  void add_errors(LayerId layer) {
    auto& list = alternatives_[layer.index];
    if (list.empty() || !network::multiplies(target_.network[layer].op)) return;
    std::vector<Alternative*> by_time;
    for (Alternative& each : list) by_time.push_back(&each);
    std::stable_sort(by_time.begin(), by_time.end(),
                     [](const auto* a, const auto* b) { return a->time < b->time; });
    const ErrorTest test(target_, layer);
    std::optional<Time> best;  // within the bound
    for (Alternative* each : by_time) {
      if (best && each != &list.front() && ratio(each->time, *best) > hopeless) continue;
      each->error = test.of(each->variant);
      if (!best && allowed(*each, layer)) best = each->time;
    }
  }

  /// In f32, layers that multiply no weights differ between engines by rounding alone. On random
  /// inputs, such as a negative number under a root, a comparison would say nothing. Products of
  /// two tensors that are computed have no reference either.
  bool only_rounds(LayerId layer) const {
    const auto& list = alternatives_[layer.index];
    return std::ranges::all_of(list, [](const Alternative& each) {
      return each.variant.precision == Precision::f32 && !each.error;
    });
  }

  bool allowed(const Alternative& alternative, LayerId layer) const {
    if (!bound_) return true;
    if (alternative.error) return *alternative.error <= *bound_;
    return only_rounds(layer) && (is_usual_bound() || is_own_if_product(alternative, layer));
  }

  /// Far above what variants lose that have no reference.
  bool is_usual_bound() const { return !target_.options.max_error; }

  /// What no reference can measure is not taken for exact enough where the user gave the bound.
  bool is_own_if_product(const Alternative& alternative, LayerId layer) const {
    return !network::is_product(target_.network[layer].op) ||
           alternative.variant == own_[layer.index];
  }

  /// The run that makes the whole network fastest, with the engine's own way where it is not
  /// allowed. Neighbours of one algorithm want the same layouts.
  Variants best_of_one_kind() {
    const NetworkRun& best = fastest_run();
    Variants result = own_;
    if (ratio(best.whole.median, runs_.front().whole.median) >= worth_it) return result;
    // A layer that is slow alone may make the whole network fast, where its neighbours are alike.
    in_parallel(own_.size(), [&](std::size_t i) {
      if (only_rounds(LayerId(i))) return;
      for (Alternative& each : alternatives_[i])
        if (each.variant == best.layers[i].variant && !each.error)
          each.error = ErrorTest(target_, LayerId(i)).of(each.variant);
    });
    for (std::size_t i = 0; i < own_.size(); ++i)
      if (is_allowed(LayerId(i), best.layers[i].variant)) result[i] = best.layers[i].variant;
    return result;
  }

  Variant best_of(LayerId layer) const {
    const auto& list = alternatives_[layer.index];
    const auto has_error = [](const Alternative& each) { return each.error.has_value(); };
    if (!only_rounds(layer) && std::none_of(list.begin(), list.end(), has_error))
      return is_usual_bound() ? list.front().variant : Variant{};
    const Alternative *base = nullptr, *best = nullptr;
    for (const Alternative& each : list) {
      if (!allowed(each, layer)) continue;
      if (each.variant == base_[layer.index]) base = &each;
      if (best == nullptr || each.time < best->time) best = &each;
    }
    if (base != nullptr && ratio(best->time, base->time) >= worth_leaving) best = base;
    if (best != nullptr) return best->variant;
    if (list.front().variant.precision == Precision::f32) refuse(layer);
    return Variant{};  // this layer stays in f32
  }

  /// The share of the whole network's time that the choice saves by the times of single layers.
  /// All of it where the base is not exact enough.
  double promised() const {
    Time saved{};
    for (std::size_t i = 0; i < own_.size(); ++i) {
      if (choice_[i] == base_[i]) continue;
      if (!is_allowed(LayerId(i), base_[i])) return 1;
      for (const Alternative& each : alternatives_[i]) {
        if (each.variant == base_[i]) saved += each.time;
        if (each.variant == choice_[i]) saved -= each.time;
      }
    }
    return ratio(saved, fastest_run().whole.median);
  }

  [[noreturn]] void refuse(LayerId layer) const {
    std::string list;
    for (const Alternative& each : alternatives_[layer.index])
      if (each.error)
        list += fmt::format("{}{} with {:.1e}", list.empty() ? "" : ", ", to_text(each.variant),
                            *each.error);
    throw InputError("⟨max_error⟩ " + fmt::format("{:g}", *bound_),
                     fmt::format("no variant of layer '{}' has such a small error; it has {}; "
                                 "allow a larger error, or another precision",
                                 target_.network[layer].name, list));
  }

  /// Runs the choice beside the base, takes back what is no faster there, and keeps what makes the
  /// whole network fastest.
  void settle() {
    NetworkTrial base(target_, base_), all(target_, choice_);
    NetworkTrial::run_interleaved(base, all, few_runs(2));
    const double gain = ratio(all.result().whole.median, base.result().whole.median);
    const Variants fewer = without_the_slower(base.result(), all.result());
    NetworkTrial& better = base_is_allowed() && gain > (fewer == base_ ? worth_it : 1) ? base : all;
    if (fewer == choice_ || fewer == base_) return take(std::move(better));
    NetworkTrial some(target_, fewer);
    NetworkTrial::run_interleaved(better, some, few_runs(2));
    take(std::move(some.result().whole.median <= better.result().whole.median ? some : better));
  }

  bool base_is_allowed() const {
    for (std::size_t i = 0; i < own_.size(); ++i)
      if (choice_[i] != base_[i] && !is_allowed(LayerId(i), base_[i])) return false;
    return true;
  }

  void take(NetworkTrial chosen) {
    choice_ = chosen.variants();
    trial_ = std::move(chosen);
  }

  /// The choice, with the base's way for layers that are no faster in `chosen` than in `base`.
  Variants without_the_slower(const NetworkRun& base, const NetworkRun& chosen) const {
    const std::vector<NetworkRun> both{base, chosen};
    const FusionGroups groups(both);
    Variants result = choice_;
    for (std::size_t i = 0; i < own_.size(); ++i) {
      if (choice_[i] == base_[i] || !is_allowed(LayerId(i), base_[i])) continue;
      const Time now = groups.time(chosen, LayerId(i));
      if (ratio(now, groups.time(base, LayerId(i))) >= worth_it) result[i] = base_[i];
    }
    return result;
  }

  bool is_allowed(LayerId layer, const Variant& variant) const {
    const auto& list = alternatives_[layer.index];
    return std::any_of(list.begin(), list.end(), [&](const Alternative& each) {
      return each.variant == variant && allowed(each, layer);
    });
  }

  const MeasurementTarget& target_;
  const Ways& ways_;
  std::optional<double> bound_;
  Variants own_, base_, choice_;
  const ProcessorProfile* known_;       // borrowed; null unless it has the same ways
  NetworkTrial trial_;                  // the pacer: the fastest so far, and at last the choice
  Time pace_{};                         // the pacer's, at the pace of the first run
  Time usual_{};                        // the pacer's, when last nothing disturbed it
  std::vector<NetworkRun> runs_;        // the engine's own choice first
  std::vector<std::size_t> promising_;  // indices of runs
  std::vector<std::vector<Alternative>> alternatives_;
  std::vector<Statistics> alone_;  // taken over
};

}  // namespace

Measured measure_variants(const MeasurementTarget& target, Precision precision, const Ways& ways,
                          const ProcessorProfile* known) {
  VariantMeasurement measurement(target, precision, ways, known);
  measurement.choose();
  NetworkRun best = measurement.best_run();
  ProcessorProfile result;
  result.precision = precision;
  result.max_error = measurement.bound();
  result.layers = std::move(best.layers);
  result.whole = best.whole;
  for (std::size_t i = 0; i < ways.size(); ++i)
    result.layers[i].alternatives = measurement.take_alternatives(i);
  return {std::move(result), measurement.take_trial()};
}

}  // namespace millrace::profile
