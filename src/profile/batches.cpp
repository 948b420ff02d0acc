#include "profile/batches.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "engine/batch.h"
#include "network/batch.h"
#include "network/operator_kinds.h"
#include "profile/error.h"
#include "profile/network_run.h"

namespace millrace::profile {
namespace {

using board::Variant;

constexpr double hopeless_on_more = 2;   // times the best on one frame: not tried on several
constexpr double worth_another = 1.2;    // times the best on four frames: tried on eight too
constexpr double clearly_faster = 0.97;  // times what it is compared with: more than noise
constexpr double levels_off = 0.98;      // of the time per frame of half as many: more gain nothing
/// Share of the network's time: with other variants than on one frame results differ in their last
/// digits from those of a frame alone, and weights are packed in two ways.
constexpr double worth_other_digits = 0.03;

/// The constant that the layer multiplies with; null if there is none.
const network::Tensor* weights_of(const network::Network& network, const network::Layer& layer) {
  const std::size_t place = std::holds_alternative<network::QLinearConv>(layer.op) ? 3 : 1;
  if (layer.inputs.size() <= place || !layer.inputs[place].valid()) return nullptr;
  const network::Tensor& weights = network[layer.inputs[place]];
  return weights.constant ? &weights : nullptr;
}

MeasureOptions brief(MeasureOptions options) {
  options.warmup = 1;
  options.duration /= 2;
  options.least = std::min(options.least, 3);
  return options;
}

class TailMeasurement {
 public:
  /// Fills in what it measures. The target's options: brief ones.
  TailMeasurement(const MeasurementTarget& target, const Tail& tail, ProcessorProfile& profile)
      : target_(target),
        layers_(profile.layers),
        network_(profile.whole.median),
        bound_(profile.max_error),
        tail_(layers_of(tail)),
        own_(variants_of(profile.layers)),
        ways_(worth_trying()),
        one_(trial(1, own_)) {}

  void measure() {
    one_.run(target_.options);
    results_.push_back({1, one_.result()});
    const Variants few = best_on(4, own_);
    add(2, few);
    add(4, few);
    const Variants many = best_on(8, few);
    if (add(8, many)) add(16, many);
    store();
  }

 private:
  struct Result {
    std::int64_t frames;
    NetworkRun run;  // of all frames together
  };
  struct Beside {
    NetworkRun base, other;  // measured interleaved
  };

  /// In these variants, or in those of one frame. Whether a frame gains beside half as many frames.
  bool add(std::int64_t frames, const Variants& others) {
    Result result{frames, beside_one(frames, own_)};
    if (others != own_) {
      NetworkRun run = beside_one(frames, others);
      const Time gain = (result.run.whole.median - run.whole.median) / frames;
      if (seconds(gain) > worth_other_digits * seconds(network_)) result.run = std::move(run);
    }
    const double share = ratio(result.run.whole.median, results_.back().run.whole.median);
    results_.push_back(std::move(result));
    return share < 2 * levels_off;
  }

  static std::vector<LayerId> layers_of(const Tail& tail) {
    std::vector<LayerId> result;
    for (std::size_t i = tail.first; i < tail.end; ++i) result.emplace_back(i);
    return result;
  }

  NetworkTrial trial(std::int64_t frames, const Variants& variants) const {
    engine::SubnetRequest request = request_for(target_, tail_, variants);
    request.plain.assign(request.outputs.size(), true);
    request.variants = offered(frames, variants);
    return {target_, request.variants, engine::prepare_batch(target_.engine, request, frames)};
  }

  /// The variants, with the engine's own choice where it does not offer them on so many frames.
  Variants offered(std::int64_t frames, Variants variants) const {
    if (frames == 1) return variants;
    const network::Network batch = network::with_batch(target_.network, tail_, frames);
    for (const LayerId layer : tail_) {
      Variant& variant = variants[layer.index];
      const Variants ways = target_.engine.variants(batch, layer, target_.processor);
      if (!ways.empty() && std::find(ways.begin(), ways.end(), variant) == ways.end())
        variant = ways.front();
    }
    return variants;
  }

  /// As if the machine had been all the while as fast as it was for the first result.
  NetworkRun beside_one(std::int64_t frames, const Variants& variants) {
    NetworkTrial other = trial(frames, variants);
    NetworkTrial::run_interleaved(one_, other, target_.options);
    const Time first = results_.front().run.whole.median;
    return at_pace(other.result(), ratio(first, one_.result().whole.median));
  }

