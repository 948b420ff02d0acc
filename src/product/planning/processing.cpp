#include "product/planning/processing.h"

#include <fmt/format.h>

#include "base/quantity.h"
#include "explore/configuration/journal.h"
#include "product/application/processing_times.h"
#include "product/shared_cores.h"

namespace millrace::product {
namespace {

std::optional<Time> given_time(const std::optional<std::string>& text, const char* option) {
  return text ? std::optional(read_duration(*text, option)) : std::nullopt;
}

/// A core of this machine, whichever board is planned for: one that nobody else uses, if there is.
board::Processor free_core(const PlanRequest& request) {
  Setup here = request.setup;
  here.processors.clear();
  here.engine.clear();
  board::Board machine = load_board(here);
  put_free_first(machine);
  return machine.processors.front();
}

/// None: the journal says nothing of it.
std::optional<plan::ProcessingTimes> as_before(const std::optional<std::string>& journal) {
  if (!journal) return std::nullopt;
  const auto number = [&](const char* name) {
    const std::string text = explore::Journal::fact(*journal, name);
    return text.empty() ? 0 : read_number<std::int64_t>(text, *journal);
  };
  if (number("processing_frames") == 0) return std::nullopt;
  return plan::ProcessingTimes{Time(number("pre_ns")), Time(number("post_ns")),
                               Time(number("reading_ns")), number("processing_frames")};
}

std::string measured_text(const plan::ProcessingTimes& times, const std::string& core,
                          bool is_of_board) {
  std::string text = fmt::format(
      "measured on {} of this machine, on {} frame{} of the application: {} of pre- and {} of "
      "post-processing for each",
      core, times.frames, times.frames == 1 ? "" : "s", millrace::to_text(times.pre),
      millrace::to_text(times.post));
  if (is_of_board) text += "; the board's own times are given with ⟨pre_time⟩ and ⟨post_time⟩";
  return text;
}

}  // namespace

plan::ProcessingTimes processing_for(const PlanRequest& request, const network::Network& network,
                                     engine::Engine& engine) {
  const explore::SearchOptions& search = request.search;
  if (request.by_hand.is_given() || !explore::is_configuration_search(search)) return {};
  const auto pre = given_time(search.pre_time, "⟨pre_time⟩");
  const auto post = given_time(search.post_time, "⟨post_time⟩");
  const ApplicationFrameOptions& application = request.loss.application;
  plan::ProcessingTimes times;
  if (!application.file.empty() && !(pre && post)) {
    if (const auto before = as_before(search.resume)) {
      times = *before;
    } else {
      const board::Processor core = free_core(request);
      const Context& context = request.setup.context;
      times = measure_processing({application, request.loss.frames, network, engine, core, context})
                  .value_or(times);
      if (times.frames > 0) context.note(measured_text(times, core.name, !request.board.empty()));
    }
  }
  if (pre) times.reading = Time{};
  times.pre = pre.value_or(times.pre);
  times.post = post.value_or(times.post);
  return times;
}

}  // namespace millrace::product
