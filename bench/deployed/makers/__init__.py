"""One file for each source of architectures; `make` gives a module, `export` writes the file."""
