#pragma once
// YAML documents, written by people, whose errors name the file, the line and the field.
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

/// A value as it stands in the file.
struct YamlNode {
  enum class Kind { none, scalar, list, map };
  Kind kind = Kind::none;
  std::string key;              // of an entry of a map
  std::string text;             // of a scalar
  bool quoted = false;          // then a scalar is text, whatever it looks like
  int line = 1;  // where it begins; of an entry of a map: its key; 0: it comes from no text
  std::vector<YamlNode> items;  // of a list or, with their keys, of a map
};

/// One document. Files may come from anywhere, so that only plain YAML is accepted: no anchors,
/// aliases and tags, no key twice in a map, at most 256 KiB and 32 levels. InputError names `file`
/// and the line.
YamlNode parse_yaml(const std::string& content, const std::string& file);
YamlNode read_yaml(const std::filesystem::path& path);

/// The same for a value inside a JSON file. Nothing in it has a line; what is null is left out.
YamlNode yaml_of(const nlohmann::json& value);

/// The value as YAML that is read back the same: maps and lists of maps in blocks, lists of plain
/// values in a line. Atomically.
void write_yaml(const std::filesystem::path& path, const nlohmann::ordered_json& value);

/// A value inside a document together with its place ("tx2.yaml: line 7: devices[1].clocks_mhz").
/// Every accessor throws InputError naming that place, what was found and what was expected.
/// Borrows the document: keep it alive.
class YamlView {
 public:
  YamlView(const YamlNode& node, std::string file, std::string path = {})
      : node_(&node), file_(std::move(file)), path_(std::move(path)) {}

  YamlView at(std::string_view key) const;  // a field that must be there
  bool has(std::string_view key) const;
  std::vector<std::string> keys() const;  // of a map, in the order of the file
  std::vector<YamlView> items() const;    // of a list
  bool is_text() const;
  bool is_map() const { return node_->kind == YamlNode::Kind::map; }
  bool is_scalar() const { return node_->kind == YamlNode::Kind::scalar; }
  /// What YAML takes for a number or for true, false or nothing is no text unless quoted.
  std::string text() const;
  /// Text of a value that is neither list nor map: as it stands there, whatever it looks like.
  std::string scalar() const;
  /// A path relative to the document's folder, as it is from here.
  std::string path() const;
  /// The same, but a name without extension that is no such file stays what it is.
  std::string name_or_path() const;
  std::int64_t integer() const;
  std::int64_t integer(std::int64_t low, std::int64_t high) const;
  double number() const;  // finite
  bool boolean() const;
  /// "FILE: line 7: key": for errors that come up later.
  std::string place() const;
  /// Fails on a field that is not among `known`, with the nearest known one. A field that lacks
  /// only the unit at its end ("clocks" instead of "clocks_mhz") is answered with that.
  void only(std::span<const std::string_view> known) const;
  [[noreturn]] void fail(const std::string& text) const;

 private:
  [[noreturn]] void fail_expecting(std::string_view what) const;

  const YamlNode* node_;
  std::string file_, path_;
};

}  // namespace millrace
