#pragma once
// Inside `admission`: the networks of groups, ready to run by a table.
#include <deque>
#include <memory>

#include "engine/engine.h"
#include "product/admission/admit.h"
#include "product/deployment/open.h"
#include "profile/profile.h"

namespace millrace::product {

/// The times of the group's network on a board of one processor: kept ones, or measured now.
profile::Profile measured(const AdmitRequest& request, const network::Network& network,
                          const system::Group& group, const board::Board& board);

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

}  // namespace millrace::product
