#include "profile/unlike.h"

namespace millrace::profile {

std::vector<Unlike> unlike(const Profile& profile, const board::Board& board) {
  constexpr double clearly = 1.25;  // more than the cores of one chip differ
  const auto are_alike = [&](const ProcessorProfile& a, const ProcessorProfile& b) {
    const board::Device* device = board::device_of(board, a.processor);
    return device != nullptr && device == board::device_of(board, b.processor) &&
           a.processor.cores.size() == b.processor.cores.size() && a.precision == b.precision;
  };
  std::vector<Unlike> result;
  for (const ProcessorProfile& slower : profile.processors) {
    const ProcessorProfile* fastest = &slower;
    for (const ProcessorProfile& other : profile.processors)
      if (are_alike(slower, other) && other.whole.median < fastest->whole.median) fastest = &other;
    if (fastest->whole.median <= Time{}) continue;
    const double ratio = seconds(slower.whole.median) / seconds(fastest->whole.median);
    if (ratio > clearly)
      result.push_back({slower.processor.name, fastest->processor.name, slower.precision, ratio});
  }
  return result;
}

}  // namespace millrace::profile
