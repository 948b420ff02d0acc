// Uses the installed library as a stranger would.
#include <iostream>

#include "board/board.h"
#include "network/npy.h"

int main(int, char** arguments) {
  const std::string models = arguments[1];
  const auto images = millrace::network::read_npy(models + "/digits_test_images.npy");
  const auto board = millrace::board::this_machine();
  std::cout << "reads digits: " << images.shape[0] << " images of " << images.shape[1] << " x "
            << images.shape[2] << " x " << images.shape[3] << "; this machine has "
            << board.processors.size() << " processors\n";
}
