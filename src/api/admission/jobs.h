#pragma once
// Inside `admission`: the networks of groups, ready to run by a table.
#include <deque>
#include <memory>

#include "api/admission/admit.h"
#include "api/deployment/open.h"
#include "engine/engine.h"

namespace millrace::api {

/// All that the jobs of a table use; outlives them. One thread at a time.
class AdmittedJobs {
 public:
  /// Borrowed.
  explicit AdmittedJobs(const AdmitRequest& request);

  /// InputError if the group has no network, or its file has changed.
  runtime::TableJob job(const AdmitResult& result, std::size_t task);

  /// Plays the result's table on this machine. Of the options, those that the caller knows.
  PlayedAdmission play(const AdmitResult& result, const PlayRequest& play,
                       runtime::PlayOptions options = {});

 private:
  struct Use {
    const network::Network* network;
    std::unique_ptr<engine::Engine> engine;
    board::Processor processor;
    std::vector<board::Variant> layers;
  };
  const AdmitRequest& request_;
  Networks networks_;
  std::deque<Use> uses_;
};

}  // namespace millrace::api
