#include "millrace/session.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "face/digits.h"
#include "millrace/error.h"
#include "millrace/millrace.h"

namespace {

using millrace::Frame;
using millrace::test::digits;
using millrace::test::images;
using millrace::test::labels;
using millrace::test::recognised;

constexpr std::size_t count = 20;

/// Quickly, and without the user's cache.
millrace::Plan planned(const millrace::Model& model) {
  millrace::PlanRequest request;
  request.measuring = {};
  request.options.cache = false;
  return plan(model, request);
}

millrace::SessionOptions without_cache() {
  millrace::SessionOptions options;
  options.options.cache = false;
  return options;
}

class FaceSession : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    plan_ = new millrace::Plan(planned(millrace::Model::from_file(digits)));
  }
  static void TearDownTestSuite() { delete std::exchange(plan_, nullptr); }

  inline static millrace::Plan* plan_ = nullptr;
};

TEST_F(FaceSession, blocking_calls_recognise_the_held_out_digits) {
  auto session = plan_->start(without_cache());
  const auto frames = images(count);
  std::size_t right = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (recognised(session.run(frames[i])) == labels()[i]) ++right;
  EXPECT_GE(right, count - 1);
}

TEST_F(FaceSession, results_come_in_the_order_of_submission) {
  auto session = plan_->start(without_cache());
  const auto frames = images(count);
  std::vector<int> found;
  std::size_t submitted = 0;
  while (found.size() < count) {
    while (submitted < count && session.try_submit(frames[submitted])) ++submitted;
    if (submitted == count) session.finish();
    const auto result = session.next();
    ASSERT_TRUE(result);
    EXPECT_EQ(result->frame, static_cast<std::int64_t>(found.size()));
    found.push_back(recognised(result->outputs));
  }
  EXPECT_FALSE(session.next());
  auto other = plan_->start(without_cache());
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(found[i], recognised(other.run(frames[i])));
}

TEST_F(FaceSession, a_callback_gets_every_result) {
  std::vector<int> found;
  const auto take = [&found](millrace::Result result) {
    found.push_back(recognised(result.outputs));
  };
  auto session = plan_->start(take, without_cache());
  for (const Frame& frame : images(count)) EXPECT_TRUE(session.submit(frame));
  session.wait();
  ASSERT_EQ(found.size(), count);
  auto other = plan_->start(without_cache());
  for (std::size_t i = 0; i < count; ++i)
    EXPECT_EQ(found[i], recognised(other.run(images(count)[i])));
  EXPECT_THROW(session.next(), millrace::Error);
}

TEST_F(FaceSession, what_a_callback_throws_comes_out_of_wait) {
  auto session = plan_->start([](const millrace::Result&) { throw std::out_of_range("mine"); },
                              without_cache());
  session.submit(images(1)[0]);
  try {
    session.wait();
    FAIL() << "nothing was thrown";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("mine"), std::string::npos);
  }
}

TEST_F(FaceSession, keeps_a_model_that_nobody_else_has) {
  auto session = [] {
    return planned(millrace::Model::from_file(digits)).start(without_cache());
  }();
  EXPECT_EQ(recognised(session.run(images(1)[0])), labels()[0]);
}

TEST_F(FaceSession, is_replaced_while_frames_are_on_their_way) {
  auto session = plan_->start(without_cache());
  for (int round = 0; round < 5; ++round) {
    for (std::int64_t i = 0; i < session.depth(); ++i) session.submit(images(1)[0]);
    session = plan_->start(without_cache());
  }
  EXPECT_EQ(recognised(session.run(images(1)[0])), labels()[0]);
}

TEST_F(FaceSession, many_threads_run_one_frame_each) {
  auto session = plan_->start(without_cache());
  const auto frames = images(count);
  std::vector<int> found(count);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i)
    threads.emplace_back([&, i] { found[i] = recognised(session.run(frames[i])); });
  for (std::thread& thread : threads) thread.join();
  auto other = plan_->start(without_cache());
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(found[i], recognised(other.run(frames[i])));
}

