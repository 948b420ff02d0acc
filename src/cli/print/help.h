#pragma once
// How --help looks: in lines that fit the terminal, with each option's limits after its text.
#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::cli {

/// The columns of the terminal at standard output; 100 if it is none.
std::size_t terminal_width();

/// The text in lines of at most `width` columns, each after the first behind `indent` spaces. Lines
/// of the text stay apart; words longer than a line stay whole.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::size_t width) : width_(width) { column_width(30); }

  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* verb) const override;
  std::string make_description(const CLI::App* app) const override;

 private:
  std::string row(const std::string& name, const std::string& text) const;

  std::size_t width_;
};

}  // namespace millrace::cli
