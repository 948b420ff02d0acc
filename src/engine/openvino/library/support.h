#pragma once
// Which layers OpenVINO runs.
#include <openvino/openvino.hpp>

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/verdict.h"
#include "network/network.h"

namespace millrace::engine::openvino {

/// Asks OpenVINO once for layers of the same kind and sizes: about all of a network, and about
/// fewer where it says no. Thread-safe. The answers are the same as long as the process runs,
/// whichever engine asks.
class SupportCache {
 public:
  explicit SupportCache(ov::Core core) : core_(std::move(core)) {}

  Verdict supports(const network::Network& network, LayerId layer, const std::string& device);

 private:
  std::optional<Verdict> answer(const std::string& key);

  ov::Core core_;
  std::mutex mutex_;
  std::map<std::string, Verdict> known_;  // by device and model
};

/// The cache of the process.
SupportCache& shared_support();

}  // namespace millrace::engine::openvino
