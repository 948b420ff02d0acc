#pragma once
// Pictures and findings of include/millrace from those of applications, and back.
#include <string>

#include "application/findings.h"
#include "application/picture.h"
#include "application/sink.h"
#include "millrace/application.h"
#include "millrace/findings.h"

namespace millrace {
inline namespace v1 {

struct [[gnu::visibility("hidden")]] Image::Impl {
  application::Image image;
};

}  // namespace v1

namespace face {

Image image_of(application::Image image);
/// Taken now. InputError if there is no picture.
application::Picture picture_of(const Image& image, std::int64_t number);
Findings findings_of(application::Findings findings);
Outcome outcome_of(application::Outcome outcome);

}  // namespace face
}  // namespace millrace