  /// For each layer, the variants that are not far slower than the best on one frame.
  std::vector<Variants> worth_trying() const {
    std::vector<Variants> result(layers_.size());
    for (const LayerId layer : tail_) {
      const auto& list = layers_[layer.index].alternatives;
      Time best = Time::max();
      for (const Alternative& each : list) best = std::min(best, each.time);
      for (const Alternative& each : list)
        if (ratio(each.time, best) < hopeless_on_more) result[layer.index].push_back(each.variant);
    }
    return result;
  }

  /// The base with one algorithm wherever it is worth trying.
  std::vector<Variants> attempts(const Variants& base) const {
    std::map<std::string, Variants> by_algorithm;
    for (const LayerId layer : tail_)
      for (const Variant& way : ways_[layer.index])
        if (way != base[layer.index])
          by_algorithm.try_emplace(way.algorithm, base).first->second[layer.index] = way;
    std::vector<Variants> result;
    for (auto& [algorithm, variants] : by_algorithm) result.push_back(std::move(variants));
    return result;
  }

  /// Each layer of the base in its best variant. Those that are clearly slower are not tried again.
  Variants best_on(std::int64_t frames, const Variants& base) {
    const std::vector<Variants> all = attempts(base);
    if (all.empty()) return base;
    NetworkTrial base_trial = trial(frames, base);
    std::vector<Beside> tried;
    std::vector<NetworkRun> runs;
    for (const Variants& variants : all) {
      NetworkTrial other = trial(frames, variants);
      NetworkTrial::run_interleaved(base_trial, other, target_.options);
      tried.push_back({base_trial.result(), other.result()});
      runs.insert(runs.end(), {tried.back().base, tried.back().other});
    }
    const FusionGroups groups(runs);
    Variants result = base_trial.variants();
    for (const LayerId layer : tail_) decide(layer, result[layer.index], tried, groups);
    return result;
  }

  void decide(LayerId layer, Variant& variant, const std::vector<Beside>& tried,
              const FusionGroups& groups) {
    std::vector<std::pair<double, Variant>> shares{{clearly_faster, variant}};
    for (const Beside& each : tried)
      if (const Variant& way = each.other.layers[layer.index].variant; way != variant)
        shares.emplace_back(ratio(groups.time(each.other, layer), groups.time(each.base, layer)),
                            way);
    std::erase_if(shares, [&](const auto& each) {
      return each.second != variant && !is_allowed(layer, each.second);
    });
    std::stable_sort(shares.begin(), shares.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    variant = shares.front().second;
    ways_[layer.index].clear();
    for (const auto& [share, way] : shares)
      if (share < worth_another * shares.front().first) ways_[layer.index].push_back(way);
  }

  bool is_allowed(LayerId layer, const Variant& way) {
    if (!bound_) return true;
    auto& list = layers_[layer.index].alternatives;
    const auto found = std::find_if(list.begin(), list.end(),
                                    [&](const Alternative& each) { return each.variant == way; });
    if (found == list.end()) return false;
    if (!found->error) found->error = ErrorTest(target_, layer).of(way);
    return found->error && *found->error <= *bound_;
  }

  void store() {
    std::vector<NetworkRun> runs;
    for (const Result& each : results_) runs.push_back(each.run);
    const FusionGroups groups(runs);
    for (const LayerId layer : tail_) {
      auto& batches = layers_[layer.index].batches;
      batches.clear();
      for (const Result& each : results_)
        if (const Time time = groups.time(each.run, layer); time > Time{})
          batches.push_back({each.frames, time, each.run.layers[layer.index].variant});
      if (batches.size() < results_.size()) batches.clear();  // no work to speak of
    }
  }

  const MeasurementTarget& target_;
  std::vector<LayerTimes>& layers_;
  Time network_;  // on one frame
  std::optional<double> bound_;
  std::vector<LayerId> tail_;
  Variants own_;                // on one frame
  std::vector<Variants> ways_;  // by layer: what may be best on several
  NetworkTrial one_;
  std::vector<Result> results_;  // ascending from 1 frame
};

bool lacks_batches(const ProcessorProfile& profile, const network::Network& network) {
  const Tail tail = tail_in_batches(network);
  for (std::size_t i = tail.first; i < tail.end; ++i)
    if (profile.layers[i].batches.empty() && gains_by_batches(network, LayerId(i))) return true;
  return false;
}

bool is_asked_for(const ProcessorProfile& profile, const MeasureOptions& options) {
  return std::find(options.precisions.begin(), options.precisions.end(), profile.precision) !=
         options.precisions.end();
}

/// Whether the second has the alternatives of the first, to the nanosecond.
bool took_over(const ProcessorProfile& first, const ProcessorProfile& second) {
  if (first.precision != second.precision || first.max_error != second.max_error) return false;
  const auto has_alternatives = [](const LayerTimes& each) { return !each.alternatives.empty(); };
  if (std::none_of(first.layers.begin(), first.layers.end(), has_alternatives)) return false;
  return std::equal(first.layers.begin(), first.layers.end(), second.layers.begin(),
                    [](const LayerTimes& a, const LayerTimes& b) {
                      return a.alternatives == b.alternatives && a.variant == b.variant;
                    });
}

/// By processor: the first that it took its variants over from, or itself.
std::vector<std::size_t> who_is_like(const std::vector<ProcessorProfile>& all) {
  std::vector<std::size_t> result;
  for (const ProcessorProfile& each : all) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const ProcessorProfile& other) {
      return &other == &each || took_over(other, each);
    });
    result.push_back(static_cast<std::size_t>(found - all.begin()));
  }
  return result;
}

