#include "application/codecs/container.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "support/temporary_folder.h"

namespace millrace::application {
namespace {

using namespace std::string_literals;

class Container : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& content) const {
    std::ofstream(folder_ / "video", std::ios::binary) << content;
    return folder_ / "video";
  }
  test::TemporaryFolder folder_;
};

TEST_F(Container, of_avi_and_mp4_announces_its_frames) {
  EXPECT_TRUE(announces_frames(file("RIFF\x10\0\0\0AVI LIST"s)));
  EXPECT_TRUE(announces_frames(file("\0\0\0\x20"s + "ftypisom" + "....moov")));
  EXPECT_FALSE(announces_frames(file("RIFF\x10\0\0\0WEBP"s)));
}

TEST_F(Container, of_fragments_matroska_and_streams_does_not) {
  EXPECT_FALSE(announces_frames(file("\0\0\0\x20"s + "ftypisom" + "....moov....mvex")));
  EXPECT_FALSE(announces_frames(file("\x1a\x45\xdf\xa3\x80"s)));
  EXPECT_FALSE(announces_frames(file("G\x40\x11"s)));
  EXPECT_FALSE(announces_frames(file("")));
}

TEST_F(Container, of_matroska_announces_its_bytes) {
  const std::string head = "\x1a\x45\xdf\xa3\x82"s + "xx" + "\x18\x53\x80\x67"s;
  EXPECT_EQ(announced_bytes(file(head + "\x85" + "12345")), head.size() + 1 + 5);
  EXPECT_EQ(announced_bytes(file(head + "\x40\xff"s + "123")), head.size() + 2 + 255);
  EXPECT_EQ(announced_bytes(file(head + "\xff" + "12345")), std::nullopt);  // it is not known
  EXPECT_EQ(announced_bytes(file(head + "\x01\xff")), std::nullopt);
  EXPECT_EQ(announced_bytes(file(head)), std::nullopt);
  EXPECT_EQ(announced_bytes(file("\x1a\x45\xdf\xa3\xc0"s + "xx")), std::nullopt);
  EXPECT_EQ(announced_bytes(file("RIFF")), std::nullopt);
}

}  // namespace
}  // namespace millrace::application
