#pragma once
// A listener that keeps what it hears.
#include <algorithm>
#include <string>
#include <vector>

#include "product/context.h"

namespace millrace::test {

class Heard : public product::Listener {
 public:
  void note(const std::string& text) override { notes.push_back(text); }
  std::unique_ptr<product::Work> begin(const std::string& title) override {
    work.push_back(title);
    return std::make_unique<product::Work>();
  }
  bool has_note(const std::string& part) const {
    return std::ranges::any_of(notes, [&](const std::string& note) {
      return note.find(part) != std::string::npos;
    });
  }

  std::vector<std::string> notes, work;
};

inline const std::string digits = MILLRACE_SOURCE_DIR "/models/digits.onnx";

}  // namespace millrace::test
