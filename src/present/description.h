#pragma once
// One description of the rows of a result: people get its table, programs its JSON.
#include <concepts>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <numeric>
#include <string>
#include <string_view>
#include <type_traits>
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
  /// "1.82 G" for people.
  static Value operations(std::int64_t count) {
    return {count, count_text(static_cast<double>(count))};
  }
  /// "1.3e-07" for people.
  static Value error(double error);
  /// Null, and a dash.
  static Value none() { return {nullptr, "-"}; }
  /// In JSON the row has no such field.
  static Value absent() { return {nlohmann::json(nlohmann::json::value_t::discarded), ""}; }
};

/// What the functions of fields return: times are milliseconds, numbers with a point are rates.
/// JSON is for programs alone.
inline Value value_of(Value value) { return value; }
inline Value value_of(std::string text) { return Value::word(std::move(text)); }
inline Value value_of(std::string_view text) { return Value::word(std::string(text)); }
inline Value value_of(const char* text) { return Value::word(text); }
inline Value value_of(bool is) { return {is, is ? "yes" : "no"}; }
inline Value value_of(double number) { return Value::rate(number); }
inline Value value_of(Time time) { return Value::time(time); }
inline Value value_of(Bytes size) { return Value::bytes(size); }
inline Value value_of(nlohmann::json json) { return {std::move(json), ""}; }
template <std::integral Integer>
Value value_of(Integer number) {
  return Value::count(static_cast<std::int64_t>(number));
}
template <class Known>
Value value_of(const std::optional<Known>& value) {
  return value ? value_of(*value) : Value::none();
}

/// Null in place of what is not known, or of an empty text.
template <class Known>
nlohmann::json or_null(const std::optional<Known>& value) {
  return value_of(value).json;
}
inline nlohmann::json or_null(const std::string& text) {
  return text.empty() ? nlohmann::json() : nlohmann::json(text);
}

/// 0, 1, ... : rows that are described by their place.
inline std::vector<std::size_t> numbers_below(std::size_t count) {
  std::vector<std::size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  return numbers;
}
template <class List>
std::vector<std::size_t> numbers_of(const List& list) {
  return numbers_below(list.size());
}

/// Sets what stands at the key, "latency/mean_ms" inside of "latency"; nothing if it is absent.
void put(nlohmann::json& object, std::string_view key, nlohmann::json value);

template <class Row>
struct RowField {
  std::string key;    // in JSON; empty: for people alone
  const char* title;  // of the column; null: for programs alone
  std::function<Value(const Row&)> value;
  Align align = Align::right;

  /// `of`: a member, or a function of the row, whose result value_of() knows. Texts stand left.
  template <class Function>
  RowField(std::string name, const char* heading, Function of)
      : key(std::move(name)),
        title(heading),
        value([of](const Row& row) { return value_of(std::invoke(of, row)); }) {
    using Result = std::remove_cvref_t<std::invoke_result_t<const Function&, const Row&>>;
    if constexpr (std::is_convertible_v<Result, std::string_view>) align = Align::left;
  }
  template <class Function>
  RowField(std::string name, const char* heading, Function of, Align at)
      : RowField(std::move(name), heading, of) {
    align = at;
  }
};

/// The fields of a row, in the order of the columns.
template <class Row>
class Description {
 public:
  explicit Description(std::vector<RowField<Row>> fields) : fields_(std::move(fields)) {}

  nlohmann::json json(const Row& row) const {
    nlohmann::json object = nlohmann::json::object();
    for (const RowField<Row>& field : fields_)
      if (!field.key.empty()) put(object, field.key, field.value(row).json);
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
  template <class Rows>
  std::string text(const Rows& rows) const {
    return table(rows).text();
  }
  /// `total` below a rule.
  template <class Rows>
  std::string text(const Rows& rows, const Row& total) const {
    Table all = table(rows);
    all.add_rule();
    add(all, total);
    return all.text();
  }

 private:
  std::vector<RowField<Row>> fields_;
};

}  // namespace millrace::present
