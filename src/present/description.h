#pragma once
// One description of the rows of a result: people get its table, programs its JSON.
#include <functional>
#include <nlohmann/json.hpp>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "present/text/table.h"

namespace millrace::present {

/// What a field says of a row, in both forms.
struct Value {
  nlohmann::json json;
  std::string text;

  static Value word(std::string text) { return {text, text}; }
  static Value count(std::int64_t number) { return {number, std::to_string(number)}; }
  static Value rate(double per_second) { return {per_second, four_digits(per_second)}; }
  static Value bytes(Bytes size) { return {size.count, millrace::to_text(size)}; }
  /// In JSON milliseconds.
  static Value time(Time time) { return {milliseconds(time), millrace::to_text(time)}; }
  /// In JSON from 0 to 1, for people in percent.
  static Value share(double share);
  /// Null, and a dash.
  static Value none() { return {nullptr, "-"}; }
};

/// 0, 1, ... : rows that are described by their place in a list.
template <class List>
auto numbers_of(const List& list) {
  return std::views::iota(std::size_t{0}, list.size());
}

template <class Row>
struct RowField {
  std::string key;    // in JSON; empty: for people alone
  const char* title;  // of the column; null: for programs alone
  std::function<Value(const Row&)> value;
  Align align = Align::right;
};

/// The fields of a row, in the order of the columns.
template <class Row>
class Description {
 public:
  explicit Description(std::vector<RowField<Row>> fields) : fields_(std::move(fields)) {}

  nlohmann::json json(const Row& row) const {
    nlohmann::json object = nlohmann::json::object();
    for (const RowField<Row>& field : fields_)
      if (!field.key.empty()) object[field.key] = field.value(row).json;
    return object;
  }
  template <class Rows>
  nlohmann::json array(const Rows& rows) const {
    nlohmann::json array = nlohmann::json::array();
    for (const auto& row : rows) array.push_back(json(row));
    return array;
  }

  void add(Table& table, const Row& row) const {
    std::vector<std::string> cells;
    for (const RowField<Row>& field : fields_)
      if (field.title != nullptr) cells.push_back(field.value(row).text);
    table.add(std::move(cells));
  }
  template <class Rows>
  Table table(const Rows& rows) const {
    std::vector<Table::Column> columns;
    for (const RowField<Row>& field : fields_)
      if (field.title != nullptr) columns.push_back({field.title, field.align});
    Table table(std::move(columns));
    for (const auto& row : rows) add(table, row);
    return table;
  }

 private:
  std::vector<RowField<Row>> fields_;
};

}  // namespace millrace::present
