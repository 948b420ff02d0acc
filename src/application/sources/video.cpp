// Videos and cameras.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "application/codecs/camera.h"
#include "application/codecs/codecs.h"
#include "application/codecs/container.h"
#include "application/codecs/opencv.h"
#include "application/codecs/video_time.h"
#include "application/source.h"
#include "base/error.h"
#include "base/text/masked.h"

namespace millrace::application {
namespace {

namespace fs = std::filesystem;

/// Some files count frames that are never shown.
bool is_short(std::int64_t read, std::int64_t announced) {
  return read < announced - std::max<std::int64_t>(1, announced / 100);
}

VideoReader open_camera(const Camera& camera, bool is_newest) {
  return camera.number ? codecs().open_device(*camera.number)
                       : codecs().open_address(camera.address, is_newest);
}

class VideoSource : public Source {
 public:
  explicit VideoSource(const Input& input)
      : input_(input), is_camera_(input.kind == InputKind::camera) {
    open();
    time_ = ReadingTime(rate_fps());
    if (!is_camera_ && announces_frames(input.path, reader_.frames)) announced_ = reader_.frames;
    name_ = is_camera_ ? "camera " + masked_address(input.path)
                       : fs::path(input.path).filename().string();
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
    set_times(picture, frame);
    read_ += frame.skipped;
    picture.frame = read_++;
    picture.remark = frame.remark;
    picture.name = fmt::format("{} {}", name_, picture.frame);
    picture.image = from_bgr(frame.image);
    return picture;
  }
  std::optional<Complaint> complaint() const override {
    if (!ended_) return std::nullopt;
    if (is_camera_)
      return Complaint{name_,
                       fmt::format("gives no more pictures after {}; look whether it is still "
                                   "connected, and run again",
                                   read_),
                       true};
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
    const double highest = is_camera_ ? 120 : 1e4;  // some streams give that of their clock
    return std::isfinite(rate) && rate > 0 && rate <= highest ? rate : 0;
  }

 private:
  void set_times(Picture& picture, const VideoFrame& frame) {
    const auto now = std::chrono::steady_clock::now();
    if (!is_camera_) {
      picture.taken = now;
      picture.time = picture.due = time_.next(frame.time);
      return;
    }
    const auto arrived = frame.arrived.value_or(now);
    picture.lag = frame.lag;
    picture.taken = arrived - frame.lag;
    picture.captured = std::chrono::system_clock::now() - (now - picture.taken);
    picture.due = arrived.time_since_epoch();
  }
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
    if (!is_camera_ && !fs::is_regular_file(input_.path, ignored))
      throw InputError(input_.place, fmt::format("'{}' is no file, expected a video", input_.path));
    try {
      reader_ = is_camera_ ? open_camera(camera_of(input_.path, input_.place),
                                         input_.drop == Drop::oldest)
                           : codecs().open_video(fs::absolute(input_.path).string());
    } catch (const cv::Exception&) {
      reader_ = {};
    }
    if (reader_.read) return;
    if (is_camera_)
      throw EngineError(
          fmt::format("{}: the camera '{}' cannot be opened; look whether it is connected and "
                      "used by nobody else, and give its number, device or address",
                      input_.place, masked_address(input_.path)));
    throw InputError(input_.path,
                     "cannot be opened as a video; it is damaged, of a format that is not known "
                     "here, or a list of other files, which are not read. Expected such as AVI, "
                     "MP4 or MKV");
  }

  Input input_;
  bool is_camera_;
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
