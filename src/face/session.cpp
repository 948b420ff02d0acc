#include "millrace/session.h"

#include <utility>

#include "base/error.h"
#include "face/access.h"
#include "face/convert.h"

namespace millrace {
inline namespace v1 {
namespace {

void refuse_with_callback(const runtime::Pool* taking, const char* name) {
  if (taking != nullptr)
    throw InputError(name, "the session gives its results to a callback; start one without");
}

Result result_of(runtime::Result result) {
  return {result.frame, face::frame_of(std::move(result.outputs)), result.latency};
}

}  // namespace

Session::Impl::~Impl() {
  if (session) session->stop();
  taking.reset();
}

bool Session::submit(const Frame& frame) {
  return face::guarded(*impl()->call,
                       [&] { return impl()->session->submit(face::arrays_of(frame)); });
}

bool Session::try_submit(const Frame& frame) {
  return face::guarded(*impl()->call, [&] {
    refuse_with_callback(impl()->taking.get(), "try_submit()");
    return impl()->session->submit_unless_result(face::arrays_of(frame));
  });
}

std::optional<Result> Session::next() {
  return face::guarded(*impl()->call, [&]() -> std::optional<Result> {
    refuse_with_callback(impl()->taking.get(), "next()");
    auto result = impl()->session->next();
    if (!result) return std::nullopt;
    return result_of(std::move(*result));
  });
}

Frame Session::run(const Frame& frame) {
  return face::guarded(*impl()->call, [&] {
    refuse_with_callback(impl()->taking.get(), "run()");
    const std::lock_guard lock(impl()->run);
    impl()->session->submit(face::arrays_of(frame));
    auto result = impl()->session->next();
    if (!result) throw EngineError("the session has ended; start another one");
    return face::frame_of(std::move(result->outputs));
  });
}

void Session::finish() { impl()->session->finish(); }

void Session::wait() {
  face::guarded(*impl()->call, [&] {
    if (impl()->taking == nullptr)
      throw InputError("wait()", "the session has no callback; take its results with next()");
    impl()->session->finish();
    impl()->taking->wait();
  });
}

void Session::stop() { impl()->session->stop(); }
std::int64_t Session::depth() const { return impl()->session->frame_counts().depth; }

std::vector<StageStatistics> Session::statistics() const {
  std::vector<StageStatistics> result;
  for (const runtime::StageStatistics& stage : impl()->session->statistics())
    result.push_back({stage.name, stage.frames, stage.busy, stage.waiting,
                      (stage.memory.weights + stage.memory.arena).count});
  return result;
}

}  // namespace v1
}  // namespace millrace
