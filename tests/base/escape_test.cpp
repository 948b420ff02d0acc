#include "base/text/escape.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(Escape, texts_of_cpp_are_one_literal) {
  EXPECT_EQ(cpp_string("say \"hi\" \\"), "\"say \\\"hi\\\" \\\\\"");
  EXPECT_EQ(cpp_string(std::string_view("a\n1\0", 4)), "\"a\\0121\\000\"");
  EXPECT_EQ(cpp_string("what" + std::string(2, '?')), "\"what\\?\\?\"");
  EXPECT_EQ(cpp_string("\xff"), "\"\\377\"");
}

/// A line that ends in a backslash would take the next one, which is code, into the comment.
TEST(Escape, comments_of_cpp_neither_end_nor_join_lines) {
  EXPECT_EQ(cpp_comment("net\nint hidden = 1;"), "net/x0aint hidden = 1;");
  EXPECT_EQ(cpp_comment("conv\\"), "conv/");
  EXPECT_EQ(cpp_comment(std::string(3, '?') + "/*/"), "? ? ?/ * /");
}

TEST(Escape, items_of_cmake_are_one_and_name_no_variable) {
  EXPECT_EQ(cmake_item("/my files/$ENV{HOME}"), "\"/my files/\\$ENV{HOME}\"");
  EXPECT_EQ(cmake_item("a;b\n"), "\"a\\;b\\n\"");
  EXPECT_EQ(cmake_item("$<1:x>"), "\"\\$<1:\\$><1:x>\"");
}

TEST(Escape, texts_of_dot_have_no_escape_sequences) {
  EXPECT_EQ(dot_string("a\x1b[2J\"\\N&\nb"), "\"a\\\\x1b[2J\\\"\\\\N&amp;\\nb\"");
}

TEST(Escape, texts_of_xml_are_what_xml_may_hold) {
  EXPECT_EQ(xml_text("<a b=\"c\">&'"), "&lt;a b=&quot;c&quot;&gt;&amp;&#39;");
  EXPECT_EQ(xml_text("\x1b\xff\n\u009b\u202e"), "\\x1b\\xff&#10;&#155;&#8238;");
  EXPECT_EQ(xml_text("層"), "層");
}

TEST(Escape, json_in_html_is_the_same_document_without_markup) {
  EXPECT_EQ(json_in_html("[\"</script>&\"]"), "[\"\\u003c/script\\u003e\\u0026\"]");
  EXPECT_EQ(json_in_html("\"\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xa7\""),
            "\"\\u2028\\u2029\xe2\x80\xa7\"");
  EXPECT_EQ(json_in_html("\xe2\x80"), "\xe2\x80");
}

TEST(Escape, words_of_shells_are_quoted) {
  EXPECT_EQ(shell_string("it's $x"), "'it'\\''s $x'");
  EXPECT_EQ(fish_string("it's \\"), "'it\\'s \\\\'");
}

TEST(Escape, markdown_and_manual_pages_show_the_text) {
  EXPECT_EQ(markdown_text("a|b <x>"), "a\\|b \\<x\\>");
  EXPECT_EQ(troff_text(".a\n'b-\\"), "\\&.a\n\\&'b\\-\\e");
}

}  // namespace
}  // namespace millrace
