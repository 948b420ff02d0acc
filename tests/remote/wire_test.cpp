#include "remote/wire.h"

#include <gtest/gtest.h>

#include <string>

#include "remote/messages.h"

namespace millrace::remote {
namespace {

TEST(Frames, come_whole_however_their_bytes_are_cut) {
  const std::string bytes = framed(Kind::output, "abc") + framed(Kind::beat, "") +
                            framed(Kind::piece, std::string(1000, 'x'));
  for (const std::size_t step : {std::size_t{1}, std::size_t{3}, std::size_t{7}, bytes.size()}) {
    FrameReader reader;
    std::string bodies;
    int count = 0;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      reader.feed(std::string_view(bytes).substr(at, step));
      while (const auto message = reader.next()) bodies += message->body, ++count;
    }
    EXPECT_EQ(count, 3);
    EXPECT_EQ(bodies, "abc" + std::string(1000, 'x'));
  }
}

TEST(Frames, of_a_size_that_no_message_has_are_refused_before_they_come) {
  FrameReader reader;
  reader.feed(std::string("\xff\xff\xff\xff\x02", 5));
  EXPECT_THROW(reader.next(), BadMessage);
}

TEST(Frames, of_an_unknown_kind_are_refused) {
  FrameReader reader;
  reader.feed(std::string("\x00\x00\x00\x00\x63", 5));
  EXPECT_THROW(reader.next(), BadMessage);
}

TEST(Fields, that_are_longer_than_their_message_are_refused) {
  const std::string huge("\xf0\xff\xff\x7f" "abc", 7);
  EXPECT_THROW(FieldReader(huge).text(), BadMessage);
  const std::string many = FieldWriter().add(std::int64_t{1} << 60).body();
  EXPECT_THROW(FieldReader(many).texts(), BadMessage);
  EXPECT_THROW(FieldReader("abc").end(), BadMessage);
}

TEST(Names, that_leave_the_folder_are_refused) {
  for (const char* name : {"", "/etc/passwd", "../x", "a/../../x", "a//b", "./a", "a/.", ".."})
    EXPECT_FALSE(is_safe_name(name)) << name;
  EXPECT_FALSE(is_safe_name(std::string_view("a\0b", 3)));
  EXPECT_FALSE(is_safe_name(std::string(5000, 'a')));
  for (const char* name : {"a", "home/me/x.onnx", "..a", "a..", "a b"})
    EXPECT_TRUE(is_safe_name(name)) << name;
}

TEST(Offers, with_names_or_digests_that_are_none_are_refused) {
  FileOffer offer{"a/b", std::string(32, '0'), 5, false};
  EXPECT_EQ(read_file_offer(body_of(offer)).name, "a/b");
  offer.name = "a/../../b";
  EXPECT_THROW(read_file_offer(body_of(offer)), BadMessage);
  offer = {"a", "../../../../../../../../x0000000", 5, false};
  EXPECT_THROW(read_file_offer(body_of(offer)), BadMessage);
  offer = {"a", std::string(32, '0'), -1, false};
  EXPECT_THROW(read_file_offer(body_of(offer)), BadMessage);
}

}  // namespace
}  // namespace millrace::remote
