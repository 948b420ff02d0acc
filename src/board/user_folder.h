#pragma once
// Notes for other processes of the same user.

namespace millrace::board {

/// Opens a file, which is made if need be, to read and write; the caller closes it. It lies in
/// $XDG_RUNTIME_DIR/millrace, else /run/user/UID/millrace, else /tmp/millrace-UID: a folder of this
/// user's, which nobody else may enter. -1 without such a folder.
int open_in_user_folder(const char* name);

}  // namespace millrace::board
