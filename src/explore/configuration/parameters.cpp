#include "explore/configuration/parameters.h"

#include <algorithm>

namespace millrace::explore {
namespace {

bool is_allowed(const Parameters& parameters, const FineTuning& options) {
  for (const Parameter& each : parameters)
    if (each.value < each.least || each.value > each.most ||
        (options.largest && each.value > parameters[*options.largest].value))
      return false;
  return true;
}

/// One value changed by so much; nothing where it may not be.
std::optional<Parameters> changed(Parameters parameters, std::size_t which, std::int64_t by,
                                  const FineTuning& options) {
  parameters[which].value += by;
  if (options.largest && by > 0)
    parameters[*options.largest].value =
        std::max(parameters[*options.largest].value, parameters[which].value);
  return is_allowed(parameters, options) ? std::optional(std::move(parameters)) : std::nullopt;
}

/// Parameters with their rate.
struct Rated {
  Parameters parameters;
  double rate = 0;
};

/// As long as the changes help.
Rated climbed(Rated from, const Rate& rate, double noise,
              const std::function<std::optional<Parameters>(const Parameters&)>& change) {
  while (auto next = change(from.parameters)) {
    const auto now = rate(*next);
    if (!now || *now <= from.rate * (1 + noise)) break;
    from = {std::move(*next), *now};
  }
  return from;
}

Rated raised(Rated from, const Rate& rate, const FineTuning& options) {
  for (double before = -1; from.rate > before;) {
    before = from.rate;
    for (std::size_t p = 0; p < from.parameters.size(); ++p)
      from = climbed(std::move(from), rate, options.noise,
                     [&](const Parameters& now) { return changed(now, p, 1, options); });
    for (const auto& [one, other] : options.together)
      from = climbed(std::move(from), rate, options.noise, [&, one = one, other = other](auto now) {
        const auto first = changed(now, one, 1, options);
        return first ? changed(*first, other, 1, options) : std::nullopt;
      });
  }
  return from;
}

/// All of them, the one that must be the largest last.
std::vector<std::size_t> in_order(std::size_t count, const FineTuning& options) {
  std::vector<std::size_t> order;
  for (std::size_t p = 0; p < count; ++p)
    if (options.largest != p) order.push_back(p);
  if (options.largest) order.push_back(*options.largest);
  return order;
}

/// Each by one, as long as that is allowed.
Parameters lowered(Parameters parameters, const Rate& rate, const FineTuning& options,
                   double best) {
  for (const std::size_t p : in_order(parameters.size(), options))
    while (const auto less = changed(parameters, p, -1, options)) {
      const auto now = rate(*less);
      if (!now || *now < best * (1 - options.allowed_loss)) break;
      parameters = *less;
    }
  return parameters;
}

Rated shared_otherwise(Rated from, const Rate& rate, const FineTuning& options) {
  for (const auto& [one, other] : options.shared)
    for (const auto& [less, more] : {std::pair(one, other), std::pair(other, one)})
      from = climbed(std::move(from), rate, options.noise,
                     [&, less = less, more = more](Parameters next) -> std::optional<Parameters> {
                       --next[less].value;
                       ++next[more].value;
                       if (!is_allowed(next, options)) return std::nullopt;
                       return next;
                     });
  return from;
}

}  // namespace

Parameters maximise(Parameters parameters, const Rate& rate, const ParameterPairs& together,
                    double noise) {
  const auto before = rate(parameters);
  if (!before) return parameters;
  FineTuning options;
  options.noise = noise;
  options.together = together;
  return raised({std::move(parameters), *before}, rate, options).parameters;
}

Parameters fine_tune(Parameters parameters, const Rate& rate, const FineTuning& options) {
  const auto before = rate(parameters);
  if (!before) return parameters;
  const Rated most = raised({std::move(parameters), *before}, rate, options);
  const Parameters least = lowered(most.parameters, rate, options, most.rate);
  const auto now = rate(least);
  return now ? shared_otherwise({least, *now}, rate, options).parameters : least;
}

}  // namespace millrace::explore
