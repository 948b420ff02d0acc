#include "profile/views/plain_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace millrace::profile {
namespace {

PlainLoops loops_of(const ProcessorProfile& entry) {
  PlainLoops result{entry.processor.name, {}, 0};
  const auto time = [&](LayerId layer) { return entry.layers[layer.index].together.median; };
  Time all{}, loops{};
  for (std::size_t i = 0; i < entry.layers.size(); ++i) {
    all += time(LayerId(i));
    if (entry.layers[i].kernel != "loops" || time(LayerId(i)) == Time{}) continue;
    loops += time(LayerId(i));
    result.layers.emplace_back(i);
  }
  std::stable_sort(result.layers.begin(), result.layers.end(),
                   [&](LayerId a, LayerId b) { return time(a) > time(b); });
  if (all > Time{}) result.share = seconds(loops) / seconds(all);
  return result;
}

std::optional<PlainLoops> costly_plain_loops(const Profile& profile) {
  constexpr double worth_a_word = 0.01;
  std::optional<PlainLoops> most;
  for (const ProcessorProfile& entry : profile.processors) {
    if (entry.engine == "reference") continue;
    PlainLoops loops = loops_of(entry);
    if (loops.share >= worth_a_word && (!most || loops.share > most->share))
      most = std::move(loops);
  }
  return most;
}

}  // namespace

std::string plain_loops_text(const PlainLoops& loops, const std::vector<std::string>& layer_names) {
  constexpr std::size_t shown = 3;
  std::string names;
  for (std::size_t i = 0; i < std::min(shown, loops.layers.size()); ++i)
    names += (i == 0 ? "" : ", ") + layer_names[loops.layers[i].index];
  return fmt::format("{} of {} layers run in plain loops, {:.0f} % of the time on {}: {}{}",
                     loops.layers.size(), layer_names.size(), 100 * loops.share, loops.processor,
                     names, loops.layers.size() > shown ? ", ..." : "");
}

std::string plain_loops_text(const Profile& profile) {
  const auto loops = costly_plain_loops(profile);
  return loops ? plain_loops_text(*loops, profile.layer_names) : std::string();
}

}  // namespace millrace::profile
