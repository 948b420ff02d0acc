#include "runtime/slots.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "base/error.h"

namespace millrace::runtime {
namespace {

TEST(Slots, frames_take_turns_in_aligned_slots_that_do_not_overlap) {
  Slots slots("x", Bytes{100}, 3);
  for (std::int64_t frame = 0; frame < 6; ++frame) {
    const auto address = reinterpret_cast<std::uintptr_t>(slots.of(frame));
    EXPECT_EQ(address % network::tensor_alignment, 0u);
    EXPECT_EQ(slots.of(frame), slots.of(frame + 3));
    EXPECT_GE(std::abs(slots.of(frame + 1) - slots.of(frame)), 100);
  }
}

TEST(Slots, frames_are_joined_if_nothing_lies_between_them) {
  EXPECT_TRUE(Slots("x", Bytes{128}, 4).are_joined(4, 4));
  EXPECT_FALSE(Slots("x", Bytes{128}, 4).are_joined(2, 3));  // around the ring's end
  EXPECT_FALSE(Slots("x", Bytes{100}, 4).are_joined(0, 2));  // slots are aligned
  EXPECT_TRUE(Slots("x", Bytes{100}, 4).are_joined(3, 1));
}

TEST(Slots, memory_of_others_stands_in_until_the_slot_has_another_frame) {
  Slots slots("x", Bytes{128}, 4);
  EXPECT_EQ(slots.at(5), slots.of(5));
  auto other = std::make_shared<network::Buffer>(Bytes{128});
  const std::weak_ptr<network::Buffer> watched = other;
  const std::byte* const there = other->data();
  slots.stand_in(5, std::move(other));
  EXPECT_EQ(slots.at(5), there);
  EXPECT_EQ(slots.at(6), slots.of(6));
  EXPECT_TRUE(slots.are_joined(5, 1));
  EXPECT_FALSE(slots.are_joined(4, 3));
  EXPECT_TRUE(slots.are_joined(6, 2));
  slots.stand_in(9, nullptr);
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(slots.at(9), slots.of(5));
  EXPECT_TRUE(slots.are_joined(8, 4));
}

TEST(Slots, too_much_memory_is_an_engine_error_that_names_the_tensor) {
  try {
    Slots slots("huge", Bytes{std::int64_t{1} << 40}, std::int64_t{1} << 30);
    FAIL() << "no error";
  } catch (const EngineError& error) {
    EXPECT_NE(std::string(error.what()).find("'huge'"), std::string::npos);
  }
}

}  // namespace
}  // namespace millrace::runtime
