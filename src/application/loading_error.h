#pragma once
// Inside the application room: why a shared library could not be used.
#include <dlfcn.h>

#include <string>

namespace millrace::application {

/// What the last dlopen or dlsym of this thread found, a half-sentence.
inline std::string loading_error() {
  const char* text = dlerror();
  return text == nullptr ? "no reason given" : text;
}

}  // namespace millrace::application
