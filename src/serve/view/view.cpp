#include "serve/view/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "present/svg/gantt.h"
#include "serve/view/page.h"

namespace millrace::serve {
namespace {

constexpr std::chrono::milliseconds next_picture_wait{500};
constexpr int widest = 1280;  // pixels of a picture that is sent
constexpr const char* boundary = "millrace-picture";

std::size_t input_of(const Query& query) {
  constexpr std::size_t last = 255;
  std::size_t input = 0;
  if (const auto found = query.find("input"); found != query.end())
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), input);
  return std::min(input, last);
}

std::string part_of(const std::string& jpeg) {
  return fmt::format("--{}\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\n\r\n{}\r\n",
                     boundary, jpeg.size(), jpeg);
}

double mean_ms(const Histogram::Counts& times) {
  const std::int64_t count = times.total();
  return count > 0 ? 1e3 * times.sum_s / static_cast<double>(count) : 0.0;
}

nlohmann::json json_of(const InputNow& input, const FiguresNow& figures) {
  nlohmann::json json = {{"group", input.group},
                         {"name", input.name},
                         {"frames", input.frames},
                         {"rate_fps", input.rate_fps},
                         {"mean_latency_ms", mean_ms(input.latency)}};
  if (figures.is_live) json["dropped"] = input.dropped;
  if (input.gaps > 0) json["gaps"] = input.gaps;
  return json;
}

nlohmann::json json_of(const StageNow& stage) {
  return {{"group", stage.group},
          {"name", stage.name},
          {"processor", stage.processor},
          {"utilisation", stage.utilisation}};
}

nlohmann::json json_of(const GroupNow& group) {
  return {{"name", group.name},
          {"frames", group.frames},
          {"rate_fps", group.rate_fps},
          {"missed", group.missed},
          {"mean_response_ms", mean_ms(group.response)},
          {"largest_response_ms", 1e3 * group.largest_s},
          {"bound_ms", group.bound_s ? nlohmann::json(1e3 * *group.bound_s) : nlohmann::json()},
          {"deadline_ms", 1e3 * group.deadline_s}};
}

template <class Rows>
nlohmann::json json_of_all(const Rows& rows) {
  nlohmann::json json = nlohmann::json::array();
  for (const auto& row : rows) json.push_back(json_of(row));
  return json;
}

/// One of the watchers of an input, while it lives.
class Watcher {
 public:
  Watcher(Newest& newest, std::size_t input)
      : newest_(newest), input_(input), may_watch_(newest.watch(input)) {}
  ~Watcher() {
    if (may_watch_) newest_.watch_no_more(input_);
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  bool may_watch() const { return may_watch_; }

 private:
  Newest& newest_;
  const std::size_t input_;
  const bool may_watch_;
};

}  // namespace

void View::begin(Streams streams) {
  newest_.begin(streams.all().size());
  const std::lock_guard lock(mutex_);
  streams_ = std::move(streams);
}

void View::take(const application::Outcome& outcome) {
  std::unique_lock lock(mutex_);
  const auto number = streams_.number_of(outcome);
  lock.unlock();
  if (number) newest_.take(*number, outcome);
}

std::string View::jpeg_of(const application::Outcome& outcome) {
  std::unique_lock lock(mutex_);
  const application::Labels labels = streams_.labels_of(outcome);
  lock.unlock();
  return application::drawn_jpeg(outcome, labels, widest);
}

Answer View::state() {
  const FiguresNow now = figures_.now();
  nlohmann::json json = {{now.groups.empty() ? "application" : "deployment", now.name},
                         {"running", now.is_running},
                         {"running_s", now.running_s},
                         {"skipped", now.skipped},
                         {"inputs", nlohmann::json::array()},
                         {"groups", json_of_all(now.groups)},
                         {"stages", json_of_all(now.stages)}};
  for (const InputNow& input : now.inputs) json["inputs"].push_back(json_of(input, now));
  return {200, "application/json",
          json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

Answer View::gantt() {
  constexpr std::chrono::seconds span{1};
  return {200, "image/svg+xml",
          present::gantt_svg(figures_.recent(span), {"the last second", Time{}, span})};
}

Answer View::picture(const Query& query) {
  Newest::Shown shown;
  if (newest_.next(input_of(query), 0, next_picture_wait, shown) != Newest::Wait::shown)
    return {404, "text/plain; charset=utf-8", "there is no picture yet\n"};
  return {200, "image/jpeg", jpeg_of(*shown.outcome)};
}

Pieces View::stream(const Query& query) {
  const std::size_t input = input_of(query);
  // Shared by the copies of the function.
  const auto watcher = std::make_shared<Watcher>(newest_, input);
  if (!watcher->may_watch()) return {};
  return [this, input, watcher, number = std::int64_t{0}]() mutable -> std::optional<std::string> {
    Newest::Shown shown;
    switch (newest_.next(input, number, next_picture_wait, shown)) {
      case Newest::Wait::ended:
        return std::nullopt;
      case Newest::Wait::nothing:
        return "";
      case Newest::Wait::shown:
        break;
    }
    number = shown.number;
    return part_of(jpeg_of(*shown.outcome));
  };
}

void View::add_to(Pages& pages) {
  pages.type_of_streams = fmt::format("multipart/x-mixed-replace; boundary={}", boundary);
  pages.pages["/"] = [](const Query&) { return Answer{200, "text/html; charset=utf-8", page()}; };
  pages.pages["/state.json"] = [this](const Query&) { return state(); };
  pages.pages["/gantt.svg"] = [this](const Query&) { return gantt(); };
  pages.pages["/picture.jpg"] = [this](const Query& query) { return picture(query); };
  pages.streams["/stream"] = [this](const Query& query) { return stream(query); };
}

}  // namespace millrace::serve
