#pragma once
// One section of a configuration file: its kind and its options, each with its line.
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::formats::darknet {

struct Option {
  std::string name, value;
  std::size_t line = 0;
};

/// What a whole number may be.
struct Range {
  std::int64_t least = 1;
  std::int64_t most = 1 << 20;
};

/// Options are read by name; what is not there has the value that Darknet gives it. Every error is
/// an InputError at the file and line of the option, or of the section.
class Section {
 public:
  Section(std::string file, std::string kind, std::size_t line)
      : file_(std::move(file)), kind_(std::move(kind)), line_(line) {}

  const std::string& kind() const { return kind_; }
  std::size_t line() const { return line_; }
  const std::vector<Option>& options() const { return options_; }

  /// Fails if the name is there already with another value. Of options for training the first one
  /// counts.
  void add(Option option);

  bool has(std::string_view name) const { return find(name) != nullptr; }
  std::int64_t integer(std::string_view name, std::int64_t fallback, Range range = {}) const;
  /// Fails if it is not there.
  std::int64_t needed(std::string_view name, Range range = {}) const;
  bool flag(std::string_view name) const { return integer(name, 0, {0, 1}) != 0; }
  /// Any finite number.
  double number(std::string_view name, double fallback) const;
  std::string text(std::string_view name, std::string_view fallback) const;
  /// Separated by commas; empty if it is not there.
  std::vector<std::int64_t> integers(std::string_view name, Range range = {}) const;
  std::vector<double> numbers(std::string_view name) const;

  /// Fails at an option whose name is nearly one of these words, which spaces separate. Others that
  /// are unknown are for training.
  void only(std::string_view words) const;
  /// Fails at an option of these that is there and not 0: it would change what is computed.
  void refuse(std::initializer_list<std::string_view> names) const;

  /// "yolo.cfg: line 12: [convolutional]".
  std::string place() const;
  [[noreturn]] void fail(const std::string& text) const;
  /// At the option's line.
  [[noreturn]] void fail_at(std::string_view name, const std::string& text) const;

 private:
  const Option* find(std::string_view name) const;

  std::string file_, kind_;
  std::size_t line_;
  std::vector<Option> options_;
};

}  // namespace millrace::formats::darknet
