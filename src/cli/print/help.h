#pragma once
// How --help looks: in lines that fit the terminal, with each option's limits after its text.
#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::cli {

class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::size_t width) : width_(width) { column_width(30); }

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* verb) const override;
  std::string make_description(const CLI::App* app) const override;

 private:
  std::string row(const std::string& name, const std::string& text) const;

  std::size_t width_;
};

}  // namespace millrace::cli
