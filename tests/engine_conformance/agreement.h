#pragma once
// How far an engine's results are from those of the plain loops.
#include <string>
#include <vector>

#include "engine/engine.h"

namespace millrace::test {

/// The engine that MILLRACE_AGREEMENT_ENGINE names; oneDNN's if there is no such variable. One that
/// runs nothing on cores runs on the first device that it reaches.
std::string engine_under_test();

/// What differs from float32 on the engine under test.
struct AgreementOptions {
  std::string engine = engine_under_test();
  std::vector<board::Variant> variants = {};
  const network::Calibration* calibration = nullptr;
  std::uint64_t seed = 5;  // of the inputs
};

/// The largest difference of any output, over the largest value of that output, or 0.1; infinite
/// where one of the two is no finite number and they differ, or where integers differ.
double largest_difference(const std::vector<network::Array>& found,
                          const std::vector<network::Array>& expected);

/// Whether the engine runs the network in one piece.
Verdict can_run_in_one_piece(const network::Network& network, const AgreementOptions& options);

/// The same from network::evaluate(). The whole network is one subnet.
double error_in_one_piece(const network::Network& network, const AgreementOptions& options);

/// The layers with the shapes of what they read and make, a line each.
std::string text_of(const network::Network& network);

}  // namespace millrace::test
