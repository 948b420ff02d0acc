#include "present/svg/gantt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>

#include "present/svg/svg.h"

namespace millrace::present {
namespace {

constexpr double width = 1200, left = 120, right = 90, row_height = 46, bar_height = 34, top = 76;
constexpr double mark_row_height = 26;

constexpr std::array<std::string_view, 8> frame_colours{"#8ecae6", "#ffc94d", "#95d5b2", "#f4a6a0",
                                                        "#cdb4db", "#ffd6a5", "#b5c99a", "#a9bcd0"};
/// By plan: of even frames and of odd ones.
constexpr std::array<std::array<std::string_view, 2>, 6> plan_colours{{{"#7fb2dd", "#b5d5ef"},
                                                                       {"#f5a34f", "#fccf9c"},
                                                                       {"#7cc071", "#b4dfae"},
                                                                       {"#c493b7", "#e2c5da"},
                                                                       {"#e98383", "#f5bcbc"},
                                                                       {"#b59378", "#dac7b6"}}};

/// 1, 2 or 5 times a power of ten, so that 6 to 14 steps fill the span.
Time step_of(Time span) {
  const double wanted = std::max(1.0, static_cast<double>(span.count()) / 12);
  const double power = std::pow(10, std::floor(std::log10(wanted)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= wanted) return Time(std::llround(factor * power));
  return Time(std::llround(10 * power));
}

struct Unit {
  Time size;
  std::string_view name;
};

Unit unit_of(Time span) {
  if (span >= std::chrono::seconds(10)) return {std::chrono::seconds(1), "s"};
  if (span >= std::chrono::milliseconds(2)) return {std::chrono::milliseconds(1), "ms"};
  if (span >= std::chrono::microseconds(2)) return {std::chrono::microseconds(1), "us"};
  return {Time(1), "ns"};
}

class Chart {
 public:
  Chart(const Trace& trace, const GanttOptions& options)
      : trace_(trace), options_(options), processors_(processors_of(trace)), to_(options.to) {
    if (to_ == Time{}) to_ = completion_of(trace, std::numeric_limits<std::int64_t>::max());
    to_ = std::max(to_, options.from + Time(1));
    phases_.resize(trace.stages.size(), 1);
    for (const TraceFiring& firing : trace.firings)
      phases_[firing.stage] = std::max(phases_[firing.stage], firing.phase + 1);
  }

  std::string text() {
    const double bottom = marks_top() + 2 * mark_row_height;
    const double height = bottom + 56;
    add(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" )"
        R"(font-family="Helvetica, Arial, sans-serif" font-size="13" fill="#222">)",
        width, height);
    add(R"(<rect width="{}" height="{}" fill="#ffffff"/>)", width, height);
    add(R"(<text x="{}" y="28" font-size="18" font-weight="bold">{}</text>)", left,
        escaped(options_.title));
    draw_legend();
    draw_axis(bottom);
    draw_rows();
    for (const TraceFiring& firing : trace_.firings) draw(firing);
    for (const TraceFrame& frame : trace_.frames) draw(frame);
    add("</svg>");
    return std::move(text_);
  }

 private:
  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    text_ += '\n';
  }

  double x_of(Time time) const {
    const Time inside = std::clamp(time, options_.from, to_);
    return left + (width - left - right) * static_cast<double>((inside - options_.from).count()) /
                      static_cast<double>((to_ - options_.from).count());
  }
  double marks_top() const {
    return top + row_height * static_cast<double>(processors_.size()) + 6;
  }
  bool is_shown(Time begin, Time end) const { return end > options_.from && begin < to_; }

  std::string_view colour_of(std::size_t plan, std::int64_t frame) const {
    const auto number = static_cast<std::size_t>(frame);
    if (trace_.plans.size() < 2) return frame_colours[number % frame_colours.size()];
    return plan_colours[plan % plan_colours.size()][number % 2];
  }

  void draw_legend() {
    const bool has_borders = std::ranges::any_of(
        trace_.firings, [](const TraceFiring& firing) { return firing.in + firing.out > Time{}; });
    const char* const dark = has_borders ? "; dark: tensors come in or go out" : "";
    if (trace_.plans.size() < 2) {
      add(R"(<text x="{}" y="52" fill="#555">a colour for each frame, with its number; )"
          R"(triangle: a frame goes in, circle: its result is there{}</text>)",
          left, dark);
      return;
    }
    double x = left;
    for (std::size_t plan = 0; plan < trace_.plans.size(); ++plan) {
      for (std::size_t shade = 0; shade < 2; ++shade, x += 14)
        add(R"(<rect x="{}" y="41" width="14" height="13" fill="{}"/>)", x,
            plan_colours[plan % plan_colours.size()][shade]);
      add(R"(<text x="{:.1f}" y="52" fill="#555">{}</text>)", x + 5, escaped(trace_.plans[plan]));
      x += 24 + 7.5 * static_cast<double>(trace_.plans[plan].size());
    }
    add(R"(<text x="{:.1f}" y="52" fill="#555">even and odd frames{}</text>)", x, dark);
  }

  void draw_axis(double bottom) {
    const Time span = to_ - options_.from, step = step_of(span);
    const Unit unit = unit_of(span);
    const std::int64_t first = (options_.from.count() + step.count() - 1) / step.count();
    for (Time at = step * first; at <= to_; at += step) {
      const double x = x_of(at);
      add(R"(<line x1="{0:.2f}" y1="{1}" x2="{0:.2f}" y2="{2}" stroke="#e3e3e3"/>)", x, top - 6,
          bottom);
      add(R"(<text x="{:.2f}" y="{}" text-anchor="middle">{:g}</text>)", x, bottom + 18,
          static_cast<double>(at.count()) / static_cast<double>(unit.size.count()));
    }
    add(R"(<line x1="{}" y1="{}" x2="{}" y2="{}" stroke="#444"/>)", left, bottom, width - right,
        bottom);
    add(R"(<text x="{}" y="{}" text-anchor="middle" fill="#555">time in {}</text>)",
        (left + width - right) / 2, bottom + 40, unit.name);
  }

  void draw_rows() {
    for (std::size_t row = 0; row < processors_.size(); ++row) {
      const double y = top + row_height * static_cast<double>(row);
      add(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="#000" fill-opacity="0.03"/>)", left,
          y, width - left - right, bar_height);
      add(R"(<text x="{}" y="{}" text-anchor="end">{}</text>)", left - 10, y + 22,
          escaped(processors_[row]));
      add(R"(<text x="{}" y="{}" fill="#555">{:.0f} % busy</text>)", width - right + 10, y + 22,
          100 * busy_share(processors_[row]));
    }
    for (const auto& [line, what] : {std::pair(0, "frames in"), std::pair(1, "results")})
      add(R"(<text x="{}" y="{}" text-anchor="end" fill="#555">{}</text>)", left - 10,
          marks_top() + mark_row_height * line + 16, what);
  }

  double busy_share(const std::string& processor) const {
    Time busy{};
    for (const TraceFiring& firing : trace_.firings)
      if (trace_.stages[firing.stage].processor == processor && is_shown(firing.begin, firing.end))
        busy += std::min(firing.end, to_) - std::max(firing.begin, options_.from);
    return static_cast<double>(busy.count()) / static_cast<double>((to_ - options_.from).count());
  }

  void draw(const TraceFiring& firing) {
    if (!is_shown(firing.begin, firing.end)) return;
    const TraceStage& stage = trace_.stages[firing.stage];
    const auto row = std::find(processors_.begin(), processors_.end(), stage.processor);
    const double y = top + row_height * static_cast<double>(row - processors_.begin());
    const double x = x_of(firing.begin), bar = x_of(firing.end) - x;
    const std::string frames =
        firing.count == 1
            ? fmt::to_string(firing.frame)
            : fmt::format("{}-{}", firing.frame, firing.frame + (firing.count - 1) * firing.step);
    add(R"(<rect x="{:.2f}" y="{}" width="{:.2f}" height="{}" fill="{}" stroke="#fff" )"
        R"(stroke-width="0.6"><title>{}: {}, phase {}, frame {}: {} from {}</title></rect>)",
        x, y, bar, bar_height, colour_of(stage.plan, firing.frame),
        escaped(trace_.plans[stage.plan]), escaped(stage.name), firing.phase, frames,
        to_text(firing.end - firing.begin), to_text(firing.begin));
    draw_border("in", y, firing.begin, firing.in);
    draw_border("out", y, firing.end - firing.out, firing.out);
    const bool has_phases = phases_[firing.stage] > 1 && bar >= 54;
    if (bar >= 7.5 * static_cast<double>(frames.size()) + 6)
      add(R"(<text x="{:.2f}" y="{}" text-anchor="middle" pointer-events="none">{}</text>)",
          x + bar / 2, y + (has_phases ? 16 : 22), frames);
    if (has_phases)
      add(R"(<text x="{:.2f}" y="{}" text-anchor="middle" font-size="10" fill="#555" )"
          R"(pointer-events="none">phase {}</text>)",
          x + bar / 2, y + 29, firing.phase);
  }

  /// Over the firing: tensors come in or go out.
  void draw_border(std::string_view where, double y, Time begin, Time length) {
    if (length == Time{} || !is_shown(begin, begin + length)) return;
    const double x = x_of(begin);
    add(R"(<rect x="{:.2f}" y="{}" width="{:.2f}" height="{}" fill="#000" fill-opacity="0.25">)"
        R"(<title>tensors {}: {} from {}</title></rect>)",
        x, y, x_of(begin + length) - x, bar_height, where, to_text(length), to_text(begin));
  }

  void draw(const TraceFrame& frame) {
    const std::string_view colour = colour_of(frame.plan, frame.frame);
    const double y = marks_top() + 12;
    if (is_shown(frame.released, frame.released + Time(1))) {
      const double x = x_of(frame.released);
      add(R"(<path d="M{:.2f} {} l5 -9 h-10 z" fill="{}" stroke="#555" stroke-width="0.7">)"
          R"(<title>{}: frame {} comes at {}</title></path>)",
          x, y + 4, colour, escaped(trace_.plans[frame.plan]), frame.frame,
          to_text(frame.released));
    }
    if (is_shown(frame.completed - Time(1), frame.completed))
      add(R"(<circle cx="{:.2f}" cy="{}" r="5" fill="{}" stroke="#555" stroke-width="0.7">)"
          R"(<title>{}: frame {} is done at {}, {} after it came</title></circle>)",
          x_of(frame.completed), y + mark_row_height, colour, escaped(trace_.plans[frame.plan]),
          frame.frame, to_text(frame.completed), to_text(frame.completed - frame.released));
  }

  const Trace& trace_;
  const GanttOptions& options_;
  const std::vector<std::string> processors_;
  Time to_;
  std::vector<std::size_t> phases_;  // by stage
  std::string text_;
};

}  // namespace

std::string gantt_svg(const Trace& trace, const GanttOptions& options) {
  return Chart(trace, options).text();
}

Time completion_of(const Trace& trace, std::int64_t frames) {
  std::vector<std::int64_t> done(trace.plans.size(), 0);
  for (const TraceFrame& frame : trace.frames)
    if (++done[frame.plan] == frames) return frame.completed;
  Time end{};
  for (const TraceFiring& firing : trace.firings) end = std::max(end, firing.end);
  return end;
}

Trace first_frames(Trace trace, std::int64_t frames) {
  std::erase_if(trace.firings, [&](const TraceFiring& firing) { return firing.frame >= frames; });
  std::erase_if(trace.frames, [&](const TraceFrame& frame) { return frame.frame >= frames; });
  return trace;
}

}  // namespace millrace::present
