#pragma once
// Which layers OpenVINO runs.
#include <openvino/openvino.hpp>

#include <map>
#include <mutex>
#include <string>

#include "base/verdict.h"
#include "network/network.h"

namespace millrace::engine::openvino {

/// Asks OpenVINO once for each layer of its kind and sizes. Thread-safe. The answers are the same
/// as long as the process runs, whichever engine asks.
class SupportCache {
 public:
  explicit SupportCache(ov::Core core) : core_(std::move(core)) {}

  Verdict supports(const network::Network& network, LayerId layer, const std::string& device);

 private:
  ov::Core core_;
  std::mutex mutex_;
  std::map<std::string, Verdict> known_;  // by device and model
};

/// Of the process.
SupportCache& shared_support();

}  // namespace millrace::engine::openvino
