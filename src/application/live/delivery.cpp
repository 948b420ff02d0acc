#include "application/live/delivery.h"

#include <chrono>
#include <exception>
#include <utility>

#include "application/live/observer.h"

namespace millrace::application {
namespace {

std::unique_ptr<LiveInputs> inputs_of(const LoadedApplication* application,
                                      const DeliveryOptions& options) {
  if (application == nullptr || options.policy != FeedPolicy::own) return nullptr;
  return std::make_unique<LiveInputs>(application->application, application->network(),
                                      options.note);
}

}  // namespace

Delivery::Delivery(const LoadedApplication* application, const network::Network* network,
                   DeliveryOptions options)
    : options_(std::move(options)),
      has_application_(application != nullptr),
      feed_(
          std::make_shared<GroupFeed>(network, options_.policy, inputs_of(application, options_))) {
  if (!has_application_) return;
  settings_ = application->application;
  settings_.output = options_.output;
  used_.resize(settings_.inputs().size());
}

Delivery::~Delivery() {
  close();
  feed_->finish();
  delivering_.reset();
}

void Delivery::set_bounds(std::vector<std::optional<Time>> bounds) {
  const std::lock_guard lock(mutex_);
  bounds_ = std::move(bounds);
}

void Delivery::begin() {
  feed_->begin();
  if (has_application_ && options_.writes) {
    std::vector<double> rates(settings_.inputs().size());
    if (feed_->own() != nullptr) rates = feed_->own()->rates_fps();
    results_.emplace(settings_, ApplicationResults::Options{std::move(rates), false});
  }
  delivering_ =
      std::make_unique<runtime::Pool>([this] { return next(); }, runtime::PoolOptions{"results"});
}

std::optional<runtime::Job> Delivery::next() {
  auto taken = feed_->pop();
  if (!taken) return std::nullopt;
  const auto kept = std::make_shared<Taken>(std::move(*taken));
  return runtime::Job{[] {},
                      [this, kept] {
                        deliver(std::move(*kept));
                        return true;
                      }};
}

void Delivery::deliver(Taken taken) {
  {
    const std::lock_guard lock(mutex_);
    if (taken.frame.operation < bounds_.size()) taken.bound = bounds_[taken.frame.operation];
  }
  const auto& picture = taken.result.picture;
  if (feed_->own() != nullptr && picture && !taken.repeated) ++used_[picture->source];
  if (picture && !taken.repeated) show(taken);
  if (options_.take) options_.take(std::move(taken));
}

void Delivery::show(const Taken& taken) {
  if (!results_ && options_.observer == nullptr) return;
  const runtime::EndedFrame& frame = taken.frame;
  Outcome outcome{*taken.result.picture, taken.result.findings,
                  frame.end - taken.result.picture->taken};
  outcome.times = ReleaseTimes{options_.group, taken.arrived,  frame.due,  frame.released,
                               frame.end,      frame.deadline, taken.bound};
  if (results_) results_->take(outcome);
  if (options_.observer != nullptr) options_.observer->take(outcome);
}

void Delivery::close() {
  try {
    feed_->close();
  } catch (...) {
    if (!error_) error_ = std::current_exception();
  }
}

DeliveryTotals Delivery::finish() {
  close();
  feed_->finish();
  try {
    if (delivering_) delivering_->wait();
    if (results_) results_->keep(std::chrono::seconds(1));
  } catch (...) {
    if (!error_) error_ = std::current_exception();
  }
  DeliveryTotals totals{options_.group, has_application_, feed_->counts()};
  if (feed_->own() != nullptr) totals.inputs = feed_->own()->totals();
  for (std::size_t i = 0; i < totals.inputs.size(); ++i) totals.inputs[i].frames = used_[i];
  if (results_) totals.kept = results_->kept_text();
  if (!error_) return totals;
  if (options_.note && !totals.kept.empty()) options_.note("kept: " + totals.kept);
  std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace millrace::application
