#include "application/codecs/jpeg.h"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdio>  // jpeglib.h needs it

#include <jpeglib.h>

#include <jerror.h>

#include "application/codecs/picture_size.h"

namespace millrace::application {
namespace {

/// A block of 64 pixels takes a bit at least, where Huffman's codes are used. A component that has
/// all columns has a quarter of the rows at least.
constexpr std::uint64_t most_pixels_of_byte = std::uint64_t{8} * 64 * 4;
constexpr int exif_marker = JPEG_APP0 + 1;

/// One file. libjpeg's functions leave by longjmp when they fail, so everything that has a
/// destructor is a member, and no function between them and run() has such variables.
class JpegReading {
 public:
  JpegReading(std::string_view bytes, bool grey) : bytes_(bytes), grey_(grey) {
    jpeg_.err = jpeg_std_error(&errors_);
    jpeg_.client_data = this;
    errors_.error_exit = [](j_common_ptr jpeg) { std::longjmp(of(jpeg).failed_, 1); };
    errors_.emit_message = [](j_common_ptr jpeg, int level) {
      if (level < 0) of(jpeg).take_warning();
    };
    errors_.output_message = [](j_common_ptr) {};
  }
  JpegReading(const JpegReading&) = delete;
  JpegReading& operator=(const JpegReading&) = delete;
  ~JpegReading() { jpeg_destroy_decompress(&jpeg_); }

  DecodedJpeg result() {
    DecodedJpeg decoded;
    if (run()) decoded.image = jpeg_.num_components == 4 ? from_cmyk() : pixels_;
    decoded.exif = exif_;
    decoded.pixels = announced_;
    // A file that only lacks the marker of its end has all that is shown.
    decoded.is_damaged = is_damaged_ || (lacks_end_ && (decoded.image.empty() || lacks_scans_));
    return decoded;
  }

 private:
  static JpegReading& of(j_common_ptr jpeg) {
    return *static_cast<JpegReading*>(jpeg->client_data);
  }

  bool run() {
    if (setjmp(failed_) != 0) return false;
    return decode();
  }
  bool decode() {
    jpeg_create_decompress(&jpeg_);
    jpeg_save_markers(&jpeg_, exif_marker, 0xffff);
    jpeg_mem_src(&jpeg_, reinterpret_cast<const unsigned char*>(bytes_.data()),
                 static_cast<unsigned long>(bytes_.size()));
    jpeg_read_header(&jpeg_, TRUE);
    find_exif();
    const std::uint64_t pixels = std::uint64_t{jpeg_.image_width} * jpeg_.image_height;
    announced_ = pixels;
    is_damaged_ = jpeg_.arith_code == FALSE && pixels / most_pixels_of_byte > bytes_.size();
    if (is_damaged_ || pixels > most_pixels) return false;
    const bool is_cmyk = jpeg_.num_components == 4;
    jpeg_.out_color_space = is_cmyk ? JCS_CMYK : grey_ ? JCS_GRAYSCALE : JCS_EXT_BGR;
    jpeg_start_decompress(&jpeg_);
    pixels_.create(static_cast<int>(jpeg_.output_height), static_cast<int>(jpeg_.output_width),
                   CV_8UC(is_cmyk ? 4
                          : grey_ ? 1
                                  : 3));
    while (jpeg_.output_scanline < jpeg_.output_height) {
      JSAMPROW row = pixels_.ptr(static_cast<int>(jpeg_.output_scanline));
      jpeg_read_scanlines(&jpeg_, &row, 1);
    }
    lacks_scans_ = lacks_scans();
    jpeg_finish_decompress(&jpeg_);
    return true;
  }

  void find_exif() {
    constexpr std::string_view name{"Exif\0\0", 6};
    for (auto marker = jpeg_.marker_list; marker != nullptr; marker = marker->next) {
      const std::string_view data{reinterpret_cast<const char*>(marker->data), marker->data_length};
      if (exif_.empty() && data.starts_with(name)) exif_ = data;
    }
  }

  /// Whether a component, or a step of a progressive file, never came.
  bool lacks_scans() const {
    for (int i = 0; i < jpeg_.num_components; ++i) {
      if (jpeg_.comp_info[i].quant_table == nullptr) return true;
      if (jpeg_.progressive_mode == FALSE || jpeg_.coef_bits == nullptr) continue;
      const auto& bits = jpeg_.coef_bits[i];  // that are still to come; -1: all
      if (std::any_of(std::begin(bits), std::end(bits), [](int left) { return left != 0; }))
        return true;
    }
    return false;
  }

  void take_warning() {
    switch (errors_.msg_code) {
      case JWRN_HIT_MARKER:     // the data of a scan ends too early
      case JWRN_HUFF_BAD_CODE:  // no picture was ever coded so
      case JWRN_ARITH_BAD_CODE:
      case JWRN_MUST_RESYNC:  // a restart is missing
        is_damaged_ = true;
        break;
      case JWRN_EXTRANEOUS_DATA:
        // Where noise is among the data, the decoder often has all blocks before the data ends.
        if (jpeg_.input_scan_number > 0 && !is_padding()) is_damaged_ = true;
        break;
      case JWRN_JPEG_EOF:
        lacks_end_ = true;
        break;
      default:  // odd, but nothing is lost
        break;
    }
  }
  /// Whether the bytes passed over behind a scan are padding: some cameras fill up with one value.
  bool is_padding() const {
    const auto* const begin = reinterpret_cast<const unsigned char*>(bytes_.data());
    const auto* const end = jpeg_.src->next_input_byte;
    if (end < begin || end > begin + bytes_.size()) return false;
    const auto count = std::min<std::ptrdiff_t>(errors_.msg_parm.i[0], end - begin);
    return std::all_of(end - count, end, [&](unsigned char byte) { return byte == end[-1]; });
  }

  /// As OpenCV's decoder does. Such files hold the inverse of ink.
  cv::Mat from_cmyk() const {
    cv::Mat image(pixels_.size(), CV_8UC(grey_ ? 1 : 3));
    for (int y = 0; y < image.rows; ++y)
      for (int x = 0; x < image.cols; ++x) {
        const auto& ink = pixels_.at<cv::Vec4b>(y, x);
        std::array<int, 3> rgb{};
        for (int i = 0; i < 3; ++i)
          rgb[static_cast<std::size_t>(i)] = ink[3] - ((255 - ink[i]) * ink[3] >> 8);
        const auto [red, green, blue] = rgb;
        if (grey_)
          image.at<std::uint8_t>(y, x) =
              static_cast<std::uint8_t>((red * 4899 + green * 9617 + blue * 1868 + 8192) >> 14);
        else
          image.at<cv::Vec3b>(y, x) = {static_cast<std::uint8_t>(blue),
                                       static_cast<std::uint8_t>(green),
                                       static_cast<std::uint8_t>(red)};
      }
    return image;
  }

  std::string_view bytes_;
  bool grey_;
  jpeg_decompress_struct jpeg_{};
  jpeg_error_mgr errors_{};
  std::jmp_buf failed_{};
  cv::Mat pixels_;
  std::string exif_;
  std::uint64_t announced_ = 0;
  bool is_damaged_ = false, lacks_end_ = false, lacks_scans_ = false;
};

}  // namespace

DecodedJpeg decode_jpeg(std::string_view bytes, bool grey) {
  return JpegReading(bytes, grey).result();
}

}  // namespace millrace::application
