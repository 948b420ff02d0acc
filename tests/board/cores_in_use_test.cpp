#include "board/cores_in_use.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <stdexcept>

#include "support/temporary_folder.h"

namespace millrace::board {
namespace {

const std::vector<Processor> three{{"core0", ProcessorKind::cpu, {0}},
                                   {"core1", ProcessorKind::cpu, {1}},
                                   {"cores2-3", ProcessorKind::cpu, {2, 3}}};

/// Another process that does something and then waits, until its end.
class Other {
 public:
  explicit Other(const std::function<void()>& act) {
    int ready[2];
    if (::pipe(ready) != 0) throw std::runtime_error("no pipe");
    process_ = ::fork();
    if (process_ == 0) {
      act();
      [[maybe_unused]] const auto written = ::write(ready[1], "x", 1);
      for (;;) ::pause();
    }
    char byte = 0;
    ::close(ready[1]);
    [[maybe_unused]] const auto got = ::read(ready[0], &byte, 1);
    ::close(ready[0]);
  }
  ~Other() { end(); }
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;

  void end() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }
    process_ = 0;
  }
  long id() const { return process_; }

 private:
  pid_t process_ = 0;
};

class CoresInUse : public testing::Test {
 protected:
  test::TemporaryFolder folder_;
};

/// What `check` says in a process of its own, since a process looks for the folder once.
bool holds_with(const std::filesystem::path& folder, const std::function<bool()>& check) {
  const pid_t process = ::fork();
  if (process == 0) {
    ::setenv("XDG_RUNTIME_DIR", folder.c_str(), 1);
    ::_exit(check() ? 0 : 1);
  }
  int status = 1;
  ::waitpid(process, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(CoresInUse, of_another_process_are_seen_and_passed_over_until_it_ends) {
  EXPECT_TRUE(holds_with(folder_.path(), [] {
    Other other([] { note_use({0, 2}); });
    bool good = used_by_others({0, 1, 2}) ==
                std::vector<CoreInUse>{{0, other.id()}, {2, other.id()}};
    good = good && take_free(three) == std::optional<std::size_t>(1);
    other.end();
    return good && used_by_others({0, 1, 2}).empty();
  }));
}

TEST_F(CoresInUse, that_two_processes_share_stay_noted_when_one_ends) {
  EXPECT_TRUE(holds_with(folder_.path(), [] {
    Other first([] { note_use({0}); }), second([] { note_use({0}); });
    first.end();
    return used_by_others({0}) == std::vector<CoreInUse>{{0, second.id()}};
  }));
}

TEST_F(CoresInUse, all_of_them_leave_none_free) {
  EXPECT_TRUE(holds_with(folder_.path(), [] {
    const Other first([] { take_free(three); }), second([] { take_free(three); });
    const Other third([] { note_use({3}); });
    return used_by_others({0, 1}).size() == 2 && !take_free(three);
  }));
}

TEST_F(CoresInUse, by_this_process_are_free_for_it) {
  EXPECT_TRUE(holds_with(folder_.path(), [] {
    note_use({0});
    return used_by_others({0}).empty() && take_free(three) == std::optional<std::size_t>(0);
  }));
}

TEST_F(CoresInUse, are_not_noted_in_a_folder_that_others_may_enter) {
  std::filesystem::create_directory(folder_ / "millrace");
  ::chmod((folder_ / "millrace").c_str(), 0755);
  EXPECT_TRUE(holds_with(folder_.path(), [] {
    note_use({0});
    return true;
  }));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "millrace"));
}

TEST_F(CoresInUse, are_not_noted_through_a_link) {
  std::filesystem::create_directory(folder_ / "elsewhere");
  ::chmod((folder_ / "elsewhere").c_str(), 0700);
  std::filesystem::create_directory_symlink(folder_ / "elsewhere", folder_ / "millrace");
  EXPECT_TRUE(holds_with(folder_.path(), [] {
    note_use({0});
    return true;
  }));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "elsewhere"));
}

}  // namespace
}  // namespace millrace::board
