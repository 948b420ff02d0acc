#pragma once
// The inputs of an application while a deployment runs.
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "application/application.h"
#include "application/picture.h"
#include "application/run.h"
#include "application/source.h"
#include "application/sources/reading.h"
#include "runtime/pool.h"
#include "runtime/waiting/live_queue.h"

namespace millrace::application {

/// Each input is read and decoded by a thread of its own, at its pace and by its policy, whether
/// pictures are taken or not. A file that ends begins again, and its frame numbers go on.
class LiveInputs {
 public:
  /// Borrows the network. `note` hears of what goes wrong, by any thread.
  LiveInputs(const Application& application, const network::Network& network,
             std::function<void(const std::string&)> note);
  ~LiveInputs();
  LiveInputs(const LiveInputs&) = delete;
  LiveInputs& operator=(const LiveInputs&) = delete;

  /// Opens all of them at the same time; they are read from then on. InputError or EngineError as
  /// open_source().
  void begin();
  /// For a real-time thread: the next picture, of the inputs round robin; nothing: none is there.
  std::optional<Picture> take() { return queue_.take_now(); }
  /// No picture comes any more; returns when nobody reads. Rethrows what an input failed with.
  void end();

  // After begin(), by input:
  /// Frame rate of a video or camera; 0: nobody knows.
  std::vector<double> rates_fps() const;
  /// So far, or after end() of all; without the frames that came out. Any thread.
  std::vector<InputTotals> totals() const;

 private:
  struct Lane;

  std::optional<runtime::Job> read(std::size_t number);
  std::optional<Picture> next(Lane& lane);
  void open(Lane& lane);
  void note_opened(Lane& lane);
  void decode(Lane& lane, Picture& picture);

  const network::Network& network_;
  const std::function<void(const std::string&)> note_;
  runtime::LiveQueue<Picture> queue_;
  std::mutex mutex_;
  std::condition_variable opened_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace millrace::application
