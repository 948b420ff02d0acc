"""The parts of bench/coverage."""
