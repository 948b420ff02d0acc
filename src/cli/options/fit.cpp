#include "cli/options/fit.h"

namespace millrace::cli {

void bind_fit(CLI::App& verb, api::FitOptions& options) {
  CLI::Option* fit = verb.add_option(
      "--fit", options.file,
      "Write a board file whose model of times agrees with the measured layers, or with --total");
  verb.add_option("--also", options.also,
                  "With --fit: a further model whose measured layers count too (repeatable); all "
                  "weigh the same")
      ->needs(fit);
  verb.add_option("--board", options.board,
                  "A shipped board or a board file: its modelled times, nothing is measured; with "
                  "--fit the board to fit");
  verb.add_option(
          "--total", options.totals,
          "DEVICE=TIME: what a frame takes on a processor of the device, as published, such "
          "as gpu=7.3ms (repeatable); nothing is measured")
      ->needs(fit);
}

}  // namespace millrace::cli