/// The other processors run the network on one frame, again and again: a pipeline has all at work,
/// and what waits for memory then waits longer. Without the options' `under_background_load` they
/// rest.
void while_others_work(const MeasurementTarget& target, const std::vector<ProcessorProfile>& all,
                       const std::function<void()>& work) {
  std::vector<std::unique_ptr<NetworkTrial>> trials;
  std::vector<std::function<void()>> others;
  std::set<std::string> seen{target.processor.name};
  for (const ProcessorProfile& each : all) {
    if (!target.options.under_background_load || !is_asked_for(each, target.options)) continue;
    if (!seen.insert(each.processor.name).second) continue;
    const MeasurementTarget other{target.network, target.engine, each.processor, target.options};
    trials.push_back(std::make_unique<NetworkTrial>(other, variants_of(each.layers)));
    others.emplace_back([&trial = *trials.back(), &processor = each.processor, &target] {
      const board::PinGuard pinned(processor);
      trial.start_again();
      trial.run(one_run(target.options));
    });
  }
  if (others.empty()) return work();
  target.options.under_background_load(others, work);
}

}  // namespace

bool gains_by_batches(const network::Network& network, LayerId id) {
  const network::Layer& layer = network[id];
  const network::Tensor* weights = weights_of(network, layer);
  if (weights == nullptr || !network::can_batch(network, id)) return false;
  if (!network::is_any_convolution(layer.op)) return network::is_product(layer.op);
  return weights->size() > network[layer.inputs[0]].size() + network[layer.outputs[0]].size();
}

Tail tail_in_batches(const network::Network& network) {
  const std::size_t count = network.layers.size();
  const auto gains = [&](std::size_t i) { return gains_by_batches(network, LayerId(i)); };
  const auto may = [&](std::size_t i) {
    return static_cast<bool>(network::can_batch(network, LayerId(i)));
  };
  std::size_t last = count;
  while (last > 0 && !gains(last - 1)) --last;
  if (last == 0) return {};
  Tail tail{last, last, last};
  while (tail.end < count && !network::is_any_convolution(network.layers[tail.end].op) &&
         may(tail.end))
    ++tail.end;
  tail.products = tail.end;
  bool convolved = false;
  for (std::size_t i = tail.end; i > 0 && may(i - 1); --i) {
    convolved = convolved || network::is_any_convolution(network.layers[i - 1].op);
    if (!gains(i - 1)) continue;
    tail.first = i - 1;
    if (!convolved) tail.products = i - 1;
  }
  return tail;
}

bool has_batches(const Profile& profile, const network::Network& network,
                 const MeasureOptions& options) {
  return std::none_of(profile.processors.begin(), profile.processors.end(),
                      [&](const ProcessorProfile& each) {
                        return is_asked_for(each, options) && lacks_batches(each, network);
                      });
}

void measure_batches(Profile& profile, const network::Network& network, engine::Engine& engine,
                     const MeasureOptions& options) {
  const Tail tail = tail_in_batches(network);
  const MeasureOptions quick = brief(options);
  auto& all = profile.processors;
  const std::vector<std::size_t> like = who_is_like(all);
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (options.progress)
      options.progress(all[p].processor.name + " batches",
                       static_cast<double>(p) / static_cast<double>(all.size()));
    if (!is_asked_for(all[p], options)) continue;
    if (like[p] != p) {
      for (std::size_t i = 0; i < all[p].layers.size(); ++i) {
        all[p].layers[i].batches = all[like[p]].layers[i].batches;
        all[p].layers[i].alternatives = all[like[p]].layers[i].alternatives;  // errors of more
      }
    } else if (lacks_batches(all[p], network)) {
      const MeasurementTarget target{network, engine, all[p].processor, quick};
      while_others_work(target, all, [&] {
        const board::PinGuard pinned(target.processor);
        TailMeasurement(target, tail, all[p]).measure();
      });
    }
  }
}

}  // namespace millrace::profile
