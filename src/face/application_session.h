#pragma once
// An application at work on pictures that a program puts in.
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "application/loaded/crops_at_work.h"
#include "application/run.h"
#include "application/source.h"
#include "face/call.h"
#include "millrace/application.h"
#include "product/application/load.h"
#include "runtime/session.h"

namespace millrace {
namespace face {

/// Gives the pictures that were put in; waits for them. Any thread.
class PushedSource final : public application::Source {
 public:
  void put(application::Picture picture);
  void finish();
  std::optional<application::Picture> next() override;

 private:
  std::mutex mutex_;
  std::condition_variable moment_;
  std::deque<application::Picture> pictures_;
  bool finished_ = false;
};

}  // namespace face

inline namespace v1 {

/// Torn down in the right order: the run borrows all that stands before it.
struct [[gnu::visibility("hidden")]] ApplicationSession::Impl {
  explicit Impl(std::shared_ptr<face::Call> call_of) : call(std::move(call_of)) {}
  ~Impl();

  /// From now on.
  void begin(std::function<void(const Outcome&)> take);
  bool submit(const Image& image);
  std::optional<Outcome> next();
  void wait();

  std::shared_ptr<face::Call> call;
  std::unique_ptr<product::LoadedApplication> loaded = {};
  application::Application settings = {};  // without its own input
  std::unique_ptr<application::CropsAtWork> crops = {};  // none: there are no crops
  std::optional<runtime::Session> session = {};
  face::PushedSource source = {};
  std::function<void(const Outcome&)> callback = {};
  std::int64_t depth = 1;
  std::mutex one = {};  // picture of run() at a time

  std::mutex mutex = {};  // of what follows
  std::condition_variable moment = {};
  std::int64_t submitted = 0, taken = 0;
  bool finished = false, ended = false;
  std::deque<Outcome> outcomes = {};

  std::mutex of_run = {};
  std::optional<application::Run> run = {};

 private:
  bool has_ended(std::chrono::milliseconds time);
  void give(application::Outcome outcome);
};

}  // namespace v1
}  // namespace millrace
