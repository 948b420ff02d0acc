// An agent and a client that does not keep to the protocol.
#include "remote/agent.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/error.h"
#include "base/hash.h"
#include "remote/link.h"
#include "remote/messages.h"

namespace millrace::remote {
namespace {

namespace fs = std::filesystem;

class AgentOfAStranger : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "millrace_agent_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    std::array<int, 2> in{}, out{};
    ASSERT_EQ(::pipe(in.data()), 0);
    ASSERT_EQ(::pipe(out.data()), 0);
    process_ = ::fork();
    if (process_ == 0) {
      ::close(in[1]);
      ::close(out[0]);
      serve_and_exit(in[0], out[1]);
    }
    ::close(in[0]);
    ::close(out[1]);
    link_.emplace(out[0], in[1]);
    link_->await_greeting();
    const auto hello = next();
    ASSERT_TRUE(hello);
    root_ = read_hello(hello->body).root;
  }
  void TearDown() override {
    end();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  [[noreturn]] void serve_and_exit(int in, int out) const {
    try {
      serve({.program = "/bin/sh", .version = "1", .folder = folder_}, in, out);
    } catch (const std::exception&) {
      ::_exit(3);
    }
    ::_exit(0);
  }

  /// How the agent ended, after its input did.
  int end() {
    if (link_) ::close(link_->out()), ::close(link_->in());
    link_.reset();
    int status = 0;
    if (process_ > 0) ::waitpid(process_, &status, 0);
    process_ = -1;
    return WEXITSTATUS(status);
  }

  /// Nothing: the agent ended.
  std::optional<WireMessage> next() {
    while (true) {
      link_->write_some();
      if (link_->is_greeted())
        if (auto message = link_->next()) return message;
      if (link_->is_closed()) return std::nullopt;
      pollfd in{link_->in(), POLLIN, 0};
      ::poll(&in, 1, 100);
      if (in.revents != 0) link_->read_some();
    }
  }

  void offer(const FileOffer& file) { link_->send(Kind::file, body_of(file)); }
  static std::string digest(const std::string& content) {
    return Hasher().add(std::as_bytes(std::span(content))).digits();
  }

  fs::path folder_, root_;
  pid_t process_ = -1;
  std::optional<Link> link_;
};

TEST_F(AgentOfAStranger, refuses_names_outside_of_its_folder) {
  const std::string name = "../../../escaped";
  link_->send(Kind::file, FieldWriter().add(name).add(digest("x")).add(1).add(0).body());
  const auto answer = next();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->kind, Kind::failure);
  EXPECT_EQ(end(), 3);
  EXPECT_FALSE(fs::exists(root_));
  EXPECT_FALSE(fs::exists(folder_.parent_path() / "escaped"));
}

TEST_F(AgentOfAStranger, keeps_no_file_whose_content_is_another_one) {
  offer({"a/x", digest("right"), 5, false});
  link_->send(Kind::file_end);
  EXPECT_EQ(next()->kind, Kind::wanted);
  EXPECT_EQ(next()->kind, Kind::wanted_end);
  link_->send(Kind::piece, "wrong");
  link_->send(Kind::piece_end);
  EXPECT_EQ(next()->kind, Kind::failure);
  EXPECT_EQ(end(), 3);
  EXPECT_TRUE(fs::is_empty(folder_ / "files"));
}

TEST_F(AgentOfAStranger, keeps_nothing_of_a_file_that_ends_too_early) {
  offer({"x", digest("right"), 5, false});
  link_->send(Kind::file_end);
  next();
  link_->send(Kind::piece, "ri");
  link_->write_some();
  end();
  EXPECT_TRUE(fs::is_empty(folder_ / "files"));
  EXPECT_FALSE(fs::exists(root_));
}

TEST_F(AgentOfAStranger, has_files_of_before_by_their_content) {
  offer({"x", digest("right"), 5, false});
  link_->send(Kind::file_end);
  EXPECT_EQ(next()->kind, Kind::wanted);
  next();
  link_->send(Kind::piece, "right");
  link_->send(Kind::piece_end);
  offer({"sub/y", digest("right"), 5, false});
  link_->send(Kind::file_end);
  EXPECT_EQ(next()->kind, Kind::wanted_end);
  std::ifstream file(root_ / "sub" / "y");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "right");
}

TEST_F(AgentOfAStranger, gives_no_file_that_its_program_did_not_make) {
  link_->send(Kind::start, body_of(Start{"w", {"-c", "echo made > made"}, false, false, 0, ""}));
  std::optional<WireMessage> message = next();
  while (message && message->kind != Kind::ended) message = next();
  link_->send(Kind::give, FieldWriter().add("w/made").body());
  EXPECT_EQ(next()->body, "made\n");
  EXPECT_EQ(next()->kind, Kind::piece_end);
  link_->send(Kind::give, FieldWriter().add("../files/x").body());
  EXPECT_EQ(next()->kind, Kind::failure);
}

TEST_F(AgentOfAStranger, ends_all_processes_of_a_program_that_left_some_behind) {
  const std::string script = "(setsid sleep 300 & echo $! > pid); sleep 300";
  link_->send(Kind::start, body_of(Start{"w", {"-c", script}, false, false, 0, ""}));
  pid_t left = 0;
  for (const auto until = Clock::now() + std::chrono::seconds(20);
       left == 0 && Clock::now() < until;) {
    link_->beat();
    link_->write_some();
    ::poll(nullptr, 0, 20);
    std::ifstream(root_ / "w" / "pid") >> left;
  }
  ASSERT_GT(left, 0);
  end();
  EXPECT_NE(::kill(left, 0), 0);
  EXPECT_FALSE(fs::exists(root_));
}

}  // namespace
}  // namespace millrace::remote
