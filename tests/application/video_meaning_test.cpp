// What a video's file says of its frames: colours, shape of pixels, fields. Expected colours are
// computed from the formulas of ITU-T H.273.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "application/codecs/codecs.h"
#include "application/source.h"
#include "base/error.h"
#include "base/file.h"
#include "raw_matroska.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace millrace::application {
namespace {

using Rgb = std::array<double, 3>;

class VideoMeaning : public testing::Test {
 protected:
  std::unique_ptr<Source> opened(const std::string& name, const std::string& content) const {
    write_file(folder_ / name, content);
    Input input;
    input.kind = InputKind::video;
    input.path = (folder_ / name).string();
    return open_video(input);
  }
  Picture first_of(const test::RawVideo& video) const {
    const auto picture = opened("clip.mkv", test::raw_matroska(video))->next();
    EXPECT_TRUE(picture);
    return picture.value_or(Picture{});
  }
  test::TemporaryFolder folder_;
};

struct Weights {
  int matrix = 0;
  double red = 0, blue = 0;
  std::optional<int> primaries = {};
};

/// Table 4 of H.273; chroma-derived (12) with the white and the primaries of table 2.
const std::vector<Weights> weights{
    {1, 0.2126, 0.0722},     {4, 0.30, 0.11},         {5, 0.299, 0.114},
    {6, 0.299, 0.114},       {7, 0.212, 0.087},       {9, 0.2627, 0.0593},
    {2, 0.299, 0.114},       {12, 0.2126, 0.0722, 1}, {12, 0.2627, 0.0593, 9},
    {12, 0.2290, 0.0793, 12}};

Rgb clipped(Rgb colour) {
  for (double& each : colour) each = std::clamp(each, 0.0, 255.0);
  return colour;
}

/// `code`: luma and the differences, with `bits`.
Rgb differences_of(const std::array<int, 3>& code, bool is_full, int bits) {
  const double step = 1 << (bits - 8), most = (1 << bits) - 1;
  const double black = is_full ? 0 : 16 * step;
  const double luma = is_full ? most : 219 * step, colour = is_full ? most : 224 * step;
  return {(code[0] - black) / luma, (code[1] - 128 * step) / colour,
          (code[2] - 128 * step) / colour};
}

Rgb colour_by(const Weights& by, const Rgb& y) {
  const double red = y[0] + 2 * (1 - by.red) * y[2], blue = y[0] + 2 * (1 - by.blue) * y[1];
  const double green = (y[0] - by.red * red - by.blue * blue) / (1 - by.red - by.blue);
  return clipped({255 * red, 255 * green, 255 * blue});
}

void expect_colour(const Picture& picture, const Rgb& expected) {
  const auto bytes = picture.image.bytes();
  const std::size_t middle = (bytes.size() / 3 / 2 + 8) * 3;
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(bytes[middle + i], expected[i], 3.5) << i;
}

const std::vector<std::array<int, 3>> codes{{128, 128, 128}, {60, 100, 180}, {150, 90, 120},
                                            {90, 170, 110},  {200, 120, 140}};

test::RawVideo flat(const std::array<int, 3>& code, int bits) {
  const auto plane = [&](int value, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      text += static_cast<char>(value & 0xff);
      if (bits > 8) text += static_cast<char>(value >> 8);
    }
    return text;
  };
  test::RawVideo video;
  if (bits > 8) video.format = "Y3\x0b\x0a";
  video.planes = plane(code[0], 256) + plane(code[1], 64) + plane(code[2], 64);
  return video;
}

/// What a file says: the matrix, the range (not said, limited, full) and the depth.
struct Said {
  Weights by;
  int range = 0, bits = 8;
};

std::vector<Said> all_that_files_say() {
  std::vector<Said> all;
  for (const Weights& by : weights)
    for (const int range : {0, 1, 2})
      for (const int bits : {8, 10}) all.push_back({by, range, bits});
  return all;
}

