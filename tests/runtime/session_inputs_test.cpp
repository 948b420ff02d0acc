// How frames go into a pipeline.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "runtime/session_fixture.h"

namespace millrace::runtime {
namespace {

using test::chain;
using test::frame;
using test::value_of;

class SessionInputs : public test::SessionTest {};

TEST_F(SessionInputs, inputs_can_be_written_in_place) {
  const auto network = chain(2);
  Session session = start(network, {0, 1});
  for (int i = 0; i < 10; ++i) {
    session.submit_in_place([&](std::span<const std::span<std::byte>> inputs) {
      ASSERT_EQ(inputs.size(), 1u);
      ASSERT_EQ(inputs[0].size(), 6 * sizeof(float));
      auto* values = reinterpret_cast<float*>(inputs[0].data());
      std::fill_n(values, 6, static_cast<float>(i));
    });
    EXPECT_EQ(value_of(session.next()->outputs[0]), static_cast<float>(i + 2));
  }
}

TEST_F(SessionInputs, arrays_are_not_copied_but_kept_until_others_take_their_place) {
  const auto network = chain(3);
  std::weak_ptr<const network::Buffer> watched;
  {
    Session session = start(network, {0, 1, 2});
    {
      const auto inputs = frame(network, 7);
      watched = inputs[0].memory;
      session.submit(inputs);
    }
    EXPECT_FALSE(watched.expired());
    EXPECT_EQ(value_of(session.next()->outputs[0]), 10);
    std::int64_t others = 0;
    for (; !watched.expired() && others < 100; ++others) {
      session.submit(frame(network, 1));
      EXPECT_EQ(value_of(session.next()->outputs[0]), 4);
    }
    EXPECT_TRUE(watched.expired()) << others;
    const auto last = frame(network, 2);
    watched = last[0].memory;
    session.submit(last);
  }
  EXPECT_TRUE(watched.expired());
}

TEST_F(SessionInputs, writing_in_place_and_arrays_may_take_turns) {
  const auto network = chain(2);
  Session session = start(network, {0, 1});
  for (int i = 0; i < 20; ++i) {
    const auto value = static_cast<float>(i);
    if (i % 3 == 0)
      session.submit_in_place([&](std::span<const std::span<std::byte>> inputs) {
        std::fill_n(reinterpret_cast<float*>(inputs[0].data()), 6, value);
      });
    else
      session.submit(frame(network, value));
    EXPECT_EQ(value_of(session.next()->outputs[0]), value + 2);
  }
}

TEST_F(SessionInputs, a_frame_whose_writer_throws_was_not_submitted) {
  const auto network = chain(1);
  Session session = start(network, {0});
  EXPECT_THROW(session.submit_in_place([](auto) { throw std::runtime_error("no camera"); }),
               std::runtime_error);
  session.submit(frame(network, 1));
  session.finish();
  EXPECT_EQ(session.next()->frame, 0);
  EXPECT_FALSE(session.next());
}

}  // namespace
}  // namespace millrace::runtime
