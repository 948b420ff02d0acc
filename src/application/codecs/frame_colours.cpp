#include "application/codecs/frame_colours.h"

extern "C" {
#include <libswscale/swscale.h>
}

#include <algorithm>
#include <cmath>

namespace millrace::application {
namespace {

struct Chromaticity {
  double x = 0, y = 0;
};

/// Chromaticities of red, green, blue and white.
struct Primaries {
  int name = 0;
  std::array<Chromaticity, 4> of{};
};

constexpr Chromaticity d65{0.3127, 0.3290}, c{0.310, 0.316};

constexpr std::array<Primaries, 10> known_primaries{{
    {AVCOL_PRI_BT709, {{{0.640, 0.330}, {0.300, 0.600}, {0.150, 0.060}, d65}}},
    {AVCOL_PRI_BT470M, {{{0.67, 0.33}, {0.21, 0.71}, {0.14, 0.08}, c}}},
    {AVCOL_PRI_BT470BG, {{{0.64, 0.33}, {0.29, 0.60}, {0.15, 0.06}, d65}}},
    {AVCOL_PRI_SMPTE170M, {{{0.630, 0.340}, {0.310, 0.595}, {0.155, 0.070}, d65}}},
    {AVCOL_PRI_SMPTE240M, {{{0.630, 0.340}, {0.310, 0.595}, {0.155, 0.070}, d65}}},
    {AVCOL_PRI_FILM, {{{0.681, 0.319}, {0.243, 0.692}, {0.145, 0.049}, c}}},
    {AVCOL_PRI_BT2020, {{{0.708, 0.292}, {0.170, 0.797}, {0.131, 0.046}, d65}}},
    {AVCOL_PRI_SMPTE431, {{{0.680, 0.320}, {0.265, 0.690}, {0.150, 0.060}, {0.314, 0.351}}}},
    {AVCOL_PRI_SMPTE432, {{{0.680, 0.320}, {0.265, 0.690}, {0.150, 0.060}, d65}}},
    {AVCOL_PRI_EBU3213, {{{0.630, 0.340}, {0.295, 0.605}, {0.155, 0.077}, d65}}},
}};

using Vector = std::array<double, 3>;

Vector tristimulus(const Chromaticity& of) { return {of.x / of.y, 1, (1 - of.x - of.y) / of.y}; }

double determinant(const Vector& a, const Vector& b, const Vector& c_) {
  return a[0] * (b[1] * c_[2] - b[2] * c_[1]) - b[0] * (a[1] * c_[2] - a[2] * c_[1]) +
         c_[0] * (a[1] * b[2] - a[2] * b[1]);
}

/// Differences of limited range span 224 of 255 steps.
std::array<int, 4> coefficients_of(double red, double blue) {
  const double green = 1 - red - blue;
  const auto scaled = [](double value) {
    return static_cast<int>(std::lround(value * 255 / 224 * 65536));
  };
  return {scaled(2 * (1 - red)), scaled(2 * (1 - blue)), scaled(2 * blue * (1 - blue) / green),
          scaled(2 * red * (1 - red) / green)};
}

/// By the shares of red and blue in white's luminance. (H.273, equations 32 to 37)
std::array<int, 4> derived_coefficients(int primaries) {
  const auto* found = std::find_if(known_primaries.begin(), known_primaries.end(),
                                   [&](const Primaries& each) { return each.name == primaries; });
  const Primaries& from = found == known_primaries.end() ? known_primaries.front() : *found;
  const Vector red = tristimulus(from.of[0]), green = tristimulus(from.of[1]),
               blue = tristimulus(from.of[2]), white = tristimulus(from.of[3]);
  const double all = determinant(red, green, blue);
  return coefficients_of(determinant(white, green, blue) / all,
                         determinant(red, green, white) / all);
}

std::array<int, 4> swscale_coefficients(int space) {
  const int* const table = sws_getCoefficients(space);
  return {table[0], table[1], table[2], table[3]};
}

}  // namespace

ColourMatrix colour_matrix_of(const AVFrame& frame) {
  switch (frame.colorspace) {
    case AVCOL_SPC_YCGCO:
      return {swscale_coefficients(SWS_CS_DEFAULT), true};
    case AVCOL_SPC_CHROMA_DERIVED_NCL:
      return {derived_coefficients(frame.color_primaries)};
    case AVCOL_SPC_BT709:
    case AVCOL_SPC_FCC:
    case AVCOL_SPC_BT470BG:
    case AVCOL_SPC_SMPTE170M:
    case AVCOL_SPC_SMPTE240M:
    case AVCOL_SPC_BT2020_NCL:
      return {swscale_coefficients(frame.colorspace)};
    case AVCOL_SPC_UNSPECIFIED:
    case AVCOL_SPC_RGB:
      return {swscale_coefficients(SWS_CS_DEFAULT)};
    case AVCOL_SPC_BT2020_CL:
      return {swscale_coefficients(SWS_CS_BT2020), false, false};
    default:
      return {swscale_coefficients(SWS_CS_DEFAULT), false, false};
  }
}

}  // namespace millrace::application
