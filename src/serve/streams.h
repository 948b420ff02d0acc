#pragma once
// Streams of pictures of a run: the inputs of an application, or those of all groups.
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "application/live/observer.h"

namespace millrace::serve {

/// Where pictures come from.
struct Stream {
  std::string group = {};  // empty: the run is an application
  std::string input = {};  // empty: there is one
};

/// Numbers the streams. One thread at a time.
class Streams {
 public:
  Streams() = default;
  explicit Streams(const application::AtWork& work);
  /// Groups without an application have none. Groups that are added come last.
  explicit Streams(const application::DeploymentAtWork& work);

  const std::vector<Stream>& all() const { return all_; }
  /// What the classes of its findings are called.
  application::Labels labels_of(const application::Outcome& outcome) const;
  /// Nothing: the run has no such input.
  std::optional<std::size_t> number_of(const application::Outcome& outcome) const;

 private:
  void add(const std::string& group, const application::Application& application);
  static std::string group_of(const application::Outcome& outcome);

  std::vector<Stream> all_;
  struct Group {
    std::size_t first = 0;  // of its streams
    application::Labels labels = {};
  };
  std::map<std::string, Group> groups_;
};

}  // namespace millrace::serve
