// From text to nodes. yaml-cpp's own nodes share what aliases point to and keep the last of equal
// keys; events tell of both.
#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "base/error.h"
#include "base/utf8.h"
#include "base/yaml.h"

namespace millrace {
namespace {

constexpr std::size_t largest_file = 1 << 18, deepest = 32;

class Builder : public YAML::EventHandler {
 public:
  explicit Builder(std::string file) : file_(std::move(file)) {}

  YamlNode root;

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) fail(mark.line, "a second document begins, expected one; remove '---'");
  }
  void OnDocumentEnd() override {}
  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    fail(mark.line, fmt::format("found the anchor '&{}'; write the value out instead", name));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    fail(mark.line, "found an alias (*); write the value out instead");
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse_as_key(mark);
    add(mark, YamlNode::Kind::none);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    refuse_tag(mark, tag);
    if (!is_utf8(value))
      fail(mark.line, "holds a byte that is not UTF-8; save the file as UTF-8");
    if (expects_key()) return begin_entry(mark, value);
    YamlNode& node = add(mark, YamlNode::Kind::scalar);
    node.text = value;
    node.quoted = tag == "!";
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    refuse_tag(mark, tag);
    open(mark, YamlNode::Kind::list);
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    refuse_tag(mark, tag);
    open(mark, YamlNode::Kind::map);
  }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  struct Key {
    std::string text;
    int line = 0;
  };
  /// The node stays where it is while it is open: what holds it grows only when it is the last one.
  struct Open {
    YamlNode* node;
    std::optional<Key> key;  // read, its value is next
  };

  [[noreturn]] void fail(int line, const std::string& text) const {
    throw InputError(fmt::format("{}: line {}", file_, line + 1), text);
  }
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != "?" && tag != "!")
      fail(mark.line, fmt::format("found the tag '{}'; remove it", tag));
  }
  void refuse_as_key(const YAML::Mark& mark) const {
    if (expects_key()) fail(mark.line, "found a key that is no word, expected 'key: value'");
  }
  bool expects_key() const {
    return !open_.empty() && open_.back().node->kind == YamlNode::Kind::map && !open_.back().key;
  }
  void begin_entry(const YAML::Mark& mark, const std::string& key) {
    for (const YamlNode& item : open_.back().node->items)
      if (item.key == key)
        fail(mark.line, fmt::format("the key '{}' is there twice, first in line {}; remove one",
                                    key, item.line));
    open_.back().key = Key{key, mark.line};
  }
  YamlNode& add(const YAML::Mark& mark, YamlNode::Kind kind) {
    YamlNode* node = &root;
    int line = mark.line;
    if (!open_.empty()) {
      node = &open_.back().node->items.emplace_back();
      if (std::optional<Key>& key = open_.back().key) {
        node->key = key->text;
        line = key->line;
        key.reset();
      }
    }
    node->kind = kind;
    node->line = line + 1;
    return *node;
  }
  void open(const YAML::Mark& mark, YamlNode::Kind kind) {
    refuse_as_key(mark);
    if (open_.size() >= deepest)
      fail(mark.line, fmt::format("nests more than {} levels deep", deepest));
    open_.push_back({&add(mark, kind), std::nullopt});
  }

  std::string file_;
  int documents_ = 0;
  std::vector<Open> open_;
};

/// yaml-cpp reads on to the last closing bracket before it reports the first opening one, in a time
/// that grows with the square of the depth. Brackets in texts count here, too; hence the room.
void refuse_deep_brackets(const std::string& content, const std::string& file) {
  constexpr int most_open = 8 * static_cast<int>(deepest);
  int open = 0, line = 1;
  for (const char c : content) {
    if (c == '\n') ++line;
    if (c == '[' || c == '{') ++open;
    if ((c == ']' || c == '}') && open > 0) --open;
    if (open > most_open)
      throw InputError(fmt::format("{}: line {}", file, line),
                       fmt::format("nests more than {} levels deep", deepest));
  }
}

}  // namespace

YamlNode parse_yaml(const std::string& content, const std::string& file) {
  if (content.size() > largest_file)
    throw InputError(
        file, fmt::format("found {} bytes, expected at most {}", content.size(), largest_file));
  refuse_deep_brackets(content, file);
  Builder builder(file);
  std::istringstream in(content);
  try {
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) continue;
  } catch (const YAML::Exception& error) {
    throw InputError(
        fmt::format("{}: line {}, column {}", file, error.mark.line + 1, error.mark.column + 1),
        fmt::format("is not valid YAML here: {}", error.msg));
  }
  return std::move(builder.root);
}

}  // namespace millrace
