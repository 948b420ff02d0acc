#include "face/application_session.h"

#include <utility>

#include "base/error.h"
#include "face/pictures.h"

namespace millrace {
namespace face {

void PushedSource::put(application::Picture picture) {
  const std::lock_guard lock(mutex_);
  pictures_.push_back(std::move(picture));
  moment_.notify_one();
}

void PushedSource::finish() {
  const std::lock_guard lock(mutex_);
  finished_ = true;
  moment_.notify_all();
}

std::optional<application::Picture> PushedSource::next() {
  std::unique_lock lock(mutex_);
  moment_.wait(lock, [this] { return finished_ || !pictures_.empty(); });
  if (pictures_.empty()) return std::nullopt;
  application::Picture picture = std::move(pictures_.front());
  pictures_.pop_front();
  return picture;
}

}  // namespace face

inline namespace v1 {
namespace {

constexpr std::chrono::milliseconds between_looks{50};

}  // namespace

ApplicationSession::Impl::~Impl() {
  source.finish();
  run.reset();
}

void ApplicationSession::Impl::begin(std::function<void(const Outcome&)> take) {
  callback = std::move(take);
  settings = loaded->application;
  settings.input = {};
  settings.input.on_error = application::OnError::stop;
  settings.beside.clear();
  depth = session->frame_counts().depth + settings.preprocess.workers.threads +
          settings.postprocess.workers.threads;
  application::Parts parts = loaded->parts(source);
  parts.crops = crops ? &crops->parts : nullptr;
  run.emplace(settings, parts, *session,
              [this](application::Outcome outcome) { give(std::move(outcome)); });
}

void ApplicationSession::Impl::give(application::Outcome outcome) {
  Outcome made = face::outcome_of(std::move(outcome));
  if (callback) callback(made);
  const std::lock_guard lock(mutex);
  if (callback)
    ++taken;
  else
    outcomes.push_back(std::move(made));
  moment.notify_all();
}

/// Rethrows the first error; throws if the caller wants to end.
bool ApplicationSession::Impl::has_ended(std::chrono::milliseconds time) {
  if (call->take()) throw EngineError("interrupted");
  const std::lock_guard lock(of_run);
  if (!run->wait_for(time)) return false;
  const std::lock_guard other(mutex);
  ended = true;
  moment.notify_all();
  return true;
}

bool ApplicationSession::Impl::submit(const Image& image) {
  std::unique_lock lock(mutex);
  while (!finished && !ended && submitted - taken >= depth) {
    if (moment.wait_for(lock, between_looks) == std::cv_status::no_timeout) continue;
    lock.unlock();
    has_ended({});
    lock.lock();
  }
  if (finished || ended) return false;
  const std::int64_t number = submitted++;
  lock.unlock();
  source.put(face::picture_of(image, number));
  return true;
}

std::optional<Outcome> ApplicationSession::Impl::next() {
  std::unique_lock lock(mutex);
  while (outcomes.empty()) {
    if (ended) return std::nullopt;
    if (moment.wait_for(lock, between_looks) == std::cv_status::no_timeout) continue;
    lock.unlock();
    has_ended({});
    lock.lock();
  }
  Outcome outcome = std::move(outcomes.front());
  outcomes.pop_front();
  ++taken;
  moment.notify_all();
  return outcome;
}

void ApplicationSession::Impl::wait() {
  while (!has_ended(between_looks)) {
  }
}

bool ApplicationSession::submit(const Image& image) {
  return face::guarded(*impl()->call, [&] { return impl()->submit(image); });
}

std::optional<Outcome> ApplicationSession::next() {
  return face::guarded(*impl()->call, [&] {
    if (impl()->callback)
      throw InputError("next()", "the session gives its outcomes to a callback; start one without");
    return impl()->next();
  });
}

Findings ApplicationSession::run(const Image& image) {
  return face::guarded(*impl()->call, [&] {
    const std::lock_guard lock(impl()->one);
    if (impl()->callback)
      throw InputError("run()", "the session gives its outcomes to a callback; start one without");
    impl()->submit(image);
    auto outcome = impl()->next();
    if (!outcome) throw EngineError("the session has ended; start another one");
    return std::move(outcome->findings);
  });
}

void ApplicationSession::finish() {
  const std::lock_guard lock(impl()->mutex);
  impl()->finished = true;
  impl()->source.finish();
  impl()->moment.notify_all();
}

void ApplicationSession::wait() {
  finish();
  face::guarded(*impl()->call, [&] { impl()->wait(); });
}

std::int64_t ApplicationSession::depth() const { return impl()->depth; }

}  // namespace v1
}  // namespace millrace
