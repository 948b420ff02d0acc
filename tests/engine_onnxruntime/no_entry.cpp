extern "C" int millrace_test_nothing() { return 0; }
