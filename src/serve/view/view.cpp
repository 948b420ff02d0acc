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

nlohmann::json json_of(const InputNow& input, const FiguresNow& figures) {
  nlohmann::json json = {
      {"name", input.name}, {"frames", input.frames}, {"rate_fps", input.rate_fps}};
  const std::int64_t count = input.latency.total();
  json["mean_latency_ms"] =
      count > 0 ? 1e3 * input.latency.sum_s / static_cast<double>(count) : 0.0;
  if (figures.is_live) json["dropped"] = input.dropped;
  if (input.gaps > 0) json["gaps"] = input.gaps;
  return json;
}

/// One of the watchers of an input, while it lives.
class Watcher {
 public:
  Watcher(Newest& newest, std::size_t input) : newest_(newest), input_(input) {
    newest_.watch(input_, 1);
  }
  ~Watcher() { newest_.watch(input_, -1); }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

 private:
  Newest& newest_;
  std::size_t input_;
};

}  // namespace

void View::begun(const application::AtWork& work) {
  newest_.begin(work.application.inputs().size());
  const std::lock_guard lock(mutex_);
  labels_.own = work.application.labels;
  if (work.application.crops) labels_.of_crops = work.application.crops->labels;
}

std::string View::jpeg_of(const application::Outcome& outcome) {
  std::unique_lock lock(mutex_);
  const application::Labels labels = labels_;
  lock.unlock();
  return application::drawn_jpeg(outcome, labels, widest);
}

Answer View::state() {
  const FiguresNow now = figures_.now();
  nlohmann::json json = {{"application", now.application}, {"running", now.is_running},
                         {"running_s", now.running_s},     {"skipped", now.skipped},
                         {"inputs", nlohmann::json::array()}, {"stages", nlohmann::json::array()}};
  for (const InputNow& input : now.inputs) json["inputs"].push_back(json_of(input, now));
  for (const StageNow& stage : now.stages)
    json["stages"].push_back({{"name", stage.name},
                              {"processor", stage.processor},
                              {"utilisation", stage.utilisation}});
  return {200, "application/json", json.dump()};
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
