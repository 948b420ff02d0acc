// millrace inspect MODEL
#include <fmt/format.h>

#include "api/engines.h"
#include "api/json/model.h"
#include "api/open_model.h"
#include "api/text/model.h"
#include "cli/options/common.h"
#include "cli/options/model.h"
#include "cli/verbs/verbs.h"

namespace millrace::cli {

namespace {

struct InspectOptions {
  api::Setup model;
  bool json = false;
};

void bind(CLI::App& verb, InspectOptions& options) {
  bind_model(verb, options.model);
  bind_engine_libraries(verb, options.model.context);
  bind_json(verb, options.json);
}

int run(const InspectOptions& options) {
  const network::Network network = open_model(options.model.source, options.model.context);
  const std::vector<api::Support> engines = 
      api::supports(network, board::this_machine(), options.model.context);
  fmt::print("{}", options.json ? api::inspection_json(network, engines)
                                : api::inspection_text(network, engines));
  return 0;
}

}  // namespace

void add_inspect(CLI::App& app, int& exit_code) {
  add_verb<InspectOptions>(app, exit_code,
                           {{"inspect",
                             "Show layers, shapes and costs, and what each engine supports",
                             "millrace inspect resnet18.onnx"},
                            bind,
                            run});
}

}  // namespace millrace::cli
