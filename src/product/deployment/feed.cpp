#include "product/deployment/feed.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "application/source.h"

namespace millrace::product {
namespace {

/// By input; a folder of pictures has none.
std::vector<double> rates_of(const LoadedApplication& loaded, application::Source& source) {
  std::vector<application::Source*> sources = source.lanes();
  if (sources.empty()) sources.push_back(&source);
  std::vector<double> rates;
  const std::vector<application::Input> inputs = loaded.application.inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i)
    rates.push_back(inputs[i].rate_fps > 0 ? inputs[i].rate_fps : sources[i]->rate_fps());
  return rates;
}

}  // namespace

ApplicationFeed::ApplicationFeed(const LoadedApplication& loaded, const Context& context)
    : loaded_(loaded),
      context_(context),
      source_(application::open_source(loaded.application, loaded.network())),
      results_(loaded.application, {rates_of(loaded, *source_), false}),
      reading_(std::make_unique<runtime::Pool>([this] { return read(); },
                                               runtime::PoolOptions{"input"})),
      writing_(std::make_unique<runtime::Pool>([this] { return write(); },
                                               runtime::PoolOptions{"output"})) {}

ApplicationFeed::~ApplicationFeed() {
  pictures_.close();
  outcomes_.finish();
}

/// After the end it begins again; a camera has none.
std::optional<runtime::Job> ApplicationFeed::read() {
  auto picture = source_->next();
  if (!picture) {
    source_ = application::open_source(loaded_.application, loaded_.network());
    picture = source_->next();
  }
  if (!picture) return std::nullopt;
  auto kept = std::make_shared<application::Picture>(std::move(*picture));
  return runtime::Job{[this, kept] { source_->decode(*kept); },
                      [this, kept] { return pictures_.put(std::move(*kept)); }};
}

std::optional<runtime::Job> ApplicationFeed::write() {
  auto outcome = outcomes_.pop();
  if (!outcome) return std::nullopt;
  auto kept = std::make_shared<application::Outcome>(std::move(*outcome));
  return runtime::Job{[] {}, [this, kept] {
                        results_.take(*kept);
                        return true;
                      }};
}

std::optional<application::Picture> ApplicationFeed::picture() {
  if (!running_) return std::nullopt;
  auto picture = pictures_.take();
  if (picture)
    last_ = std::move(picture);
  else if (last_)
    ++repeated_;
  return last_;
}

void ApplicationFeed::take(application::LiveResult result) {
  if (!running_) return;
  const std::lock_guard lock(mutex_);
  on_the_way_.push_back({std::move(*result.picture), std::move(result.findings), {}});
}

void ApplicationFeed::ended(const runtime::EndedFrame& frame) {
  std::optional<application::Outcome> outcome;
  {
    const std::lock_guard lock(mutex_);
    outcome = std::move(on_the_way_.front());
    on_the_way_.pop_front();
  }
  outcome->latency = frame.end - frame.due;
  outcomes_.push(std::move(*outcome));
}

void ApplicationFeed::finish(const std::string& group) {
  running_ = false;
  pictures_.close();
  outcomes_.finish();
  reading_->wait();
  writing_->wait();
  results_.keep(std::chrono::seconds(1));
  const std::string kept = results_.kept_text();
  context_.note(fmt::format("group '{}': {}", group,
                            kept.empty() ? "its application names no output, so its results are "
                                           "not kept"
                                         : "kept " + kept));
  if (repeated_ > 0)
    context_.note(fmt::format("group '{}': {} frames worked on the picture before, as the next one "
                              "was not there yet",
                              group, repeated_.load()));
  if (outcomes_.dropped() > 0)
    context_.note(fmt::format("group '{}': {} results were not written, as writing took too long",
                              group, outcomes_.dropped()));
}

}  // namespace millrace::product
