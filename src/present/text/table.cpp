#include "present/text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/printable.h"

namespace millrace::present {
namespace {

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

/// Shortens a text of any length and content, such as a layer's name from a file, to one that fits.
std::string cell_of(const std::string& text) {
  constexpr std::size_t most = 300;
  std::string result = printable(text);
  if (width_of(result) <= most) return result;
  std::size_t end = 0, width = 0;
  for (; width < most; ++end)
    if ((result[end] & 0xc0) != 0x80) ++width;
  return result.substr(0, end - 1) + "…";
}

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::string space(width - std::min(width, width_of(text)), ' ');
  return align == Align::left ? text + space : space + text;
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  std::ranges::transform(cells, cells.begin(), cell_of);
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(width_of(column.title));
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));

  std::string result;
  const auto add_line = [&](const auto& cell) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i)
      line += (i == 0 ? "" : "  ") + padded(cell(i), widths[i], columns_[i].align);
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + "\n";
  };
  const auto add_rule_line = [&] {
    add_line([&](std::size_t i) { return std::string(widths[i], '-'); });
  };
  add_line([&](std::size_t i) { return columns_[i].title; });
  add_rule_line();
  for (const auto& row : rows_) {
    if (row.empty())
      add_rule_line();
    else
      add_line([&](std::size_t i) { return i < row.size() ? row[i] : std::string(); });
  }
  return result;
}

std::string count_text(double count) {
  struct Scale {
    double factor;
    const char* unit;
  };
  constexpr std::array<Scale, 4> scales{{{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}}};
  for (const Scale& scale : scales)
    if (count >= scale.factor) return fmt::format("{:.3g}{}", count / scale.factor, scale.unit);
  return fmt::format("{:.0f}", count);
}

}  // namespace millrace::present
