// Videos in files.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "application/codecs/codecs.h"
#include "application/codecs/container.h"
#include "application/codecs/opencv.h"
#include "application/codecs/video_time.h"
#include "application/source.h"
#include "base/error.h"

namespace millrace::application {
namespace {

namespace fs = std::filesystem;

/// Some files count frames that are never shown.
bool is_short(std::int64_t read, std::int64_t announced) {
  return read < announced - std::max<std::int64_t>(1, announced / 100);
}

class VideoSource : public Source {
 public:
  explicit VideoSource(const Input& input)
      : input_(input), name_(fs::path(input.path).filename().string()) {
    open();
    time_ = ReadingTime(rate_fps());
    if (announces_frames(input.path, reader_.frames)) announced_ = reader_.frames;
  }

  std::optional<Picture> next() override {
    VideoFrame frame;
    bool is_there = false;
    try {
      is_there = reader_.read(frame) && !frame.image.empty();
    } catch (const cv::Exception&) {
      is_there = false;  // a frame that cannot be decoded ends the stream as a missing one does
    }
    if (!is_there || frame.image.type() != CV_8UC3) {
      ended_ = true;
      return std::nullopt;
    }
    Picture picture;
    picture.taken = std::chrono::steady_clock::now();
    picture.time = picture.due = time_.next(frame.time);
    picture.frame = read_++;
    picture.remark = frame.remark;
    picture.name = fmt::format("{} {}", name_, picture.frame);
    picture.image = from_bgr(frame.image);
    return picture;
  }
  std::optional<Complaint> complaint() const override {
    if (!ended_) return std::nullopt;
    if (read_ == 0)
      return Complaint{input_.path,
                       "holds no frame that can be decoded; it is damaged, or of a format that is "
                       "not known here"};
    const std::string found = missing();
    if (found.empty()) return std::nullopt;
    return Complaint{input_.path, fmt::format("ended after {}; it is damaged or incomplete, and "
                                              "only those frames were used",
                                              found)};
  }
  std::optional<std::int64_t> count() const override { return announced_; }
  double rate_fps() const override {
    const double rate = reader_.rate_fps;
    constexpr double highest = 1e4;
    return std::isfinite(rate) && rate > 0 && rate <= highest ? rate : 0;
  }

 private:
  /// What lacks at the end of a file; empty: nothing, as far as the file says.
  std::string missing() const {
    if (announced_) {
      if (!is_short(read_, *announced_)) return {};
      return fmt::format("{} of the {} frames that it announces", read_, *announced_);
    }
    std::error_code error;
    const std::uint64_t size = fs::file_size(input_.path, error);
    const auto bytes = announced_bytes(input_.path);
    if (error || !bytes || size >= *bytes) return {};
    return fmt::format("{} frames, because it has {} of the {} bytes that it announces", read_,
                       size, *bytes);
  }
  void open() {
    std::error_code ignored;
    if (!fs::is_regular_file(input_.path, ignored))
      throw InputError(input_.place, fmt::format("'{}' is no file, expected a video", input_.path));
    try {
      reader_ = codecs().open_video(fs::absolute(input_.path).string());
    } catch (const cv::Exception&) {
      reader_ = {};
    }
    if (reader_.read) return;
    throw InputError(input_.path,
                     "cannot be opened as a video; it is damaged, of a format that is not known "
                     "here, or a list of other files, which are not read. Expected such as AVI, "
                     "MP4 or MKV");
  }

  Input input_;
  std::string name_;
  VideoReader reader_;
  ReadingTime time_{0};
  std::optional<std::int64_t> announced_;
  std::int64_t read_ = 0;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<Source> open_video(const Input& input) {
  return std::make_unique<VideoSource>(input);
}

}  // namespace millrace::application
