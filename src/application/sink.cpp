#include "application/sink.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <optional>

#include "application/codecs.h"
#include "application/opencv.h"
#include "base/error.h"
#include "base/file.h"

namespace millrace::application {
namespace {

namespace fs = std::filesystem;

constexpr double default_rate_fps = 25;

/// Far apart for labels that follow each other.
cv::Scalar colour_of(std::int64_t label) {
  constexpr std::int64_t step = 67;  // of 180 degrees
  const auto hue = static_cast<std::uint8_t>(((label % 180) * step) % 180);
  cv::Mat pixel(1, 1, CV_8UC3, cv::Scalar(hue, 200, 255));
  cv::cvtColor(pixel, pixel, cv::COLOR_HSV2BGR);
  const auto bgr = pixel.at<cv::Vec3b>(0, 0);
  return {static_cast<double>(bgr[0]), static_cast<double>(bgr[1]), static_cast<double>(bgr[2])};
}

std::string name_of(std::int64_t label, const std::vector<std::string>& labels) {
  const bool has_name = label >= 0 && label < static_cast<std::int64_t>(labels.size());
  return has_name ? labels[static_cast<std::size_t>(label)] : fmt::format("class {}", label);
}

void write_text(cv::Mat& image, const std::string& text, cv::Point at, const cv::Scalar& colour) {
  constexpr double scale = 0.5;
  int below = 0;
  const cv::Size size = cv::getTextSize(text, cv::FONT_HERSHEY_SIMPLEX, scale, 1, &below);
  at.x = std::clamp(at.x, 0, std::max(0, image.cols - size.width));
  at.y = std::clamp(at.y, size.height, std::max(size.height, image.rows - below));
  cv::rectangle(image, {at.x, at.y - size.height - 1, size.width, size.height + below + 1}, colour,
                cv::FILLED);
  cv::putText(image, text, at, cv::FONT_HERSHEY_SIMPLEX, scale, {0, 0, 0}, 1, cv::LINE_AA);
}

/// Within what a picture can show.
int pixel(double value) { return static_cast<int>(std::lround(std::clamp(value, -1e6, 1e6))); }

void draw(cv::Mat& image, const Findings& findings, const std::vector<std::string>& labels) {
  if (findings.detections)
    for (const Detection& d : *findings.detections) {
      const cv::Scalar colour = colour_of(d.label);
      const cv::Point corner(pixel(d.left), pixel(d.top));
      const cv::Point other(pixel(d.left + d.width), pixel(d.top + d.height));
      cv::rectangle(image, corner, other, colour, 2);
      write_text(image, fmt::format("{} {:.2f}", name_of(d.label, labels), d.probability), corner,
                 colour);
    }
  int line = 20;
  if (findings.classes)
    for (const Ranked& ranked : *findings.classes) {
      write_text(image, fmt::format("{} {:.3g}", name_of(ranked.label, labels), ranked.value),
                 {0, line}, {255, 255, 255});
      line += 20;
    }
}

const Image& image_of(const Outcome& outcome) {
  if (outcome.picture.image.empty())
    throw InputError(outcome.picture.name,
                     "is an array; only pictures can be drawn. Leave 'images' and 'video' out of "
                     "the output");
  return outcome.picture.image;
}

class JsonLines : public Sink {
 public:
  JsonLines(std::function<void(const std::string&)> write, const std::vector<std::string>& labels)
      : write_(std::move(write)), labels_(labels) {}
  void take(const Outcome& outcome) override { write_(json_line(outcome, labels_)); }

 private:
  std::function<void(const std::string&)> write_;
  std::vector<std::string> labels_;
};

class Pictures : public Sink {
 public:
  Pictures(const fs::path& folder, const std::vector<std::string>& labels)
      : folder_(folder), labels_(labels) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error || !fs::is_directory(folder))
      throw InputError(folder.string(), "cannot be made as a folder for pictures");
  }
  void take(const Outcome& outcome) override {
    cv::Mat image = to_bgr(image_of(outcome));
    draw(image, outcome.findings, labels_);
    fs::path name = outcome.picture.name;
    const bool has_ending = codecs().has_encoder(outcome.picture.name);
    if (!has_ending) name = fmt::format("{:06}.png", outcome.picture.frame);
    const std::vector<std::uint8_t> bytes = codecs().encode(name.extension().string(), image);
    write_file(folder_ / name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

 private:
  fs::path folder_;
  std::vector<std::string> labels_;
};

/// In four letters.
std::string codec_of(const fs::path& path) {
  const std::string ending = path.extension().string();
  if (ending == ".avi") return "MJPG";
  if (ending == ".mp4" || ending == ".mkv") return "mp4v";
  throw InputError(path.string(), "expected a video's name that ends in .avi, .mp4 or .mkv");
}

/// Written beside its place and renamed at the end.
class VideoFile : public Sink {
 public:
  VideoFile(const fs::path& path, double rate_fps, const std::vector<std::string>& labels)
      : path_(path),
        part_(path.parent_path() / (path.stem().string() + ".part" + path.extension().string())),
        codec_(codec_of(path)),
        rate_fps_(rate_fps > 0 ? rate_fps : default_rate_fps),
        labels_(labels) {
    check_writable(path);
  }
  ~VideoFile() override {
    writer_ = {};
    std::error_code ignored;
    fs::remove(part_, ignored);  // if it was not finished
  }
  void take(const Outcome& outcome) override {
    cv::Mat image = to_bgr(image_of(outcome));
    if (!size_) open(image.size());
    draw(image, outcome.findings, labels_);
    if (image.size() != *size_) cv::resize(image, image, *size_);  // pictures of several sizes
    writer_(image);
  }
  void finish() override {
    writer_ = {};
    if (!size_) return;
    std::error_code error;
    fs::rename(part_, path_, error);
    if (error) throw EngineError(fmt::format("{}: {}", path_.string(), error.message()));
  }

 private:
  void open(const cv::Size& size) {
    size_ = size;
    try {
      writer_ = codecs().create_video(part_.string(), {codec_, rate_fps_, size});
    } catch (const cv::Exception&) {
      writer_ = {};
    }
    if (!writer_)
      throw EngineError(
          fmt::format("{}: a video of {}x{} pixels cannot be written here; .avi needs "
                      "the least",
                      path_.string(), size.width, size.height));
  }

  fs::path path_, part_;
  std::string codec_;
  double rate_fps_;
  std::vector<std::string> labels_;
  std::optional<cv::Size> size_;
  VideoWriter writer_;
};

}  // namespace

Image drawn(const Outcome& outcome, const std::vector<std::string>& labels) {
  cv::Mat image = to_bgr(image_of(outcome));
  draw(image, outcome.findings, labels);
  return from_bgr(image);
}

std::unique_ptr<Sink> json_sink(std::function<void(const std::string&)> write,
                                const std::vector<std::string>& labels) {
  return std::make_unique<JsonLines>(std::move(write), labels);
}

std::unique_ptr<Sink> picture_sink(const std::filesystem::path& folder,
                                   const std::vector<std::string>& labels) {
  return std::make_unique<Pictures>(folder, labels);
}

std::unique_ptr<Sink> video_sink(const std::filesystem::path& path, double rate_fps,
                                 const std::vector<std::string>& labels) {
  return std::make_unique<VideoFile>(path, rate_fps, labels);
}

}  // namespace millrace::application
