#include "application/loaded/running.h"

#include <string>
#include <vector>

#include "base/error.h"

namespace millrace::application {

void check_that_the_rest_stays(const LoadedApplication& now, const LoadedApplication& next) {
  std::vector<Input> inputs = next.application.inputs();
  const std::vector<Input> old = now.application.inputs();
  for (std::size_t i = 0; i < inputs.size() && i < old.size(); ++i) inputs[i].place = old[i].place;
  const char* const remedy = "which stays while it runs; end it and run it again";
  if (inputs != old)
    throw InputError(next.application.input.place, std::string("is another 'input', ") + remedy);
  if (next.application.output != now.application.output)
    throw InputError(next.application.file, std::string("has another 'output', ") + remedy);
  const network::Network &first = now.network(), &second = next.network();
  if (inputs.front().kind == InputKind::arrays &&
      first[first.inputs.front()].shape != second[second.inputs.front()].shape)
    throw InputError(
        next.application.file,
        std::string("has a network for other arrays than those of the 'input', ") + remedy);
}

}  // namespace millrace::application
