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

/// A box of an MP4 file: its size, its name, its content.
std::string mp4_box(const std::string& name, std::size_t size, const std::string& content) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(size >> shift & 0xff);
  return text + name + content;
}

TEST_F(Container, of_avi_and_mp4_announces_its_frames) {
  EXPECT_TRUE(announces_frames(file("RIFF\x10\0\0\0AVI LIST"s), 1));
  EXPECT_TRUE(announces_frames(file(mp4_box("ftyp", 32, "isom....moov")), 7));
  EXPECT_FALSE(announces_frames(file(mp4_box("ftyp", 32, "isom....moov")), 0));
  EXPECT_FALSE(announces_frames(file("RIFF\x10\0\0\0WEBP"s), 1));
}

TEST_F(Container, of_fragments_matroska_and_streams_does_not) {
  EXPECT_FALSE(announces_frames(file(mp4_box("ftyp", 32, "isom....moov....mvex")), 1));
  EXPECT_FALSE(announces_frames(file("\x1a\x45\xdf\xa3\x80"s), 1));
  EXPECT_FALSE(announces_frames(file("G\x40\x11"s), 1));
  EXPECT_FALSE(announces_frames(file(""), 1));
}

TEST_F(Container, of_avi_that_was_written_to_a_pipe_does_not_know_its_frames) {
  const std::string list = "AVI LIST" + std::string(160, '.');
  EXPECT_FALSE(announces_frames(file("RIFF\xff\xff\xff\xff" + list), 1 << 30));
  EXPECT_TRUE(announces_frames(file("RIFF\xff\xff\xff\xff" + list), 5));
  EXPECT_FALSE(announces_frames(file("RIFF\0\0\0\0"s + list), 1 << 30));
  EXPECT_TRUE(announces_frames(file("RIFF\0\0\1\0"s + list), 100));  // most of it is cut off
}

TEST_F(Container, of_mp4_says_that_its_frames_are_cut) {
  const std::string head = mp4_box("ftyp", 24, "isom............"), data(32, 'x');
  const auto whole = file(head + mp4_box("mdat", 8 + data.size(), data));
  EXPECT_EQ(announced_bytes(whole), std::nullopt);
  EXPECT_EQ(announced_bytes(file(head + mp4_box("moof", 1000, data))), head.size() + 1000);
  const std::string pair = mp4_box("moof", 8 + data.size(), data) + mp4_box("mdat", 500, data);
  EXPECT_EQ(announced_bytes(file(head + pair)), head.size() + 8 + data.size() + 500);
  const std::string longer = mp4_box("mdat", 1, "\0\0\0\1\0\0\0\0"s + data);
  EXPECT_EQ(announced_bytes(file(head + longer)), head.size() + 0x1'0000'0000);
}

TEST_F(Container, of_mp4_may_end_with_anything_else) {
  const std::string head = mp4_box("ftyp", 24, "isom............"), data(32, 'x');
  for (const std::string& rest :
       {mp4_box("free", 1000, data), mp4_box("mdat", 0, data), mp4_box("mdat", 3, data), data, ""s,
        mp4_box("mdat", 1, "\xff\xff\xff\xff\xff\xff\xff\xff" + data)})
    EXPECT_EQ(announced_bytes(file(head + rest)), std::nullopt);
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
