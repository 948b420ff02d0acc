#pragma once
// What each technique added to a rate, one after the other.
#include <string>
#include <vector>

namespace millrace::present {

/// A step: what was added to the one before it, and the rates measured with it.
struct WaterfallStep {
  std::string name;
  std::vector<double> rates;  // frames per second of each round; at least one, all as many

  double median() const;
  double least() const;
  double most() const;
};

/// How many times the rate of another the step's is: the median of the rounds, in each of which
/// both met the same machine.
double times(const WaterfallStep& step, const WaterfallStep& other);

/// A line for each step: its median rate with the range of the rounds, how many times the first
/// step's it is, what it added, and a bar. Precondition: at least one step.
std::string waterfall_text(const std::vector<WaterfallStep>& steps);

/// The same as a picture (SVG), complete in itself: of each bar, what the step added has a colour
/// of its own, and a line shows the range of the rounds.
std::string waterfall_svg(const std::vector<WaterfallStep>& steps, const std::string& title);

}  // namespace millrace::present
