#include "application/sink.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <opencv2/imgproc.hpp>
#include <optional>

#include "application/codecs/codecs.h"
#include "application/codecs/opencv.h"
#include "application/codecs/video_time.h"
#include "application/drawing/drawing.h"
#include "base/error.h"
#include "base/file.h"
#include "base/temporary.h"

namespace millrace::application {
namespace {

namespace fs = std::filesystem;

constexpr double default_rate_fps = 25;

const Image& image_of(const Outcome& outcome) {
  if (outcome.picture.image.empty())
    throw InputError(outcome.picture.name,
                     "is an array; only pictures can be drawn. Leave 'images' and 'video' out of "
                     "the output");
  return outcome.picture.image;
}

class JsonLines : public Sink {
 public:
  JsonLines(std::function<void(const std::string&)> write, const Labels& labels)
      : write_(std::move(write)), labels_(labels) {}
  void take(const Outcome& outcome) override { write_(json_line(outcome, labels_)); }
  void use(const Labels& labels) override { labels_ = labels; }

 private:
  std::function<void(const std::string&)> write_;
  Labels labels_;
};

/// Endings of formats that have an encoder, but none for pictures in colour with 8 bits.
bool takes_no_colour(const fs::path& name) {
  constexpr std::array<std::string_view, 5> endings{".pgm", ".pbm", ".pfm", ".exr", ".hdr"};
  std::string ending = name.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(endings.begin(), endings.end(), ending) != endings.end();
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder))
    throw InputError(folder.string(), "cannot be made as a folder for pictures");
  sweep_temporaries(folder);
}

