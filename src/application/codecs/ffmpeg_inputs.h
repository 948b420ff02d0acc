#pragma once
// What FFmpeg may open for us. It knows formats that are lists of other files and addresses, such
// as play lists and scripts, and takes a file for one by its content, whatever its name.
#include <array>
#include <string>
#include <string_view>

namespace millrace::application {

/// Lists as FFmpeg's options of these names take them.
struct AllowedInputs {
  std::string protocol_whitelist, format_whitelist;
};

/// Formats that hold all their pictures themselves.
inline constexpr std::string_view video_formats =
    "avi,mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpegts,mpeg,mpegvideo,flv,live_flv,ogg,asf,asf_o,"
    "nut,"
    "ivf,obu,av1,h264,hevc,h263,h261,m4v,vc1,dirac,mjpeg,mjpeg_2000,mpjpeg,yuv4mpegpipe,dv,mxf,gxf,"
    "wtv,rm,gif,apng,cavsvideo,avs2,avs3,dhav,nsv,nuv,swf,ingenient";

inline AllowedInputs allowed_for_files() { return {"file", std::string(video_formats)}; }

/// By the scheme; of one that no camera has, nothing. Play lists only over HTTP, where FFmpeg lets
/// them name nothing but HTTP.
inline AllowedInputs allowed_for_address(std::string_view address) {
  struct Scheme {
    std::string_view name, protocols, formats;
  };
  constexpr std::string_view http = "http,https,httpproxy,tcp,tls,crypto,data";
  constexpr std::string_view lists = ",hls,dash,aac,mp3,ac3,eac3,webvtt";
  constexpr std::string_view rtsp = "rtp,srtp,udp,tcp,tls,http,https,httpproxy";
  constexpr std::string_view rtmp =
      "rtmp,rtmpe,rtmps,rtmpt,rtmpte,rtmpts,ffrtmphttp,ffrtmpcrypt,http,https,tcp,tls";
  static constexpr std::array<Scheme, 10> schemes{{{"http", http, lists},
                                                   {"https", http, lists},
                                                   {"rtsp", rtsp, ",rtsp"},
                                                   {"rtsps", rtsp, ",rtsp"},
                                                   {"rtmp", rtmp, ""},
                                                   {"rtmps", rtmp, ""},
                                                   {"rtp", "rtp,srtp,udp", ",rtp"},
                                                   {"tcp", "tcp", ""},
                                                   {"udp", "udp", ""},
                                                   {"srt", "srt", ""}}};
  const std::string_view scheme = address.substr(0, address.find("://"));
  for (const Scheme& each : schemes)
    if (each.name == scheme)
      return {std::string(each.protocols),
              std::string(video_formats) + std::string(each.formats)};
  return {};
}

}  // namespace millrace::application
