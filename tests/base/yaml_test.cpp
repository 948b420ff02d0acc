#include "base/yaml.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <random>

#include "base/error.h"
#include "base/file.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace millrace {
namespace {

using test::message_of;

std::string refusal(const std::string& content) {
  return message_of([&] { parse_yaml(content, "b.yaml"); });
}

TEST(Yaml, errors_name_the_file_the_line_and_the_field) {
  const YamlNode document =
      parse_yaml("# comment\ndevices:\n  - name: a\n  -\n    clocks: [1, x]\n", "b.yaml");
  const YamlView root(document, "b.yaml");
  EXPECT_EQ(root.at("devices").items()[0].at("name").text(), "a");
  const YamlView clocks = root.at("devices").items()[1].at("clocks");
  EXPECT_EQ(clocks.items()[0].integer(), 1);
  EXPECT_EQ(
      message_of([&] { clocks.items()[1].number(); }),
      "b.yaml: line 5: devices[1].clocks[1]: found 'x', expected a number; its unit is in the "
      "name of its key");
  EXPECT_EQ(message_of([&] { root.at("memories"); }),
            "b.yaml: line 2: the key 'memories' is missing");
}

TEST(Yaml, an_unknown_key_is_answered_with_the_nearest_known_one) {
  constexpr std::array<std::string_view, 2> known{"clocks_mhz", "name"};
  const auto refused = [&](const std::string& text) {
    const YamlNode document = parse_yaml(text, "b");
    return message_of([&] { YamlView(document, "b").only(known); });
  };
  EXPECT_EQ(refused("nam: 1"), "b: line 1: nam: unknown key; did you mean 'name'?");
  EXPECT_EQ(refused("name: 1\nclocks: 2"),
            "b: line 2: clocks: unknown key; a name says its unit: did you mean 'clocks_mhz'?");
  EXPECT_EQ(refused("something_else: 1"),
            "b: line 1: something_else: unknown key; known are clocks_mhz, name");
  EXPECT_EQ(refused("[1]"), "b: line 1: found a list, expected keys with values");
}

TEST(Yaml, paths_are_relative_to_the_folder_of_the_document) {
  const test::TemporaryFolder folder;
  write_file(folder.path() / "here", "");
  const std::string file = (folder.path() / "a.yaml").string();
  const YamlNode document = parse_yaml("[b/c.onnx, /d, '', here, elsewhere, other.onnx]", file);
  const std::vector<YamlView> items = YamlView(document, file).items();
  const auto beside = [&](const char* name) { return (folder.path() / name).string(); };
  EXPECT_EQ(items[0].path(), beside("b/c.onnx"));
  EXPECT_EQ(items[1].path(), "/d");
  EXPECT_EQ(message_of([&] { items[2].path(); }),
            file + ": line 1: [2]: found nothing, expected a path");
  EXPECT_EQ(items[3].name_or_path(), beside("here"));
  EXPECT_EQ(items[4].name_or_path(), "elsewhere");
  EXPECT_EQ(items[5].name_or_path(), beside("other.onnx"));
}

TEST(Yaml, values_are_what_they_look_like_unless_quoted) {
  const YamlNode document = parse_yaml("[word, '5', 5, 2.5, true, 'true', ~, 1e3]", "b");
  const std::vector<YamlView> items = YamlView(document, "b").items();
  EXPECT_EQ(items[0].text(), "word");
  EXPECT_EQ(items[1].text(), "5");
  EXPECT_NE(message_of([&] { items[1].number(); }), "no error");
  EXPECT_NE(message_of([&] { items[2].text(); }).find("put it in quotes"), std::string::npos);
  EXPECT_EQ(items[3].number(), 2.5);
  EXPECT_NE(message_of([&] { items[3].integer(); }).find("an integer"), std::string::npos);
  EXPECT_TRUE(items[4].boolean());
  EXPECT_EQ(items[5].text(), "true");
  EXPECT_NE(message_of([&] { items[6].text(); }).find("found nothing"), std::string::npos);
  EXPECT_EQ(items[7].integer(), 1000);
}

TEST(Yaml, numbers_that_are_not_finite_are_refused) {
  for (const char* text : {"nan", ".nan", "inf", "-.inf", "1e999", "-1e999"}) {
    const YamlNode document = parse_yaml(text, "b");
    EXPECT_NE(message_of([&] { YamlView(document, "b").number(); }), "no error") << text;
  }
}

TEST(Yaml, what_would_grow_or_hide_is_refused_with_its_line) {
  EXPECT_NE(refusal("a: &x 1\nb: *x").find("line 1: found the anchor '&x'"), std::string::npos);
  EXPECT_NE(refusal("a: 1\nb: caf\xe9").find("line 2: holds a byte that is not UTF-8"),
            std::string::npos);
  EXPECT_EQ(refusal("a: caf\u00e9"), "no error");
  EXPECT_NE(refusal("a: 1\nb: !!str 2").find("line 2: found the tag"), std::string::npos);
  EXPECT_EQ(refusal("a: 1\nb: 2\na: 3"),
            "b.yaml: line 3: the key 'a' is there twice, first in line 1; remove one");
  EXPECT_NE(refusal("a: 1\n---\nb: 2").find("second document"), std::string::npos);
  EXPECT_NE(refusal("? [a, b]\n: 1").find("a key that is no word"), std::string::npos);
  for (const std::size_t depth : {33, 100000})
    EXPECT_NE(refusal(std::string(depth, '[') + std::string(depth, ']')).find("levels deep"),
              std::string::npos);
  EXPECT_EQ(refusal(std::string(32, '[') + std::string(32, ']')), "no error");
  EXPECT_NE(refusal(std::string(200000, '[')).find("levels deep"), std::string::npos);
  EXPECT_NE(refusal(std::string(2 << 20, 'a')).find("bytes, expected at most"), std::string::npos);
}

TEST(Yaml, a_bomb_of_aliases_is_refused_at_its_first_anchor) {
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char level = 'b'; level < 'j'; ++level)
    bomb += fmt::format("{0}: &{0} [*{1}, *{1}, *{1}, *{1}, *{1}, *{1}]\n", level,
                        static_cast<char>(level - 1));
  EXPECT_NE(refusal(bomb).find("line 1: found the anchor"), std::string::npos);
}

