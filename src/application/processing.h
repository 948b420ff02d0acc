#pragma once
// What stands before and behind a network: the interface that users derive from
// (docs/detectors.md).
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "application/findings.h"
#include "application/picture.h"
#include "network/network.h"

namespace millrace::application {

/// Pre-processing overrides before(), post-processing after(), and one class may do both. Several
/// threads call at once. What is thrown ends the run at this frame, with the text of the exception.
class Processing {
 public:
  virtual ~Processing() = default;
  /// The network's inputs, in their order, with their types and shapes.
  virtual std::vector<network::Array> before(const Picture& picture) const;
  /// `outputs` in the order of the network's.
  virtual Findings after(const Picture& picture, std::span<const network::Array> outputs) const;
};

/// What a processing is made from.
struct Setup {
  const network::Network& network;                     // borrowed; outlives what is made
  std::map<std::string, std::string> parameters = {};  // as they stand in the application's file
  std::vector<std::string> labels = {};
};

/// Processings by name: those that plug-ins add.
class Registry {
 public:
  using Make = std::function<std::unique_ptr<Processing>(const Setup&)>;
  /// InputError if the name is taken or empty.
  void add(const std::string& name, Make make);
  /// InputError with the nearest name if there is none; `place` is where the name stands.
  std::unique_ptr<Processing> make(const std::string& name, const Setup& setup,
                                   const std::string& place) const;
  const std::map<std::string, Make>& makers() const { return makers_; }

 private:
  std::map<std::string, Make> makers_;
};

}  // namespace millrace::application
