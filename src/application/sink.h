#pragma once
// Where results go.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "application/application.h"
#include "application/findings.h"
#include "application/picture.h"
#include "base/units.h"

namespace millrace::application {

/// When a frame of a group of a deployment was where, by the machine's clock that never jumps.
struct ReleaseTimes {
  using Moment = std::chrono::steady_clock::time_point;
  std::string group;
  Moment arrived{};            // its picture came
  Moment due{}, released{};    // it was due at the group's rate, and could run
  Moment end{};                // all of it was done
  Time deadline{};             // of the response: from `due` to `end`
  std::optional<Time> bound{};  // that was proven for the response; none: there is none
};

/// One frame at the end of its way.
struct Outcome {
  Picture picture;
  Findings findings;
  Time latency{};  // since the picture was taken
  std::optional<ReleaseTimes> times = {};  // of a deployment
};

/// What classes are called.
struct Labels {
  Labels(std::vector<std::string> own_of = {}, std::vector<std::string> of_crops_of = {})
      : own(std::move(own_of)), of_crops(std::move(of_crops_of)) {}
  std::vector<std::string> own, of_crops;
};

/// One line of JSON, with its end: frame, source (masked), when it was,
/// latency_ms, of a camera lag_ms, and what was found.
/// InputError if the findings' own JSON is none.
std::string json_line(const Outcome& outcome, const Labels& labels);
/// What was found alone, as in such a line.
std::string findings_json(const Findings& findings, const Labels& labels);

/// The picture with its findings: boxes, masks, keypoints, the colours of a map, or the first
/// classes in a corner.
Image drawn(const Outcome& outcome, const Labels& labels);
/// The same as a JPEG file of this width at most. EngineError if this installation cannot write
/// pictures.
std::string drawn_jpeg(const Outcome& outcome, const Labels& labels, int widest);

/// How the annotated copy of a picture is called: as the picture; with ".png" behind it if colours
/// cannot be written in its format; by the number of its frame if no format goes by its name.
std::string picture_file_name(const std::string& source, std::int64_t frame);

/// The same of a map, which is always a PNG.
std::string map_file_name(const std::string& source, std::int64_t frame);

/// One thread at a time, frames in order.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void take(const Outcome& outcome) = 0;
  /// From the next frame on.
  virtual void use(const Labels& /*labels*/) {}
  /// Before finish(): the last picture was due then. It may have been dropped.
  virtual void show_until(const Time&) {}
  /// After the last frame: what was written becomes visible under its name.
  virtual void finish() {}
};

/// Lines to whoever takes text.
std::unique_ptr<Sink> json_sink(std::function<void(const std::string&)> write,
                                const Labels& labels);
/// A folder of pictures, named as they were; made if it is not there.
std::unique_ptr<Sink> picture_sink(const std::filesystem::path& folder,
                                   const Labels& labels);
/// A folder of PNGs with one byte for each pixel of the picture: its class.
std::unique_ptr<Sink> map_sink(const std::filesystem::path& folder);
/// A video, of the format that the name's ending says; InputError if that is not known. Of a fixed
/// rate: frames that are due at a time stand at that time.
std::unique_ptr<Sink> video_sink(const std::filesystem::path& path, double rate_fps,
                                 const Labels& labels);

}  // namespace millrace::application