TEST_F(FaceSession, a_frame_that_does_not_fit_is_an_error_of_the_input) {
  auto session = plan_->start(without_cache());
  try {
    session.run({millrace::Tensor::of<float>({1}, {0})});
    FAIL() << "nothing was thrown";
  } catch (const millrace::Error& error) {
    EXPECT_EQ(error.kind(), millrace::ErrorKind::input) << error.what();
    EXPECT_FALSE(error.finding().empty());
  }
}

std::atomic<int> terminated{0};

TEST_F(FaceSession, signals_of_the_program_stay_its_own) {
  const auto previous = std::signal(SIGTERM, [](int) { terminated = 1; });
  std::atomic<bool> done{false}, missed{false};
  std::thread service([&] {
    while (!done) {
      terminated = 0;
      std::raise(SIGTERM);  // on this thread: handlers are the whole process's
      if (terminated == 0) missed = true;
      std::this_thread::yield();
    }
  });
  const millrace::Plan made = planned(millrace::Model::from_file(digits));
  auto session = made.start(without_cache());
  EXPECT_EQ(recognised(session.run(images(1)[0])), labels()[0]);
  done = true;
  service.join();
  EXPECT_FALSE(missed);
  std::signal(SIGTERM, previous);
}

/// oneDNN's kernels hold a pointer into the heap where a handler's frame would go.
TEST_F(FaceSession, signals_that_come_to_any_thread_harm_no_kernel) {
  const auto previous = std::signal(SIGUSR1, [](int) { terminated = 1; });
  std::atomic<bool> done{false};
  std::thread sender([&] {
    while (!done) {
      kill(getpid(), SIGUSR1);
      std::this_thread::yield();
    }
  });
  millrace::PlanRequest request;
  request.measuring = std::chrono::milliseconds(50);
  request.options.cache = false;
  for (int i = 0; i < 12; ++i) {
    auto session = plan(millrace::Model::from_file(digits), request).start(without_cache());
    EXPECT_EQ(recognised(session.run(images(1)[0])), labels()[0]);
  }
  done = true;
  sender.join();
  EXPECT_EQ(terminated, 1);
  std::signal(SIGUSR1, previous);
}

TEST_F(FaceSession, memory_of_the_program_is_shared_until_its_frame_is_replaced) {
  const auto frame = images(1).front().front();
  const auto expected = plan_->start(without_cache()).run({frame});
  std::vector<float> memory(64 + 16);
  for (std::size_t offset = 0; offset < 16; ++offset) {  // at any address of a number
    std::memcpy(memory.data() + offset, frame.data(), frame.size_bytes());
    int released = 0;
    {
      const auto view = millrace::Tensor::view_of(
          frame.type(), frame.shape(),
          {memory.data() + offset, [&released](const void*) { ++released; }}, frame.size_bytes());
      EXPECT_EQ(view.data(), memory.data() + offset);
      const auto outputs = plan_->start(without_cache()).run({view});
      EXPECT_EQ(std::memcmp(outputs[0].data(), expected[0].data(), outputs[0].size_bytes()), 0);
      EXPECT_EQ(released, 0);
    }
    EXPECT_EQ(released, 1);
  }
  const auto odd = [&] {
    return millrace::Tensor::view_of(
        frame.type(), frame.shape(),
        {reinterpret_cast<const char*>(memory.data()) + 1, [](const void*) {}},
        frame.size_bytes());
  };
  EXPECT_THROW(odd(), millrace::Error);
}

/// Wants to end after so many questions.
class Impatient final : public millrace::Listener {
 public:
  bool wants_to_end() override { return ++asked_ % 3 == 0; }

 private:
  std::atomic<int> asked_{0};
};

TEST_F(FaceSession, who_waits_may_end_the_wait_and_go_on) {
  auto options = without_cache();
  options.options.listener = std::make_shared<Impatient>();
  auto session = plan_->start(options);
  EXPECT_THROW(session.next(), millrace::Error);
  session.submit(images(1).front());
  EXPECT_TRUE(session.next());
  options.options.cancel.cancel();
  try {
    session.next();
    FAIL() << "nothing was on its way";
  } catch (const millrace::Error& error) {
    EXPECT_EQ(error.kind(), millrace::ErrorKind::cancelled);
  }
}

}  // namespace
