#pragma once
// Whether the pictures of several inputs are of one size.
#include <map>
#include <string>

#include "application/picture.h"
#include "application/placement.h"

namespace millrace::application {

/// How large the first picture of each of several inputs is.
class InputSizes {
 public:
  /// One thread at a time.
  void look_at(const Picture& picture);
  /// A sentence; empty: they are of one size.
  std::string text() const;

 private:
  std::map<std::string, Size> sizes_;
};

}  // namespace millrace::application
