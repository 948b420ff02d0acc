#include "application/run.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "application/batching.h"
#include "runtime/session_fixture.h"
#include "support/message_of.h"

namespace millrace::application {
namespace {

using namespace std::chrono_literals;

/// Frames without pictures; ends after `count`, and may say that this was too early.
class Counting : public Source {
 public:
  explicit Counting(std::int64_t count) : count_(count) {}
  std::optional<Picture> next() override {
    if (next_ == count_) return std::nullopt;
    Picture picture;
    picture.frame = next_++;
    picture.name = "frame " + std::to_string(picture.frame);
    return picture;
  }
  void decode(Picture& picture) const override {
    if (picture.frame == broken) throw InputError(picture.name, "cannot be decoded");
  }
  std::optional<Complaint> complaint() const override { return said; }

  std::int64_t broken = -1;
  std::optional<Complaint> said;

 private:
  std::int64_t count_, next_ = 0;
};

/// The frame's number goes in, and the network's answer is the class.
class Numbers : public Processing {
 public:
  std::vector<network::Array> before(const Picture& picture) const override {
    const std::vector<float> values(6, static_cast<float>(picture.frame));
    return {network::make_array(network::DataType::float32, test::Sketch::shape,
                                std::span<const float>(values))};
  }
  Findings after(const Picture& picture, std::span<const network::Array> outputs) const override {
    if (picture.frame == throws_at) throw std::runtime_error("had enough");
    Findings findings;
    findings.classes = {{{std::lround(test::value_of(outputs[0])), 1}}};
    return findings;
  }
  std::int64_t throws_at = -1;
};

class RunTest : public test::SessionTest {
 protected:
  RunTest() {
    const TensorId x = sketch_.input("x"), c = sketch_.constant("c", 100);
    const TensorId y = sketch_.add("a", x, c);
    sketch_.network.outputs = {sketch_.add("b", y, c)};
    application_.input.kind = InputKind::images;
    application_.preprocess.workers.threads = 2;
    application_.postprocess.workers.threads = 3;
  }
  /// The classes of the frames that came out, by frame.
  Totals run(Source& source) {
    auto session = start(sketch_.network, {0, 1});
    application::Run run(application_, {&source, &numbers_, &numbers_}, session,
                         [this](const Outcome& outcome) { outcomes_.push_back(outcome); });
    while (!run.wait_for(100ms)) {
    }
    return run.totals();
  }
  void expect_frames(std::int64_t count) const {
    ASSERT_EQ(static_cast<std::int64_t>(outcomes_.size()), count);
    for (std::int64_t i = 0; i < count; ++i) {
      const Outcome& outcome = outcomes_[static_cast<std::size_t>(i)];
      EXPECT_EQ(outcome.picture.frame, i);
      EXPECT_EQ(outcome.findings.classes->front().label, 200 + i);
    }
  }

