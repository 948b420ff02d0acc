#include "application/codecs/frame_conversion.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "application/codecs/frame_colours.h"
#include "application/codecs/picture_size.h"

namespace millrace::application {
namespace {

constexpr int one = 1 << 16;  // as swscale counts brightness, contrast and saturation

bool is_rgb(const AVFrame& frame) {
  const auto* const format = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  return format == nullptr || (format->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL)) != 0;
}

bool is_ycgco(const AVFrame& frame) { return !is_rgb(frame) && colour_matrix_of(frame).is_ycgco; }

/// `planes`: luma, green's and orange's difference, of the full or the limited range.
/// (H.273, equations 47 to 49)
cv::Mat from_ycgco(const std::array<cv::Mat, 3>& planes, bool is_full) {
  const float scale_y = is_full ? 1.0F : 255.0F / 219, scale_c = is_full ? 1.0F : 255.0F / 224;
  const float black = is_full ? 0.0F : 16.0F;
  cv::Mat image(planes[0].size(), CV_8UC3);
  for (int row = 0; row < image.rows; ++row) {
    const auto* const luma = planes[0].ptr<std::uint8_t>(row);
    const auto* const green = planes[1].ptr<std::uint8_t>(row);
    const auto* const orange = planes[2].ptr<std::uint8_t>(row);
    auto* const out = image.ptr<cv::Vec3b>(row);
    for (int x = 0; x < image.cols; ++x) {
      const float y = (static_cast<float>(luma[x]) - black) * scale_y;
      const float cg = (static_cast<float>(green[x]) - 128) * scale_c;
      const float co = (static_cast<float>(orange[x]) - 128) * scale_c;
      out[x] = {cv::saturate_cast<std::uint8_t>(y - cg - co),
                cv::saturate_cast<std::uint8_t>(y + cg),
                cv::saturate_cast<std::uint8_t>(y - cg + co)};
    }
  }
  return image;
}

bool is_full_range(SwsContext* scaler, AVColorRange said) {
  if (said != AVCOL_RANGE_UNSPECIFIED) return said == AVCOL_RANGE_JPEG;
  int *from = nullptr, *to = nullptr;
  int is_full = 0, to_full = 0, brightness = 0, contrast = 0, saturation = 0;
  sws_getColorspaceDetails(scaler, &from, &is_full, &to, &to_full, &brightness, &contrast,
                           &saturation);
  return is_full != 0;
}

}  // namespace

cv::Size square_size(const cv::Size& stored, AVRational pixel_aspect) {
  constexpr double longest = 16;
  if (pixel_aspect.num <= 0 || pixel_aspect.den <= 0) return stored;
  const double aspect = av_q2d(pixel_aspect);
  if (aspect > longest || aspect < 1 / longest) return stored;
  const auto stretched = [](int length, double by) {
    return static_cast<int>(std::lround(length * by));
  };
  const cv::Size size = aspect > 1 ? cv::Size(stretched(stored.width, aspect), stored.height)
                                   : cv::Size(stored.width, stretched(stored.height, 1 / aspect));
  const auto columns = static_cast<std::uint64_t>(size.width);
  return columns * static_cast<std::uint64_t>(size.height) > most_pixels ? stored : size;
}

bool FrameConversion::prepare(const AVFrame& frame, const Key& key) {
  if (scaler_ && key == key_) return true;
  key_ = key;
  const auto format = static_cast<AVPixelFormat>(key.format);
  scaler_.reset(sws_getContext(key.from.width, key.from.height, format, key.size.width,
                               key.size.height, static_cast<AVPixelFormat>(key.to), SWS_BICUBIC,
                               nullptr, nullptr, nullptr));
  if (!scaler_) return false;
  const ColourMatrix matrix = colour_matrix_of(frame);
  const int is_full = is_full_range(scaler_.get(), key.range) ? 1 : 0;
  const int to_full = key.to == AV_PIX_FMT_BGR24 ? 1 : is_full;
  sws_setColorspaceDetails(scaler_.get(), matrix.coefficients.data(), is_full,
                           sws_getCoefficients(SWS_CS_DEFAULT), to_full, 0, one, one);
  return true;
}

cv::Mat FrameConversion::convert(const AVFrame& frame, AVRational pixel_aspect) {
  const cv::Size from(frame.width, frame.height), size = square_size(from, pixel_aspect);
  const bool has_planes = is_ycgco(frame);
  const Key key{frame.format,     has_planes ? AV_PIX_FMT_YUV444P : AV_PIX_FMT_BGR24,
                from,             size,
                frame.colorspace, frame.color_primaries,
                frame.color_range};
  if (!prepare(frame, key)) return {};
  // Vector code of the scaler writes whole vectors, beyond the end of a row.
  constexpr int spare = 64;
  const int columns = (size.width + spare) / spare * spare;
  const auto rows_of = [&](int type) { return cv::Mat(size.height + 1, columns, type); };
  std::array<cv::Mat, 3> planes{rows_of(has_planes ? CV_8UC1 : CV_8UC3)};
  if (has_planes) planes[1] = rows_of(CV_8UC1), planes[2] = rows_of(CV_8UC1);
  std::array<std::uint8_t*, 4> data{};
  std::array<int, 4> strides{};
  for (std::size_t i = 0; i < planes.size() && !planes[i].empty(); ++i) {
    data[i] = planes[i].data;
    strides[i] = static_cast<int>(planes[i].step[0]);
  }
  if (sws_scale(scaler_.get(), frame.data, frame.linesize, 0, from.height, data.data(),
                strides.data()) != size.height)
    return {};
  for (cv::Mat& plane : planes)
    if (!plane.empty()) plane = plane(cv::Rect({0, 0}, size));
  if (!has_planes) return planes[0];
  return from_ycgco(planes, is_full_range(scaler_.get(), frame.color_range));
}

std::string remark_on(const AVFrame& frame) {
#ifdef AV_FRAME_FLAG_INTERLACED
  const bool is_interlaced = (frame.flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
  const bool is_interlaced = frame.interlaced_frame != 0;
#endif
  if (is_interlaced)
    return "is interlaced: each frame shows two moments, a row of each in turn, and what moves has "
           "torn edges; record without, or deinterlace the video";
  if (frame.color_trc == AVCOL_TRC_SMPTE2084 || frame.color_trc == AVCOL_TRC_ARIB_STD_B67)
    return "has a high dynamic range (PQ or HLG), which is not converted: pictures look pale, and "
           "a network may find less";
  if (!is_rgb(frame) && !colour_matrix_of(frame).is_understood)
    return "has a matrix of colours that is not known here; its colours may be wrong";
  return {};
}

}  // namespace millrace::application
