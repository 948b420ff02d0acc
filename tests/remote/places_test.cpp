#include "remote/places.h"

#include <gtest/gtest.h>

#include <string>

#include "remote/command.h"
#include "remote/command_line.h"

namespace millrace::remote {
namespace {

TEST(Texts, get_the_root_before_paths_that_are_sent_and_before_no_others) {
  const std::set<std::string> paths{"/data/m.onnx", "/data/images"};
  EXPECT_EQ(with_root(R"({"model": "/data/m.onnx", "other": "/data/x.onnx"})", "/R", paths),
            R"({"model": "/R/data/m.onnx", "other": "/data/x.onnx"})");
  EXPECT_EQ(with_root("input: {images: /data/images/a b.png}\n", "/R", paths),
            "input: {images: /R/data/images/a b.png}\n");
  EXPECT_EQ(with_root("x/data/m.onnx a/b", "/R", paths), "x/data/m.onnx a/b");
}

TEST(Roots, are_taken_out_however_the_bytes_are_cut) {
  const std::string root = "/c/session-ab", text = "x /c/session-ab/home/m /c/session-a /c/sess";
  for (std::size_t step = 1; step < text.size(); ++step) {
    RootRemover remover(root);
    std::string result;
    for (std::size_t at = 0; at < text.size(); at += step)
      result += remover.pass(std::string_view(text).substr(at, step));
    EXPECT_EQ(result + remover.end(), "x /home/m /c/session-a /c/sess") << step;
  }
}

TEST(Places, that_no_option_names_are_not_written) {
  Command command;
  command.writes = {{"/w/a.json"}, {"/w/o.npy", Written::Kind::numbered},
                    {"/w/pictures", Written::Kind::tree}};
  for (const char* name : {"w/a.json", "w/o.npy", "w/o.scores.npy", "w/pictures/x/1.png"})
    EXPECT_TRUE(may_write(command, name)) << name;
  for (const char* name :
       {"w/b.json", "w/o.x/y.npy", "w/pictures", "w/picturesX", "w/o.sh", "a.json"})
    EXPECT_FALSE(may_write(command, name)) << name;
}

TEST(Words, keep_their_form_and_lose_what_reaches_the_board) {
  const auto use_of = [](const std::string& name) -> OptionUse {
    if (name == "--on") return {.takes_value = true, .is_ours = true};
    if (name == "--output" || name == "-o") return {.takes_value = true, .writes = true};
    if (name == "--size") return {.takes_value = true};
    return {};
  };
  const Command command =
      command_of({"plan", "--on", "b", "zoo", "-o", "/x/p.json", "--size=3", "-v", "--output=-"},
                 use_of, {});
  std::string words;
  for (const Word& word : command.words) words += word.before + "<" + word.path + "> ";
  EXPECT_EQ(words, "plan<> zoo<> -o<> </x/p.json> --size=3<> -v<> --output=-<> ");
  ASSERT_EQ(command.writes.size(), 2U);  // a file, or a folder
  EXPECT_EQ(command.writes[0].path, "/x/p.json");
  EXPECT_TRUE(command.reads.empty());
}

}  // namespace
}  // namespace millrace::remote
