// Cameras: by their number, device or address.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "application/codecs/camera.h"
#include "application/codecs/codecs.h"
#include "application/codecs/opencv.h"
#include "application/source.h"
#include "base/error.h"
#include "base/text/masked.h"

namespace millrace::application {
namespace {

using CameraClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds shortest_pause{100}, longest_pause{5000};

/// Stays when the camera goes: it is opened again, after longer and longer pauses, until it gives
/// pictures or has been away for too long.
class CameraSource : public Source {
 public:
  explicit CameraSource(const Input& input)
      : input_(input),
        camera_(camera_of(input.path, input.place)),
        name_("camera " + masked_address(input.path)) {
    presence_ = std::make_shared<Presence>();
    if (connect()) return;
    throw EngineError(
        fmt::format("{}: the camera '{}' cannot be opened; look whether it is connected and "
                    "used by nobody else, and give its number, device or address",
                    input_.place, masked_address(input_.path)));
  }

  std::optional<Picture> next() override {
    VideoFrame frame;
    while (!read(frame))
      if (!come_back()) {
        ended_ = !presence()->is_over();
        return std::nullopt;
      }
    return picture_of(frame);
  }
  std::optional<Complaint> complaint() const override {
    if (!ended_) return std::nullopt;
    const std::string tried =
        input_.reconnect > Time{} && !reader_.has_end
            ? fmt::format(", and did not come back within {}", to_text(input_.reconnect))
            : "";
    return Complaint{name_,
                     fmt::format("gives no more pictures after {}{}; look whether it is still "
                                 "connected, and run again",
                                 read_, tried),
                     true};
  }
  double rate_fps() const override {
    constexpr double highest = 120;  // some streams give that of their clock
    return std::isfinite(rate_fps_) && rate_fps_ > 0 && rate_fps_ <= highest ? rate_fps_ : 0;
  }

 private:
  bool connect() {
    reader_ = {};  // a device is opened by one at a time
    try {
      reader_ = camera_.number
                    ? codecs().open_device(*camera_.number)
                    : codecs().open_address(
                          camera_.address, {input_.drop == Drop::oldest,
                                            std::chrono::ceil<std::chrono::milliseconds>(
                                                input_.watchdog),
                                            presence()->flag()});
    } catch (const cv::Exception&) {
      reader_ = {};
    }
    if (reader_.read) rate_fps_ = reader_.rate_fps;
    return reader_.read != nullptr;
  }
  bool read(VideoFrame& frame) {
    if (!reader_.read) return false;
    try {
      return reader_.read(frame) && !frame.image.empty() && frame.image.type() == CV_8UC3;
    } catch (const cv::Exception&) {
      return false;  // a frame that cannot be decoded ends the stream as a missing one does
    }
  }

  /// After a pause; false: it does not, or nobody wants it to. A file behind an address would begin
  /// again.
  bool come_back() {
    if (reader_.has_end) return false;
    const auto now = CameraClock::now();
    if (!away_since_) away_since_ = now;
    if (now - *away_since_ >= input_.reconnect) return false;
    if (!presence()->pause(pause_)) return false;
    pause_ = std::min(2 * pause_, longest_pause);
    connect();
    return !presence()->is_over();
  }

  Picture picture_of(VideoFrame& frame) {
    const auto now = CameraClock::now();
    const auto arrived = frame.arrived.value_or(now);
    Picture picture;
    picture.lag = frame.lag;
    picture.taken = arrived - frame.lag;
    picture.captured = std::chrono::system_clock::now() - (now - picture.taken);
    picture.due = arrived.time_since_epoch();
    picture.stamp = frame.time;
    if (away_since_ && last_) note_gap(picture, arrived - *last_);
    last_ = arrived;
    read_ += frame.skipped;
    picture.frame = read_++;
    picture.remark = frame.remark;
    picture.name = fmt::format("{} {}", name_, picture.frame);
    picture.image = from_bgr(frame.image);
    return picture;
  }
  void note_gap(Picture& picture, Time gap) {
    picture.gap = gap;
    away_since_.reset();
    pause_ = shortest_pause;
    presence()->note_gap(gap);
  }

  const Input input_;
  const Camera camera_;
  const std::string name_;
  VideoReader reader_;
  double rate_fps_ = 0;
  std::int64_t read_ = 0;
  bool ended_ = false;  // by itself
  std::optional<CameraClock::time_point> last_;        // when a picture arrived
  std::optional<CameraClock::time_point> away_since_;  // none: it gives pictures
  std::chrono::milliseconds pause_ = shortest_pause;
};

}  // namespace

std::unique_ptr<Source> open_camera(const Input& input) {
  return std::make_unique<CameraSource>(input);
}

}  // namespace millrace::application
