#include "cli/options/search.h"

#include "cli/options/between.h"

namespace millrace::cli {

void bind_search(CLI::App& verb, api::SearchOptions& search, explore::GeneticOptions& genetic) {
  verb.add_option("--search", search.method,
                  "auto (genetic, exact and replicas), one of these, or one that asks candidate by "
                  "candidate")
      ->check(CLI::IsMember(api::search_names()))
      ->capture_default_str();
  const auto set_fitness = [&genetic](const std::string& text) {
    genetic.fitness =
        text == "balance" ? explore::Fitness::balance : explore::Fitness::bottleneck;
  };
  verb.add_option_function<std::string>("--fitness", set_fitness, "Of the genetic search")
      ->check(CLI::IsMember({"bottleneck", "balance"}))
      ->default_str("bottleneck");
  verb.add_option("--population", genetic.population, "Of the genetic search")
      ->check(CLI::Range(4, 100000))
      ->capture_default_str();
  verb.add_option("--epochs", genetic.epochs, "Of the genetic search, at most")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  verb.add_option("--mutation", genetic.mutation, "Share of mutated offspring")
      ->check(between(0.0, 1.0))
      ->capture_default_str();
  verb.add_option("--contiguous", genetic.contiguous,
                  "Share of the first generation that is cut into contiguous parts; 0: the papers' "
                  "start")
      ->check(between(0.0, 1.0))
      ->capture_default_str();
  verb.add_option("--patience", genetic.patience,
                  "Stop after this many epochs without improvement")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
}

void bind_configuration_search(CLI::App& verb, api::SearchOptions& options) {
  verb.add_option("--objective", options.objective,
                  "What searches such as cut-points ask of a candidate: simulated (the usual) or "
                  "measured")
      ->check(CLI::IsMember({"simulated", "measured"}));
  verb.add_option("--time-limit", options.time_limit, "Of such a search, such as 10s");
  verb.add_option("--candidates", options.candidates, "That it asks about at most; usually 400")
      ->check(CLI::Range(1, 10'000'000));
  verb.add_option("--jobs", options.jobs, "Candidates that are simulated at one time")
      ->check(CLI::Range(1, 256));
  CLI::Option* log =
      verb.add_option("--log", options.log, "Write every candidate to this CSV file");
  verb.add_option("--resume", options.resume, "Go on with the search that wrote this file")
      ->excludes(log);
  verb.add_option("--threshold", options.threshold,
                  "Of cut-points: the utilisation from which on cuts move freely; usually lowered "
                  "until enough tuples were refined")
      ->check(between(0.0, 1.0));
  verb.add_option("--top", options.top,
                  "Of cut-points: so many tuples are gone on from; usually 10")
      ->check(CLI::Range(1, 10'000));
  verb.add_option("--pre-time", options.pre_time,
                  "Of such a search: what pre-processing takes on a core for each frame, such as "
                  "6.3ms; no candidate is faster than all cores can do that");
  verb.add_option("--post-time", options.post_time, "The same of post-processing");
  verb.add_flag("!--no-fallback", options.fallback,
                "No plan with layers between others on a processor, or inside of a search's stage "
                "on it, that run elsewhere because it cannot run them");
  verb.add_option("--allowed-loss", options.allowed_loss,
                  "Of cut-points: share of the throughput for which slots are saved; usually 0.01")
      ->check(between(0.0, 0.5));
}

}  // namespace millrace::cli
