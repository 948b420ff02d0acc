#include "base/text/masked.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json_text.h"
#include "base/printable.h"

namespace millrace {
namespace {

TEST(masked_address, shows_neither_passwords_nor_tokens) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"rtsp://admin:secret@10.0.0.7:554/live?channel=1&subtype=0",
       "rtsp://***@10.0.0.7:554/live?channel=1&subtype=0"},
      {"rtsp://10.0.0.7:554/live", "rtsp://10.0.0.7:554/live"},
      {"rtsp://[fe80::1]:554/live", "rtsp://[fe80::1]:554/live"},
      {"RTSPS://secret@cam/", "RTSPS://***@cam/"},
      {"rtsp://admin:p@ss:w@cam/1", "rtsp://***@cam/1"},
      {"rtsp://admin:se/cr?et#@cam/1", "rtsp://***@cam/1"},
      {"rtsp://admin:it's@cam/1", "rtsp://***@cam/1"},
      {"rtsp://admin:se cret@cam/1", "rtsp://***@cam/1"},
      {"admin:secret@cam/1", "***@cam/1"},
      {"http://cam/v.mjpg?token=secret", "http://cam/v.mjpg?token=***"},
      {"http://cam/v?width=640&key=sec/r=et&password=secret;auth=x",
       "http://cam/v?width=640&key=***&password=***;auth=***"},
      {"http://cam/v?secret", "http://cam/v?***"},
      {"http://cam?X-Amz-Signature=secret#access_token=secret",
       "http://cam?X-Amz-Signature=***#***"},
      {"http://cam/v?stream=a-long-word-of-secrets", "http://cam/v?stream=***"},
      {"rtsp://cam/user=admin_password=secret_channel=1_stream=0.sdp?real_stream",
       "rtsp://cam/user=***?***"},
      {"rtsp://cam/live/user=admin&password=sec/ret&channel=2",
       "rtsp://cam/live/user=***&password=***&channel=2"},
      {"srt://cam:9000?mode=caller&passphrase=secret", "srt://cam:9000?mode=caller&passphrase=***"},
      {"http://cam/token/secret/live.m3u8", "http://cam/token/***/live.m3u8"},
      {"http://cam/v1/api_key/secret", "http://cam/v1/api_key/***"},
      {"http://cam/keys/1/monkey/2", "http://cam/keys/1/monkey/2"},
      {"/data/secret/drive.mp4", "/data/secret/drive.mp4"},
      {"/dev/video0", "/dev/video0"},
      {"0", "0"},
      {"", ""}};
  for (const auto& [address, shown] : cases) {
    EXPECT_EQ(masked_address(address), shown);
    EXPECT_EQ(masked_address(shown), shown);
  }
}

TEST(masked, finds_addresses_in_sentences) {
  EXPECT_EQ(masked("'rtsp://a:b@cam/1' and (http://cam/v?key=secret), not x:y."),
            "'rtsp://***@cam/1' and (http://cam/v?key=***), not x:y.");
  EXPECT_EQ(masked("/folder/http:/a:secret@cam/1"), "/folder/http:/***@cam/1");
  EXPECT_EQ(masked("a.yaml:3: layer b:/c"), "a.yaml:3: layer b:/c");
  EXPECT_EQ(masked("camera rtsp://a:b@cam 12"), "camera rtsp://***@cam 12");
}

TEST(masked, finds_what_is_unmistakable_without_a_scheme) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"no camera 'admin:secret@10.0.0.7:554/live'.", "no camera '***@10.0.0.7:554/live'."},
      {"admin:secret@cam/1 and a:secret@b.example", "***@cam/1 and ***@b.example"},
      {"camera=admin:secret@cam:554", "camera=***@cam:554"},
      {"admin:p@ss@cam/token/secret/live", "***@cam/token/***/live"},
      {"cam/live?width=640&access_token=secret&fps=5", "cam/live?width=640&access_token=***&fps=5"},
      {"x?Password=secret is wrong", "x?Password=*** is wrong"},
      {"x?api_key=secret&sig=secret#2", "x?api_key=***&sig=***#2"},
      // What is none.
      {"a.yaml: line 3: found 'x@y', not 5:3@7", "a.yaml: line 3: found 'x@y', not 5:3@7"},
      {"image:tag@sha256:12ab", "image:tag@sha256:12ab"},
      {"models/a:1@v2/net.onnx", "models/a:1@v2/net.onnx"},
      {"/home/me/token/net.onnx", "/home/me/token/net.onnx"},
      {"mailto: me@example.com", "mailto: me@example.com"},
      {"key=3 and ?width=3&monkey=2", "key=3 and ?width=3&monkey=2"}};
  for (const auto& [text, shown] : cases) {
    EXPECT_EQ(masked(text), shown);
    EXPECT_EQ(masked(shown), shown);
  }
}

TEST(masked, is_every_text_that_is_shown) {
  const std::string address = "rtsp://admin:secret@cam/1?token=secret";
  const std::string shown = "rtsp://***@cam/1?token=***";
  EXPECT_EQ(printable(address), shown);
  EXPECT_EQ(InputError(address, "is no camera").what(), shown + ": is no camera");
  EXPECT_EQ(std::string(EngineError("no '" + address + "'").what()), "no '" + shown + "'");
  EXPECT_NE(json_document("run", {{"inputs", {{{"name", address}}}}}, -1).find(shown),
            std::string::npos);
  const std::string long_one = "rtsp://admin:" + std::string(5000, 's') + "@cam/1";
  for (const std::string& place : {long_one, std::string(590, 'x') + " " + long_one})
    EXPECT_EQ(std::string(InputError(place, "is '" + long_one + "'").what()).find("sss"),
              std::string::npos);
}

}  // namespace
}  // namespace millrace
