#include "serve/streams.h"

#include "application/live/delivery.h"

namespace millrace::serve {

Streams::Streams(const application::AtWork& work) { add({}, work.application); }

Streams::Streams(const application::DeploymentAtWork& work) {
  for (const auto& group : work.groups)
    if (group.delivery != nullptr && group.delivery->application() != nullptr)
      add(group.name, *group.delivery->application());
}

void Streams::add(const std::string& group, const application::Application& application) {
  Group& added = groups_[group];
  added.first = all_.size();
  added.labels.own = application.labels;
  if (application.crops) added.labels.of_crops = application.crops->labels;
  const auto inputs = application.inputs();
  for (const application::Input& input : inputs)
    all_.push_back({group, inputs.size() > 1 ? input.name : ""});
}

std::string Streams::group_of(const application::Outcome& outcome) {
  return outcome.times ? outcome.times->group : "";
}

application::Labels Streams::labels_of(const application::Outcome& outcome) const {
  const auto found = groups_.find(group_of(outcome));
  return found == groups_.end() ? application::Labels() : found->second.labels;
}

std::optional<std::size_t> Streams::number_of(const application::Outcome& outcome) const {
  const auto found = groups_.find(group_of(outcome));
  if (found == groups_.end()) return std::nullopt;
  const std::size_t number = found->second.first + outcome.picture.source;
  return number < all_.size() ? std::optional(number) : std::nullopt;
}

}  // namespace millrace::serve