class Pictures : public Sink {
 public:
  Pictures(const fs::path& folder, const Labels& labels)
      : folder_(folder), labels_(labels) {
    make_folder(folder);
  }
  void take(const Outcome& outcome) override {
    cv::Mat image = to_bgr(image_of(outcome));
    draw(image, outcome.findings, labels_);
    const fs::path name = picture_file_name(outcome.picture.name, outcome.picture.frame);
    const std::vector<std::uint8_t> bytes = codecs().encode(name.extension().string(), image);
    write_file(folder_ / name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  void use(const Labels& labels) override { labels_ = labels; }

 private:
  fs::path folder_;
  Labels labels_;
};

/// One byte for each pixel: its class.
class Maps : public Sink {
 public:
  explicit Maps(const fs::path& folder) : folder_(folder) { make_folder(folder); }
  void take(const Outcome& outcome) override {
    if (!outcome.findings.map) return;
    const ClassMap& map = *outcome.findings.map;
    const cv::Mat image(static_cast<int>(map.height), static_cast<int>(map.width), CV_8UC1,
                        const_cast<std::uint8_t*>(map.classes.data()));  // it is only read
    const fs::path name = map_file_name(outcome.picture.name, outcome.picture.frame);
    const std::vector<std::uint8_t> bytes = codecs().encode(".png", image);
    write_file(folder_ / name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

 private:
  fs::path folder_;
};

/// In four letters.
std::string codec_of(const fs::path& path) {
  const std::string ending = path.extension().string();
  if (ending == ".avi") return "MJPG";
  if (ending == ".mp4" || ending == ".mkv") return "mp4v";
  throw InputError(path.string(), "expected a video's name that ends in .avi, .mp4 or .mkv");
}

/// Frames that can be read from the file.
std::int64_t frames_in(const std::string& path) {
  std::int64_t frames = 0;
  try {
    const VideoReader reader = codecs().open_video(path);
    for (VideoFrame frame; reader.read && reader.read(frame) && !frame.image.empty();) ++frames;
  } catch (const cv::Exception&) {
    return frames;
  }
  return frames;
}

/// Written beside its place, and renamed at the end if all frames are in it.
class VideoFile : public Sink {
 public:
  VideoFile(const fs::path& path, double rate_fps, const Labels& labels)
      : path_(path),
        codec_(codec_of(path)),
        rate_fps_(rate_fps > 0 ? rate_fps : default_rate_fps),
        time_(rate_fps_),
        labels_(labels) {
    check_writable(path);
  }
  void take(const Outcome& outcome) override {
    const auto repeats = time_.repeats_before(outcome.picture.due);
    if (!repeats) return;
    cv::Mat image = to_bgr(image_of(outcome));
    if (!size_) open(image.size());
    draw(image, outcome.findings, labels_);
    if (image.size() != *size_) cv::resize(image, image, *size_);  // pictures of several sizes
    show_last(*repeats);
    last_ = image;
    show_last(1);
  }
  void use(const Labels& labels) override { labels_ = labels; }
  void show_until(const Time& due) override {
    if (!writer_) return;
    if (const auto repeats = time_.repeats_before(due)) show_last(*repeats + 1);
  }
  /// The writer says nothing of a full disk, so the file is read.
  void finish() override {
    writer_ = {};
    if (!part_ || written_ == 0) return;
    const std::int64_t kept = frames_in(part_path());
    if (kept < written_)
      throw EngineError(
          fmt::format("{}: cannot be written: the file took {} of {} frames; look whether the disk "
                      "is full, or take another format",
                      path_.string(), kept, written_));
    part_->rename();
  }

 private:
  void show_last(std::int64_t times) {
    for (std::int64_t i = 0; i < times; ++i) writer_(last_);
    written_ += times;
  }
  /// Absolute: FFmpeg takes what stands before a colon for a protocol.
  std::string part_path() const { return fs::absolute(part_->path()).string(); }
  void open(const cv::Size& size) {
    part_.emplace(target_of(path_), path_.extension().string());
    try {
      writer_ = codecs().create_video(part_path(), {codec_, rate_fps_, size, true});
    } catch (const cv::Exception&) {
      writer_ = {};
    }
    if (!writer_) {
      part_.reset();
      throw EngineError(
          fmt::format("{}: a video of {}x{} pixels cannot be written here; .avi needs "
                      "the least",
                      path_.string(), size.width, size.height));
    }
    size_ = size;
  }

  fs::path path_;
  std::string codec_;
  double rate_fps_;
  WritingTime time_;
  Labels labels_;
  std::optional<cv::Size> size_;
  cv::Mat last_;
  std::int64_t written_ = 0;
  std::optional<TemporaryFile> part_;  // before the writer, which is gone first
  VideoWriter writer_;
};

}  // namespace

std::string picture_file_name(const std::string& source, std::int64_t frame) {
  if (!codecs().has_encoder(source)) return fmt::format("{:06}.png", frame);
  return takes_no_colour(source) ? source + ".png" : source;
}

std::string map_file_name(const std::string& source, std::int64_t frame) {
  if (!codecs().has_encoder(source)) return fmt::format("{:06}.png", frame);
  return source.ends_with(".png") ? source : source + ".png";
}

Image drawn(const Outcome& outcome, const Labels& labels) {
  cv::Mat image = to_bgr(image_of(outcome));
  draw(image, outcome.findings, labels);
  return from_bgr(image);
}

std::string drawn_jpeg(const Outcome& outcome, const Labels& labels, int widest) {
  cv::Mat image = to_bgr(image_of(outcome));
  draw(image, outcome.findings, labels);
  if (image.cols > widest) {
    const double scale = static_cast<double>(widest) / image.cols;
    cv::resize(image, image, {}, scale, scale, cv::INTER_AREA);
  }
  const std::vector<std::uint8_t> bytes = codecs().encode(".jpg", image);
  return {bytes.begin(), bytes.end()};
}

std::unique_ptr<Sink> json_sink(std::function<void(const std::string&)> write,
                                const Labels& labels) {
  return std::make_unique<JsonLines>(std::move(write), labels);
}

std::unique_ptr<Sink> picture_sink(const std::filesystem::path& folder,
                                   const Labels& labels) {
  return std::make_unique<Pictures>(folder, labels);
}

std::unique_ptr<Sink> map_sink(const std::filesystem::path& folder) {
  return std::make_unique<Maps>(folder);
}

std::unique_ptr<Sink> video_sink(const std::filesystem::path& path, double rate_fps,
                                 const Labels& labels) {
  return std::make_unique<VideoFile>(path, rate_fps, labels);
}

}  // namespace millrace::application
