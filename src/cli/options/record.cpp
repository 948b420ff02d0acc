#include "cli/options/record.h"

#include <algorithm>

namespace millrace::cli {

extern const char options_table[];  // the text of options.table

namespace {

/// Six at most, "" where the table has "-" or nothing.
std::vector<std::string_view> fields_of(std::string_view line) {
  constexpr std::string_view bar = " | ";
  std::vector<std::string_view> fields;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(bar), line.size());
    fields.push_back(line.substr(0, end) == "-" ? "" : line.substr(0, end));
    line.remove_prefix(std::min(end + bar.size(), line.size()));
  }
  fields.resize(6);
  return fields;
}

Record record_of(const std::vector<std::string_view>& fields) {
  const std::string_view verbs = fields[1];
  const std::size_t slash = std::min(verbs.find('/'), verbs.size());
  return {fields[0], verbs.substr(0, slash), verbs.substr(slash), fields[2], fields[3], fields[4]};
}

void read_line(std::string_view line, Table& table) {
  if (line.empty() || line.starts_with('#')) return;
  if (line.starts_with('[')) {
    const std::size_t end = line.find(']');
    const std::string_view title = line.substr(std::min(end + 2, line.size()));
    table.areas.push_back({line.substr(1, end - 1), title});
    return;
  }
  const std::vector<std::string_view> fields = fields_of(line);
  if (table.areas.back().title.empty())
    table.verbs.push_back({fields[0], fields[1], fields[2], fields[3]});
  else
    table.areas.back().records.push_back(record_of(fields));
}

}  // namespace

const Table& table() {
  static const Table all = [] {
    Table read;
    for (std::string_view text = options_table; !text.empty();) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      read_line(text.substr(0, end), read);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return read;
  }();
  return all;
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = 0; (at = text.find(word, at)) != text.npos; at += word.size()) {
    const std::size_t end = at + word.size();
    if ((at == 0 || text[at - 1] == ' ') && (end == text.size() || text[end] == ' ')) return true;
  }
  return false;
}

std::string Found::key() const {
  return std::string(area->name) + '.' + std::string(record->name);
}

Found find_record(std::string_view verb, std::string_view name) {
  for (const Area& area : table().areas)
    for (const Record& record : area.records) {
      if (record.name != name) continue;
      if (has_word(record.shown, verb)) return {&area, &record, false};
      if (has_word(record.keys, verb)) return {&area, &record, true};
    }
  return {};
}

}  // namespace millrace::cli
