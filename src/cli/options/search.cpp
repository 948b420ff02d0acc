#include "cli/options/search.h"

#include "cli/options/common.h"
#include "cli/options/range_check.h"

namespace millrace::cli {

void bind_search(CLI::App& verb, api::SearchOptions& search, explore::GeneticOptions& genetic) {
  begin_group(verb, "Search");
  verb.add_option("--search", search.method,
                  "How to search. auto compares genetic, exact and replicas; cut-points and the "
                  "names after it search whole configurations: see docs/search.md")
      ->check(CLI::IsMember(api::search_names()))
      ->capture_default_str();
  verb.add_flag("!--no-fallback", search.fallback,
                "Reject a plan if a layer runs on another processor only because the processor of "
                "its neighbours cannot run it: see docs/search.md");
  const auto set_fitness = [&genetic](const std::string& text) {
    genetic.aim.fitness = explore::read_fitness(text, "--fitness");
  };
  begin_group(verb, "Genetic search");
  verb.add_option_function<std::string>("--fitness", set_fitness,
                                        "What to minimise: the time between two frames (period), "
                                        "the time of the slowest stage (bottleneck), or the "
                                        "differences between stages (balance)")
      ->default_str("period");
  verb.add_option("--population", genetic.population, "Mappings in a generation")
      ->check(CLI::Range(4, 100000))
      ->capture_default_str();
  verb.add_option("--epochs", genetic.epochs, "Largest number of generations")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  verb.add_option("--mutation", genetic.mutation, "Share of new mappings that are mutated")
      ->check(between(0.0, 1.0))
      ->capture_default_str();
  verb.add_option("--contiguous", genetic.contiguous,
                  "Share of the first generation that gives each processor one contiguous part. 0: "
                  "a fully random start, as in the papers")
      ->check(between(0.0, 1.0))
      ->capture_default_str();
  verb.add_option("--patience", genetic.patience,
                  "Stop after this number of generations without improvement")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
}

void bind_configuration_search(CLI::App& verb, api::SearchOptions& options) {
  begin_group(verb, "Search over configurations, such as cut-points");
  verb.add_option("--objective", options.objective,
                  "How to find the throughput of a candidate: simulate it, or measure it on this "
                  "machine; default: simulated")
      ->check(CLI::IsMember({"simulated", "measured"}));
  verb.add_option("--time-limit", options.time_limit,
                  "Stop the search after this time, such as 10s; default: no limit");
  verb.add_option("--candidates", options.candidates,
                  "Stop the search after this number of candidates; default: 400")
      ->check(CLI::Range(1, 10'000'000));
  verb.add_option("--jobs", options.jobs,
                  "Number of candidates that are simulated at the same time")
      ->check(CLI::Range(1, 256));
  CLI::Option* log =
      verb.add_option("--log", options.log, "Write every candidate to this CSV file");
  verb.add_option("--resume", options.resume, "Continue the search that wrote this file with --log")
      ->excludes(log);
  verb.add_option("--threshold", options.threshold,
                  "Only for cut-points and tuning-genetic: the utilisation of the last processor "
                  "from which cuts move in both directions; see docs/search.md. Default: begins "
                  "at 0.95 and falls")
      ->check(between(0.0, 1.0));
  verb.add_option("--top", options.top,
                  "Only for cut-points and tuning-genetic: how many of the best tuples of cuts the "
                  "search refines; see docs/search.md. Default: 10")
      ->check(CLI::Range(1, 10'000));
  verb.add_option("--pre-time", options.pre_time,
                  "Time of pre-processing on one core for each frame, such as 6.3ms. The cores "
                  "also need this time, which limits the throughput. Default: measured here if an "
                  "application is planned, else 0");
  verb.add_option("--post-time", options.post_time,
                  "Time of post-processing on one core for each frame, likewise");
  verb.add_option("--allowed-loss", options.allowed_loss,
                  "Only for cut-points, tuning-genetic and fine-tuner: share of the throughput "
                  "that may be lost to save slots, streams and threads; see docs/search.md. "
                  "Default: 0.01")
      ->check(between(0.0, 0.5));
  verb.add_option("--option", options.option,
                  "Only for cut-points, tuning-genetic and fine-tuner: the mapping option, such as "
                  "PND-A or \"core0 - core1\"; see docs/search.md. Default: all that the "
                  "processors have");
  verb.add_option("--start", options.start,
                  "Only for cut-points, tuning-genetic and fine-tuner: where it starts. random; or "
                  "last layers of stages, such as "
                  "20,53; or the journal of another search (--log), whose best tuples are used; "
                  "default: balanced by the profile");
}

void bind_by_hand(CLI::App& verb, application::ByHand& mapping) {
  begin_group(verb, "Stages by hand");
  CLI::Option* devices =
      verb.add_option("--devices", mapping.devices,
                      "The processor of each stage, such as core0,core1; core0+core1 are two "
                      "replicas, cores0-1 is one processor. Nothing is searched then")
          ->delimiter(',')
          ->excludes(verb.get_option("--search"));
  verb.add_option("--cut-points", mapping.cut_points,
                  "The last layer of each stage but the last, by its number from 0 or its name, "
                  "such as 20,53")
      ->delimiter(',')
      ->needs(devices);
  verb.add_option("--streams", mapping.streams,
                  "Streams of each stage: instances on the same processor, each on another frame. "
                  "One launches while another computes. Without --devices one number, up to which "
                  "the search goes; never more than the board's limit; default: 1")
      ->delimiter(',')
      ->check(CLI::Range(1, 64));
}

}  // namespace millrace::cli
