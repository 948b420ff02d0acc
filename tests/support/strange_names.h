#pragma once
// Names that mean something in one language or another.
#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace millrace::test {

/// A thousand and some; none holds '\0', which no file's name and no argument can hold.
inline std::vector<std::string> strange_names() {
  std::vector<std::string> names{
      "plain", "", " ", "\n", "a\nint main() {}", "*/ int hidden; /*", "// x", "?\?/", "a\\",
      "a\\\n", "say \"hi\"", "it's", "%s%n{}", "$(rm x)", "${HOME}", "`id`", "$<1:x>", "a;b;c",
      "@GROUPS@", "@NAME@", "</script><script>", "<svg onload=\"x\">", "&amp;&#27;", "]]>", "--",
      "\x1b[2J\x1b[31m", "\xff\xfe", "\xc3", "\xed\xa0\x80", "\u009b2J", "\u202eabc", "\u2028",
      "\ufffe", "R\"(x)\"", ")\";", "#include <x>", "#pragma once",
      "\\N\\G\\l", "{a|b}", "| a | b |",
      "[a](b)", "![x](y)", "* x", "# x", ".so x", "'x", "-o", "~", "!x", "\r\n", "\t", "\x7f", "層"};
  std::string all;
  for (int c = 1; c < 256; ++c) all += static_cast<char>(c);
  names.push_back(all);
  const std::string strange = "\"'\\/*?%$`@;&<>()[]{}|#!~-\n\r\t\x1b\x7f\x80\xc3\xff a1N";
  std::mt19937 random(7);
  for (int i = 0; i < 1000; ++i) {
    std::string name;
    for (std::size_t length = 1 + random() % 24; name.size() < length;)
      name += strange[random() % strange.size()];
    names.push_back(name);
  }
  return names;
}

}  // namespace millrace::test
