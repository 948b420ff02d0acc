#pragma once
// Where pictures come from.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "application/application.h"
#include "application/picture.h"
#include "application/sources/presence.h"
#include "network/network.h"

namespace millrace::application {

/// Why a source ended before it should have.
struct Complaint {
  std::string place, text;
  bool of_machine = false;  // a camera that is gone, not a file that is wrong
};

class Source {
 public:
  virtual ~Source() = default;
  /// The next picture, not yet decoded where that can be done by many threads; nothing at the end.
  /// One thread at a time.
  virtual std::optional<Picture> next() = 0;
  /// Any number of threads, each with another picture. InputError names the file.
  virtual void decode(Picture&) const {}
  /// After the end. What was read before is good.
  virtual std::optional<Complaint> complaint() const { return std::nullopt; }
  /// Number of pictures, as the source says; none: nobody knows.
  virtual std::optional<std::int64_t> count() const { return std::nullopt; }
  /// Frame rate of a video or camera; 0: none.
  virtual double rate_fps() const { return 0; }
  /// The single inputs, if there are several, for threads that read them at the same time; none: it
  /// is one. Borrowed.
  virtual std::vector<Source*> lanes() { return {}; }
  /// Presence of a camera; null: it is none. Any thread.
  Presence* presence() const { return presence_.get(); }
  const std::shared_ptr<Presence>& shared_presence() const { return presence_; }

 protected:
  std::shared_ptr<Presence> presence_;  // shared by a source and the one that stands for it
};

/// InputError, naming the input's place, if there is nothing to read. Of several inputs next()
/// takes a picture from each in turn.
std::unique_ptr<Source> open_source(const Application& application,
                                    const network::Network& network);

/// sources/video.cpp: a file.
std::unique_ptr<Source> open_video(const Input& input);
/// sources/camera.cpp. EngineError if it gives no pictures now; later it may go and come back.
std::unique_ptr<Source> open_camera(const Input& input);

/// sources/joined.cpp: by input.
std::unique_ptr<Source> join_sources(std::vector<std::unique_ptr<Source>> sources,
                                     const std::vector<Input>& inputs);

}  // namespace millrace::application
