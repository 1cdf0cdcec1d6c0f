#include "cli/processes.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace ridgeline::cli {
namespace {

enum class Failure : int { none, config, simulation, bug };

/// What the processes share.
struct Board {
  std::atomic<std::int64_t> next{0};
  std::atomic<std::int64_t> done{0};
  std::atomic<bool> failed{false};  // whoever sets it writes the rest
  Failure failure = Failure::none;
  std::array<char, 4096> message{};
};

class SharedBoard {
 public:
  SharedBoard() {
    void* memory =
        ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    board_ = new (memory) Board();
  }
  ~SharedBoard() { ::munmap(board_, sizeof(Board)); }
  SharedBoard(const SharedBoard&) = delete;
  SharedBoard& operator=(const SharedBoard&) = delete;
  Board* operator->() const { return board_; }

 private:
  Board* board_;
};

void note(const SharedBoard& board, Failure failure, const std::string& message) {
  if (board->failed.exchange(true)) return;
  const std::size_t length = std::min(message.size(), board->message.size() - 1);
  std::memcpy(board->message.data(), message.data(), length);
  board->failure = failure;
}

/// The life of a process; it never returns.
[[noreturn]] void serve(const SharedBoard& board, std::int64_t n,
                        const std::function<void(std::int64_t)>& work) {
  std::signal(SIGINT, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  try {
    while (!board->failed) {
      const std::int64_t i = board->next++;
      if (i >= n) break;
      work(i);
      ++board->done;
    }
  } catch (const core::ConfigError& e) {
    note(board, Failure::config, e.what());
  } catch (const core::SimulationError& e) {
    note(board, Failure::simulation, e.what());
  } catch (const std::exception& e) {
    note(board, Failure::bug, e.what());
  }
  ::_exit(0);
}

void rethrow(const SharedBoard& board) {
  const std::string message = board->message.data();
  switch (board->failure) {
    case Failure::none:
      return;
    case Failure::config:
      throw core::ConfigError(message);
    case Failure::simulation:
      throw core::SimulationError(message);
    case Failure::bug:
      throw core::InvariantError(message);
  }
}

}  // namespace

bool in_processes(std::int64_t n, std::int64_t jobs, const std::function<void(std::int64_t)>& work,
                  const std::function<bool(std::int64_t)>& progress) {
  const SharedBoard board;
  bool wanted = progress(0);  // from here on Ctrl-C is heard
  std::fflush(nullptr);       // or each process would print what is buffered
  std::vector<pid_t> running;
  for (std::int64_t i = 0; i < std::min(jobs, n) && wanted; ++i) {
    const pid_t process = ::fork();
    if (process == 0) serve(board, n, work);
    if (process < 0) {
      if (!running.empty()) break;  // fewer will do
      throw core::SimulationError(
          fmt::format("no process can be started: {}", std::strerror(errno)));
    }
    running.push_back(process);
  }
  int killed_by = 0;
  while (!running.empty()) {
    if (wanted && !progress(board->done)) {
      wanted = false;
      for (const pid_t process : running) ::kill(process, SIGTERM);
    }
    std::erase_if(running, [&](pid_t process) {
      int status = 0;
      if (::waitpid(process, &status, WNOHANG) == 0) return false;
      if (WIFSIGNALED(status)) killed_by = WTERMSIG(status);
      return true;
    });
    constexpr useconds_t kAWhile = 20'000;
    if (!running.empty()) ::usleep(kAWhile);
  }
  if (!progress(board->done)) return false;  // Ctrl-C reaches the processes before us
  rethrow(board);
  if (killed_by != 0)
    throw core::SimulationError(fmt::format("a process was ended by signal {}", killed_by));
  return wanted;
}

}  // namespace ridgeline::cli
