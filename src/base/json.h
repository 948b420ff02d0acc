#pragma once
// JSON documents whose errors name the file and the field.
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

/// A value inside a JSON file together with its place ("plan.json: stages[1].phases").
/// Every accessor throws InputError naming that place, what was found and what was expected.
/// Borrows the document: keep it alive.
class JsonView {
 public:
  JsonView(const nlohmann::json& value, std::string file, std::string path = {})
      : value_(&value), file_(std::move(file)), path_(std::move(path)) {}

  JsonView at(std::string_view key) const;  // a field that must be there
  bool has(std::string_view key) const;
  std::vector<std::string> keys() const;  // of an object, ascending
  std::vector<JsonView> items() const;  // of an array
  bool is_text() const;
  std::string text() const;
  std::int64_t integer() const;
  std::size_t index(std::size_t bound) const;  // an integer in [0, bound)
  double number() const;
  bool boolean() const;
  /// Fails on a field that is not among `known`, with the nearest known one.
  void only(std::span<const std::string_view> known) const;
  std::string place() const;  // file and field
  [[noreturn]] void fail(const std::string& text) const;

 private:
  const nlohmann::json* value_;
  std::string file_, path_;
};

/// Parses the file. InputError with line and column if it is not JSON.
nlohmann::json read_json(const std::filesystem::path& path);

/// Atomically, indented, with a final newline.
void write_json(const std::filesystem::path& path, const nlohmann::json& value);

}  // namespace millrace
