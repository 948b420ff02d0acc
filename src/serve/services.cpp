#include "serve/services.h"

#include <fmt/format.h>

#include "serve/metrics/prometheus.h"

namespace millrace::serve {

Services::Services(const ServiceOptions& options) : options_(options) {
  observers_.push_back(&figures_);
  if (!options.view.empty()) {
    observers_.push_back(&view_.emplace(figures_));
    traced_frames_ = view_->traced_frames();
  }
  if (!options.mqtt.empty()) {
    publisher_ = std::make_unique<Publisher>(read_broker(options.mqtt, "⟨mqtt⟩"),
                                             [this](const std::string& text) { note(text); });
    observers_.push_back(publisher_.get());
  }
  if (!options.notify.socket.empty()) {
    notifier_ = std::make_unique<Notifier>(options.notify, figures_);
    observers_.push_back(notifier_.get());
  }
  serve_all();
}

Services::~Services() {
  if (view_) view_->close();
}

void Services::serve_all() {
  Pages metrics, view;
  metrics.pages["/metrics"] = [this](const Query&) {
    return Answer{200, prometheus_type, prometheus_text(figures_.now(), sensors_.now())};
  };
  if (view_) view_->add_to(view);
  std::optional<Address> at_metrics, at_view;
  if (!options_.metrics.empty()) at_metrics = read_address(options_.metrics, "⟨metrics⟩");
  if (view_) at_view = read_address(options_.view, "⟨view⟩");
  if (at_view && at_view == at_metrics) {
    view.pages.merge(metrics.pages);
    at_metrics.reset();
  }
  if (at_metrics) serve(*at_metrics, metrics, "metrics");
  if (at_view) serve(*at_view, view, "live view");
}

void Services::serve(const Address& address, const Pages& pages, const char* what) {
  servers_.push_back(serve_pages(address, pages));
  const bool has_root = pages.pages.contains("/");
  note(fmt::format("{}: http://{}{}", what, to_text(servers_.back()->address()),
                   has_root ? "/" : "/metrics"));
}

void Services::note(const std::string& text) {
  const std::lock_guard lock(notes_);
  options_.note(text);
}

void Services::begun(const application::AtWork& work) {
  for (application::Observer* each : observers_) each->begun(work);
}

void Services::begun(const application::DeploymentAtWork& work) {
  for (application::Observer* each : observers_) each->begun(work);
}

void Services::take(const application::Outcome& outcome) {
  for (application::Observer* each : observers_) each->take(outcome);
}

void Services::ended() {
  for (auto each = observers_.rbegin(); each != observers_.rend(); ++each) (*each)->ended();
}

}  // namespace millrace::serve
