#pragma once
// Another program, until it ends.
#include <functional>
#include <string>
#include <vector>

namespace millrace_rknn {

struct EndedProgram {
  int status = 0;     // 0: well; 127: it could not be started
  std::string words;  // the last that it printed, errors too
  bool was_stopped = false;
};

/// Runs the program, the first word, with the others. While it runs, `goes_on` is asked a few times
/// a second; once it says no, the program and what that started are ended. SdkFailure if the system
/// gives no process.
EndedProgram run_program(const std::vector<std::string>& words,
                         const std::function<bool()>& goes_on);

}  // namespace millrace_rknn