TEST(Yaml, broken_text_is_reported_with_line_and_column) {
  EXPECT_NE(refusal("a: 1\nb: [1, 2\n").find("is not valid YAML here"), std::string::npos);
  EXPECT_NE(refusal("a: 1\n\tb: 2").find("line 2"), std::string::npos);
  EXPECT_EQ(refusal(""), "no error");  // nothing is YAML, too
}

TEST(Yaml, damaged_text_is_read_or_refused_and_nothing_else) {
  const std::string whole = "a: [1, 2, {b: 'c', d: \"e\"}]\nf:\n  - g: |\n      text\n    h: 3\n";
  std::mt19937 random(1);  // the same damage each time
  const auto below = [&](std::size_t end) { return random() % end; };
  for (int round = 0; round < 3000; ++round) {
    std::string text = whole;
    for (std::size_t changes = 1 + below(4); changes > 0; --changes)
      text[below(text.size())] = static_cast<char>(below(256));
    text.resize(1 + below(text.size()));
    try {
      parse_yaml(text, "b.yaml");
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).rfind("b.yaml: ", 0), 0u) << error.what();
    }
  }
}

TEST(Yaml, what_is_written_is_read_back_the_same) {
  const nlohmann::ordered_json value = {
      {"name", "5"},
      {"word", "true"},
      {"text", "a: \"b\" #c\n\xc3\xa9"},
      {"number", 0.1},
      {"large", 9007199254740991},
      {"list", {1.5, 2, 3}},
      {"flag", false},
      {"items", {{{"a", "x-y"}, {"b", nlohmann::ordered_json::array()}}, {{"a", "nan"}}}}};
  const test::TemporaryFolder folder;
  write_yaml(folder / "b.yaml", value);
  const YamlNode document = read_yaml(folder / "b.yaml");
  const YamlView root(document, "b");
  for (const char* key : {"name", "word", "text"})
    EXPECT_EQ(root.at(key).text(), value[key].get<std::string>());
  EXPECT_EQ(root.at("number").number(), 0.1);
  EXPECT_EQ(root.at("large").integer(), 9007199254740991);
  EXPECT_EQ(root.at("list").items()[0].number(), 1.5);
  EXPECT_FALSE(root.at("flag").boolean());
  EXPECT_EQ(root.at("items").items()[0].at("a").text(), "x-y");
  EXPECT_TRUE(root.at("items").items()[0].at("b").items().empty());
  EXPECT_EQ(root.at("items").items()[1].at("a").text(), "nan");
}

}  // namespace
}  // namespace millrace
