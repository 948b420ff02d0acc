#include "present/svg/pareto.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "present/svg/svg.h"

namespace millrace::present {
namespace {

constexpr double panel_width = 460, panel_height = 300, room_left = 70, room_above = 40,
                 room_below = 50, room_right = 20;
constexpr std::size_t columns = 2;
constexpr std::array<const char*, 4> stage_colours{"#4878a8", "#e08214", "#35978f", "#8c510a"};

const char* colour_of(std::size_t stages) {
  return stage_colours[std::min(std::max<std::size_t>(stages, 1), stage_colours.size()) - 1];
}

struct Axis {
  double least = 0, most = 1, begin = 0, end = 1;  // values, and where they lie in the picture
  double at(double value) const {
    const double range = most > least ? most - least : 1;
    return begin + (value - least) / range * (end - begin);
  }
};

Axis axis_of(const std::vector<FrontPoint>& points, double FrontPoint::*value,
             std::pair<double, double> place) {
  Axis axis{0, 1, place.first, place.second};
  if (points.empty()) return axis;
  const auto [least, most] = std::ranges::minmax_element(points, {}, value);
  const double room = 0.05 * ((*most).*value - (*least).*value);
  axis.least = (*least).*value - room;
  axis.most = (*most).*value + room;
  return axis;
}

std::string panel_svg(const FrontPanel& panel, double x, double y) {
  const Axis across =
      axis_of(panel.points, &FrontPoint::latency_ms, {x + room_left, x + panel_width - room_right});
  const Axis up =
      axis_of(panel.points, &FrontPoint::power_mw, {y + panel_height - room_below, y + room_above});
  std::string svg = fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" font-weight=\"bold\">{}</text>\n"
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" "
      "stroke=\"#888\"/>\n",
      x + room_left, y + room_above - 12, escaped(panel.title), across.begin, up.end,
      across.end - across.begin, up.begin - up.end);
  svg += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\">{:.4g}</text><text x=\"{:.1f}\" y=\"{:.1f}\" "
      "text-anchor=\"end\">{:.4g} ms mean latency</text>\n",
      across.begin, up.begin + 18, across.least, across.end, up.begin + 18, across.most);
  svg += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{:.4g}</text><text x=\"{:.1f}\" "
      "y=\"{:.1f}\" text-anchor=\"end\">{:.4g}</text><text x=\"{:.1f}\" y=\"{:.1f}\" "
      "text-anchor=\"end\">mW</text>\n",
      across.begin - 6, up.begin, up.least, across.begin - 6, up.end + 10, up.most,
      across.begin - 6, up.end + 26);
  for (const FrontPoint& point : panel.points)
    svg += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"{}><title>{}: {:.4g} ms, {:.4g} "
        "mW</title></circle>\n",
        across.at(point.latency_ms), up.at(point.power_mw), colour_of(point.stages),
        point.chosen ? " stroke=\"#000\" stroke-width=\"2\"" : "", escaped(point.text),
        point.latency_ms, point.power_mw);
  return svg;
}

std::string legend_svg(double y) {
  std::string svg;
  for (std::size_t s = 0; s < stage_colours.size(); ++s) {
    const double x = room_left + 110 * static_cast<double>(s);
    svg += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/><text x=\"{:.1f}\" "
        "y=\"{:.1f}\">{} stage{}</text>\n",
        x, y - 4, stage_colours[s], x + 10, y, s + 1, s == 0 ? "" : "s");
  }
  return svg + fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">ring: chosen</text>\n",
                           room_left + 110.0 * static_cast<double>(stage_colours.size()), y);
}

}  // namespace

std::string fronts_svg(const std::vector<FrontPanel>& panels) {
  const std::size_t rows = (panels.size() + columns - 1) / columns;
  const double width = panel_width * static_cast<double>(columns);
  const double height = panel_height * static_cast<double>(rows) + 30;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      width, height);
  for (std::size_t p = 0; p < panels.size(); ++p)
    svg += panel_svg(panels[p], panel_width * static_cast<double>(p % columns),
                     panel_height * static_cast<double>(p / columns));
  return svg + legend_svg(height - 10) + "</svg>\n";
}

}  // namespace millrace::present
