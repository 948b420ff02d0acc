#include "application/processing.h"

#include <fmt/format.h>

#include <array>

#include "application/words.h"
#include "base/error.h"
#include "base/file.h"

namespace millrace::application {

std::vector<network::Array> Processing::before(const Picture&) const {
  throw InputError("preprocess",
                   "this processing has nothing to do before a network; name it under "
                   "'postprocess', or override before()");
}

Findings Processing::after(const Picture&, std::span<const network::Array>) const {
  throw InputError("postprocess",
                   "this processing has nothing to do after a network; name it under "
                   "'preprocess', or override after()");
}

void Registry::add(const std::string& name, Make make) {
  if (name.empty()) throw InputError("plug-in", "found a processing without a name; give it one");
  const bool is_taken = is_built_in(name) || makers_.contains(name);
  if (is_taken)
    throw InputError("plug-in",
                     fmt::format("there is a processing '{}' already; give it another name", name));
  if (!make)
    throw InputError("plug-in",
                     fmt::format("the processing '{}' has no function that makes it", name));
  makers_.emplace(name, std::move(make));
}

std::unique_ptr<Processing> Registry::make(const std::string& name, const Setup& setup,
                                           const std::string& place) const {
  if (const auto found = makers_.find(name); found != makers_.end()) {
    std::unique_ptr<Processing> made;
    try {
      made = found->second(setup);
    } catch (const std::exception& error) {
      throw InputError(place, fmt::format("'{}' cannot be made: {}", name, error.what()));
    } catch (...) {
      throw InputError(place, fmt::format("'{}' cannot be made, for a reason that is no "
                                          "std::exception",
                                          name));
    }
    if (made == nullptr)
      throw InputError(place, fmt::format("the plug-in made nothing for '{}'", name));
    return made;
  }
  std::vector<std::string_view> known(built_in.begin(), built_in.end());
  for (const auto& [other, maker] : makers_) known.push_back(other);
  throw InputError(place,
                   fmt::format("found '{}', which is neither built in nor of a plug-in{}; name the "
                               "plug-in's library under 'plugins' or with ⟨plugin⟩",
                               name, did_you_mean(name, known)));
}

}  // namespace millrace::application
