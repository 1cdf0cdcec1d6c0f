#pragma once
// The whole program as one function, for the executable and for the Python package, which is the
// same program.

namespace ridgeline::cli {

/// Runs a command line, `argv[0]` being the program's name. Returns the exit code; never throws.
[[nodiscard]] int program(int argc, char** argv);

}  // namespace ridgeline::cli
