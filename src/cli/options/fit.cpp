#include "cli/options/fit.h"

#include "cli/options/common.h"

namespace millrace::cli {

void bind_fit(CLI::App& verb, api::FitOptions& options) {
  begin_group(verb, "Fit a board");
  CLI::Option* fit = verb.add_option(
      "--fit", options.file,
      "Fit the board's model of times to measured layers or to --total; write the board file here");
  verb.add_option("--also", options.also,
                  "Another model whose measured layers are used for the fit (repeatable). All "
                  "models have the same weight")
      ->needs(fit);
  verb.add_option("--board", options.board,
                  "A shipped board or a board file. Its times are modelled, not measured. With "
                  "--fit: the board to fit");
  verb.add_option(
          "--total", options.totals,
          "DEVICE=TIME: the published time of a frame on one processor of the device, such "
          "as gpu=7.3ms (repeatable). Nothing is measured")
      ->needs(fit);
}

}  // namespace millrace::cli
