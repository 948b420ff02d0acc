#pragma once
// How right an application's findings are, for people.
#include <string>

#include "application/accuracy/accuracy.h"

namespace millrace::present {

std::string accuracy_text(const application::Accuracy& accuracy);

}  // namespace millrace::present