TEST_F(VideoMeaning, colours_are_those_of_its_matrix_and_its_range) {
  for (const Said& said : all_that_files_say())
    for (std::array<int, 3> code : codes) {
      for (int& each : code) each <<= said.bits - 8;
      test::RawVideo video = flat(code, said.bits);
      video.matrix = said.by.matrix;
      video.primaries = said.by.primaries;
      video.range = said.range;
      SCOPED_TRACE(testing::Message() << said.by.matrix << ' ' << said.range << ' ' << said.bits);
      expect_colour(first_of(video),
                    colour_by(said.by, differences_of(code, said.range == 2, said.bits)));
    }
}

TEST_F(VideoMeaning, colours_without_a_matrix_are_of_bt_601) {
  for (const auto& code : codes)
    expect_colour(first_of(flat(code, 8)), colour_by(weights[2], differences_of(code, false, 8)));
}

TEST_F(VideoMeaning, colours_may_be_green_and_orange_differences) {
  for (const int range : {1, 2})
    for (const auto& code : codes) {
      test::RawVideo video = flat(code, 8);
      video.matrix = 8;
      video.range = range;
      const Rgb y = differences_of(code, range == 2, 8);
      expect_colour(first_of(video), clipped({255 * (y[0] - y[1] + y[2]), 255 * (y[0] + y[1]),
                                              255 * (y[0] - y[1] - y[2])}));
    }
}

TEST_F(VideoMeaning, pixels_become_square_and_none_is_lost) {
  struct Case {
    int shown_width, shown_height, width, height;
  };
  const std::vector<Case> cases{{16, 16, 16, 16}, {32, 16, 32, 16}, {16, 32, 16, 32},
                                {64, 48, 21, 16}, {3, 4, 16, 21},   {16'000, 16, 16, 16}};
  for (const Case& each : cases) {
    test::RawVideo video = flat(codes[1], 8);
    video.shown_width = each.shown_width;
    video.shown_height = each.shown_height;
    const Picture picture = first_of(video);
    EXPECT_EQ(picture.image.width, each.width) << each.shown_width;
    EXPECT_EQ(picture.image.height, each.height) << each.shown_height;
    expect_colour(picture, colour_by(weights[2], differences_of(codes[1], false, 8)));
  }
}

TEST_F(VideoMeaning, what_a_network_may_stumble_over_is_said) {
  test::RawVideo video = flat(codes[1], 8);
  EXPECT_EQ(first_of(video).remark, "");
  video.is_interlaced = true;
  EXPECT_NE(first_of(video).remark.find("is interlaced"), std::string::npos);
  video.is_interlaced = false;
  video.transfer = 16;
  EXPECT_NE(first_of(video).remark.find("high dynamic range"), std::string::npos);
  video.transfer = 1;
  video.matrix = 14;
  EXPECT_NE(first_of(video).remark.find("not known here"), std::string::npos);
}

TEST_F(VideoMeaning, a_list_of_other_files_is_no_video) {
  const VideoWriter write =
      codecs().create_video((folder_ / "clip.mp4").string(), {"mp4v", 25, {64, 48}});
  write(cv::Mat(48, 64, CV_8UC3, cv::Scalar(0, 0, 255)));
  const std::string clip = (folder_ / "clip.mp4").string();
  const std::vector<std::string> lists{
      "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nclip.mp4\n#EXT-X-ENDLIST\n",
      "ffconcat version 1.0\nfile clip.mp4\n",
      "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\n"
      "m=video 5004 RTP/AVP 96\na=rtpmap:96 H264/90000\n",
      "<?xml version=\"1.0\"?>\n<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" type=\"static\" "
      "mediaPresentationDuration=\"PT1S\" profiles=\"urn:mpeg:dash:profile:isoff-on-demand:2011\">"
      "<Period><AdaptationSet mimeType=\"video/mp4\"><Representation id=\"1\" bandwidth=\"1\" "
      "width=\"64\" height=\"48\"><BaseURL>clip.mp4</BaseURL></Representation></AdaptationSet>"
      "</Period></MPD>\n"};
  for (const std::string& list : lists)
    for (const char* name : {"v.avi", "v.m3u8"})
      EXPECT_NE(test::message_of([&] { opened(name, list); }).find("a list of other files"),
                std::string::npos)
          << list;
}

}  // namespace
}  // namespace millrace::application
