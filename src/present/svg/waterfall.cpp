#include "present/svg/waterfall.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/units.h"
#include "present/svg/svg.h"
#include "present/text/table.h"

namespace millrace::present {
namespace {

/// For an even number of values, the mean of the two in the middle.
double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

double largest(const std::vector<WaterfallStep>& steps) {
  double most = 1e-9;
  for (const WaterfallStep& step : steps) most = std::max({most, step.most(), step.median()});
  return most;
}

/// "+12.3 %" of the step before.
std::string added_text(const std::vector<WaterfallStep>& steps, std::size_t at) {
  if (at == 0 || steps[at - 1].least() <= 0) return {};
  return fmt::format("{:+.1f} %", 100 * (times(steps[at], steps[at - 1]) - 1));
}

std::string times_text(const std::vector<WaterfallStep>& steps, std::size_t at) {
  if (at == 0 || steps[0].least() <= 0) return {};
  return fmt::format("{:.2f} x", times(steps[at], steps[0]));
}

/// What was there before in full blocks, what is new in lighter ones; what was lost is not there.
std::string bar_text(const std::vector<WaterfallStep>& steps, std::size_t at) {
  constexpr double columns = 40;
  const auto cells = [&](double rate) {
    return static_cast<int>(std::lround(columns * rate / largest(steps)));
  };
  const int now = cells(steps[at].median());
  const int before = at == 0 ? now : std::min(now, cells(steps[at - 1].median()));
  std::string bar;
  for (int i = 0; i < now; ++i) bar += i < before ? "█" : "▒";
  return bar;
}

constexpr double picture_width = 900, label = 300, figures = 190, row = 40, bar = 22,
                 header_height = 60;

class Picture {
 public:
  explicit Picture(const std::vector<WaterfallStep>& steps)
      : steps_(steps), scale_((picture_width - label - figures) / largest(steps)) {}

  std::string draw(const std::string& title) {
    const double height = header_height + row * static_cast<double>(steps_.size()) + 16;
    add(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {:.0f} {:.0f}" width="{:.0f}" )"
        R"(height="{:.0f}" font-family="sans-serif" font-size="14">)"
        "\n",
        picture_width, height, picture_width, height);
    add("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    add("<text x=\"16\" y=\"32\" font-size=\"18\">{}</text>\n", escaped(title));
    for (std::size_t i = 0; i < steps_.size(); ++i) draw_step(i);
    return text_ + "</svg>\n";
  }

 private:
  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }

  void draw_step(std::size_t at) {
    const WaterfallStep& step = steps_[at];
    const double y = header_height + row * static_cast<double>(at), middle = y + bar / 2;
    const double before = at == 0 ? step.median() : steps_[at - 1].median();
    const double kept = std::min(before, step.median());
    add("<g><title>{}: {} frames/s, rounds {} to {}</title>\n", escaped(step.name),
        four_digits(step.median()), four_digits(step.least()), four_digits(step.most()));
    add("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", label - 10, middle + 5,
        escaped(step.name));
    add_bar(y, 0, kept, "#7fb2dd");
    add_bar(y, kept, step.median(), "#7cc071");
    if (before > kept) add_bar(y, kept, before, "#f4dcdc");
    add("<path d=\"M{:.1f} {:.1f}H{:.1f}\" stroke=\"#333333\"/>\n", x(step.least()), middle,
        x(step.most()));
    add("<text x=\"{:.1f}\" y=\"{:.1f}\">{} frames/s  {}</text></g>\n",
        x(std::max({step.most(), before, step.median()})) + 8, middle + 5,
        four_digits(step.median()), times_text(steps_, at));
  }

  void add_bar(double y, double from, double to, const char* colour) {
    add("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" fill=\"{}\"/>\n",
        x(from), y, x(to) - x(from), bar, colour);
  }
  double x(double rate) const { return label + scale_ * rate; }

  const std::vector<WaterfallStep>& steps_;
  double scale_;
  std::string text_;
};

}  // namespace

double WaterfallStep::median() const { return median_of(rates); }
double WaterfallStep::least() const { return *std::min_element(rates.begin(), rates.end()); }
double WaterfallStep::most() const { return *std::max_element(rates.begin(), rates.end()); }

double times(const WaterfallStep& step, const WaterfallStep& other) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < step.rates.size(); ++round)
    ratios.push_back(step.rates[round] / other.rates.at(round));
  return median_of(std::move(ratios));
}

std::string waterfall_text(const std::vector<WaterfallStep>& steps) {
  Table table({{"step", Align::left},
               {"frames/s"},
               {"of the rounds", Align::left},
               {"together"},
               {"added"},
               {"", Align::left}});
  for (std::size_t i = 0; i < steps.size(); ++i)
    table.add({steps[i].name, four_digits(steps[i].median()),
               fmt::format("{} .. {}", four_digits(steps[i].least()), four_digits(steps[i].most())),
               times_text(steps, i), added_text(steps, i), bar_text(steps, i)});
  return table.text();
}

std::string waterfall_svg(const std::vector<WaterfallStep>& steps, const std::string& title) {
  return Picture(steps).draw(title);
}

}  // namespace millrace::present
