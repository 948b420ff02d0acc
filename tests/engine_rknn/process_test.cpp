#include "process.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::test {
namespace {

using namespace millrace_rknn;

EndedProgram run(const std::string& commands) {
  return run_program({"sh", "-c", commands}, [] { return true; });
}

TEST(RknnProcess, gives_what_was_printed_and_the_status) {
  const EndedProgram ended = run("echo out; echo error >&2; exit 3");
  EXPECT_EQ(ended.words, "out\nerror\n");
  EXPECT_EQ(ended.status, 3);
}

TEST(RknnProcess, keeps_the_last_of_many_words) {
  const std::string words = run("yes | head -c 100000; echo end").words;
  EXPECT_LE(words.size(), 16384U);
  EXPECT_TRUE(words.ends_with("end\n"));
}

TEST(RknnProcess, that_crashes_has_a_status_too) { EXPECT_EQ(run("kill -SEGV $$").status, 139); }

TEST(RknnProcess, that_is_not_there_is_said) {
  const EndedProgram ended = run_program({"/no/such/program"}, [] { return true; });
  EXPECT_EQ(ended.status, 127);
  EXPECT_EQ(ended.words, "No such file or directory");
}

TEST(RknnProcess, is_stopped_with_what_it_started) {
  const EndedProgram ended =
      run_program({"sh", "-c", "sleep 1000 & sleep 1000; wait"}, [] { return false; });
  EXPECT_TRUE(ended.was_stopped);
}

}  // namespace
}  // namespace millrace::test
