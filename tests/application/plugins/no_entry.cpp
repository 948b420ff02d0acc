// A library like any other.
extern "C" int nothing_of_millrace() { return 1; }