  test::Sketch sketch_;
  Application application_;
  Numbers numbers_;
  std::vector<Outcome> outcomes_;
};

TEST_F(RunTest, gives_every_frame_in_order) {
  Counting source(200);
  const Totals totals = run(source);
  expect_frames(200);
  EXPECT_EQ(totals.frames, 200);
  EXPECT_FALSE(totals.complaint);
}

TEST_F(RunTest, takes_no_more_frames_than_asked_for) {
  application_.input.frames = 7;
  Counting source(200);
  run(source);
  expect_frames(7);
}

TEST_F(RunTest, gives_what_one_thread_gives) {
  Counting source(20), again(20);
  run(source);
  runtime::Sequential network(sketch_.network, *reference_, {"core0", {}, {0}}, {.pin = false});
  std::size_t next = 0;
  const Totals totals = run_in_turn(
      application_, {&again, &numbers_, &numbers_}, network,
      [&](const Outcome& outcome) { EXPECT_EQ(outcome.findings, outcomes_[next++].findings); });
  EXPECT_EQ(totals.frames, 20);
}

TEST_F(RunTest, ends_at_the_frame_that_fails_and_says_which) {
  numbers_.throws_at = 12;
  application_.postprocess.kind = "mine";
  Counting source(1000);
  try {
    run(source);
    FAIL() << "no error";
  } catch (const EngineError& error) {
    EXPECT_STREQ(error.what(), "frame 12 (frame 12): mine failed: had enough");
  }
  expect_frames(12);
}

TEST_F(RunTest, gives_all_frames_before_one_that_cannot_be_decoded) {
  Counting source(1000);
  source.broken = 30;
  EXPECT_EQ(test::message_of([&] { run(source); }), "frame 30: cannot be decoded");
  expect_frames(30);
}

TEST_F(RunTest, keeps_what_came_before_a_source_was_gone) {
  Counting source(9);
  source.said = Complaint{"camera 0", "is gone", true};
  const Totals totals = run(source);
  expect_frames(9);
  ASSERT_TRUE(totals.complaint);
  EXPECT_EQ(totals.complaint->text, "is gone");
}

TEST_F(RunTest, drops_frames_of_live_input_that_it_has_no_time_for) {
  application_.input.rate_fps = 1e6;
  application_.input.drop = Drop::newest;
  application_.input.queue = 1;
  Counting source(5000);
  const Totals totals = run(source);
  EXPECT_EQ(totals.queue.put, 5000);
  EXPECT_EQ(totals.frames + totals.queue.dropped, 5000);
  ASSERT_EQ(totals.last_due.size(), 1u);
  EXPECT_EQ(totals.last_due[0], time_from_seconds(4999 / 1e6));  // dropped or not
  for (std::size_t i = 1; i < outcomes_.size(); ++i)
    EXPECT_LT(outcomes_[i - 1].picture.frame, outcomes_[i].picture.frame);
}

TEST_F(RunTest, drops_nothing_of_live_input_that_may_wait) {
  application_.input.rate_fps = 1e6;
  Counting source(300);
  const Totals totals = run(source);
  expect_frames(300);
  EXPECT_EQ(totals.queue.dropped, 0);
}

/// Pictures that are old when they come.
class Late : public Counting {
 public:
  using Counting::Counting;
  std::optional<Picture> next() override {
    auto picture = Counting::next();
    if (!picture) return std::nullopt;
    picture->frame *= 2;  // every second one was passed over
    picture->lag = picture->frame == 0 ? 7s : 5s;
    picture->taken = std::chrono::steady_clock::now() - picture->lag;
    picture->captured = std::chrono::system_clock::now() - picture->lag;
    return picture;
  }
};

TEST_F(RunTest, counts_the_latency_of_a_camera_from_the_capture) {
  application_.input.kind = InputKind::camera;
  Late source(4);
  const Totals totals = run(source);
  ASSERT_EQ(outcomes_.size(), 4u);
  EXPECT_GE(outcomes_[0].latency, 7s);
  EXPECT_GE(outcomes_[3].latency, 5s);
  EXPECT_LT(outcomes_[3].latency, 7s);
  EXPECT_EQ(totals.ages.longest_lag, 7s);
  EXPECT_EQ(totals.ages.last_lag, 5s);
  EXPECT_GE(totals.ages.longest, 7s);
  EXPECT_EQ(totals.queue.put, 7);
  EXPECT_EQ(totals.queue.dropped, 3);
  EXPECT_NE(json_line(outcomes_[3], {}).find("\"lag_ms\":5000.0"), std::string::npos);
}

TEST_F(RunTest, writes_no_password_of_a_camera) {
  Outcome outcome;
  outcome.picture.name = "camera rtsp://admin:secret@cam/1?token=secret 12";
  EXPECT_NE(json_line(outcome, {}).find("\"camera rtsp://***@cam/1?token=*** 12\""),
            std::string::npos);
}

/// Two inputs of so many frames.
std::unique_ptr<Source> two_inputs(Application& application, std::int64_t left,
                                   std::int64_t right) {
  application.input.name = "left";
  application.beside = {application.input};
  application.beside.front().name = "right";
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::make_unique<Counting>(left));
  sources.push_back(std::make_unique<Counting>(right));
  return join_sources(std::move(sources), application.inputs());
}

TEST_F(RunTest, takes_a_frame_of_each_input_in_turn_until_both_end) {
  const auto source = two_inputs(application_, 3, 5);
  const Totals totals = run(*source);
  std::vector<std::string> order;
  for (const Outcome& outcome : outcomes_)
    order.push_back(outcome.picture.input + std::to_string(outcome.picture.frame));
  EXPECT_EQ(order, (std::vector<std::string>{"left0", "right0", "left1", "right1", "left2",
                                             "right2", "right3", "right4"}));
  ASSERT_EQ(totals.inputs.size(), 2u);
  EXPECT_EQ(totals.inputs[0].frames, 3);
  EXPECT_EQ(totals.inputs[1].frames, 5);
}

TEST_F(RunTest, counts_every_frame_of_each_live_input) {
  application_.input.rate_fps = 1e6;
  application_.input.drop = Drop::oldest;
  application_.input.queue = 1;
  const auto source = two_inputs(application_, 2000, 700);
  const Totals totals = run(*source);
  ASSERT_EQ(totals.inputs.size(), 2u);
  for (const InputTotals& each : totals.inputs)
    EXPECT_EQ(each.frames + each.queue.dropped, each.queue.put) << each.name;
  EXPECT_EQ(totals.inputs[0].queue.put, 2000);
  EXPECT_EQ(totals.inputs[1].queue.put, 700);
  EXPECT_EQ(totals.inputs[1].name, "right");
}

TEST(batching, fills_the_last_batch_and_gives_each_picture_its_part) {
  const auto array = [](float value) {
    const std::vector<float> values{value, value + 1};
    return network::make_array<float>(network::DataType::float32, {1, 2}, values);
  };
  const std::vector<std::vector<network::Array>> pictures{{array(10)}, {array(20)}};
  const std::vector<network::Array> all = joined(pictures, 3);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].shape, (network::Shape{3, 2}));
  const auto values = all[0].values<float>();
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()),
            (std::vector<float>{10, 11, 20, 21, 20, 21}));
  EXPECT_EQ(part_of(all, 1, 3)[0], array(20));
}

TEST_F(RunTest, of_live_input_ends_when_it_is_told_to) {
  application_.input.rate_fps = 100;
  Counting source(1'000'000'000);
  auto session = start(sketch_.network, {0, 1});
  std::atomic<std::int64_t> given = 0;
  application::Run run(application_, {&source, &numbers_, &numbers_}, session,
                       [&](const Outcome&) { ++given; });
  while (given < 3) EXPECT_FALSE(run.wait_for(1ms));
  run.finish();
  while (!run.wait_for(100ms)) {
  }
  EXPECT_EQ(run.totals().frames, given);
}

TEST_F(RunTest, can_be_dropped_while_it_runs) {
  Counting source(1'000'000'000);
  auto session = start(sketch_.network, {0, 1});
  application::Run run(application_, {&source, &numbers_, &numbers_}, session,
                       [](const Outcome&) {});
  EXPECT_FALSE(run.wait_for(5ms));
}

}  // namespace
}  // namespace millrace::application
