#include "serve/http/http.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/error.h"

namespace millrace::serve {
namespace {

constexpr const char* http_library = "libmillrace_http.so";

ServePages load_http() {
  void* const library = dlopen(http_library, RTLD_NOW | RTLD_LOCAL);
  void* const entry = library != nullptr ? dlsym(library, "millrace_http") : nullptr;
  if (entry == nullptr) {
    const char* const reason = dlerror();
    throw EngineError(
        fmt::format("metrics and the live view need {}, which cannot be loaded ({}); build "
                    "Millrace where libcpp-httplib-dev is installed",
                    http_library, reason != nullptr ? reason : "no reason given"));
  }
  return reinterpret_cast<ServePages>(entry);
}

}  // namespace

std::unique_ptr<HttpServer> serve_pages(const Address& address, const Pages& pages) {
  static const ServePages serve = load_http();
  std::unique_ptr<HttpServer> server(serve(address, pages));
  if (!server)
    throw EngineError(
        fmt::format("{}: cannot be listened at; another program may have the "
                    "port, or the machine has no such address; give another "
                    "port, or :0 for any that is free",
                    to_text(address)));
  return server;
}

}  // namespace millrace::serve
