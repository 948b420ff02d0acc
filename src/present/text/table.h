#pragma once
// Text tables for people.
#include <string>
#include <vector>

namespace millrace::present {

enum class Align { left, right };

/// Rows under a header, columns padded to equal width (by characters, UTF-8 aware).
class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::right;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// As many cells as columns; missing ones are empty. They may hold text from files: what would
  /// move the cursor is written as "\x1b", and very long ones are cut.
  void add(std::vector<std::string> cells);
  /// A line between the rows so far and the next.
  void add_rule() { rows_.emplace_back(); }
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;  // an empty row is a rule
};

/// "1.82 G", "568 M", "1.2 k": for counts of operations and parameters.
std::string count_text(double count);

}  // namespace millrace::present
