#include "cli/program.hpp"

int main(int argc, char** argv) { return ridgeline::cli::program(argc, argv); }
