#pragma once
// How --help looks: in lines that fit the terminal and the first sentence of each text. --help-all
// adds the keys of --set, the rest of the texts, and limits.
#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

namespace millrace::cli {

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter(std::size_t width, bool shows_all) : width_(width), shows_all_(shows_all) {
    column_width(30);
  }

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* verb) const override;
  std::string make_description(const CLI::App* app) const override;

 private:
  std::string row(const std::string& name, const std::string& text) const;
  std::string options(const CLI::App& verb) const;
  std::string text_of(const CLI::Option& option, const CLI::App& verb) const;

  std::size_t width_;
  bool shows_all_;
};

}  // namespace millrace::cli
