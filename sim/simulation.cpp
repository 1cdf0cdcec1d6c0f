#include "sim/simulation.hpp"

#include <array>
#include <csignal>
#include <exception>
#include <vector>

#include <simgrid/s4u.hpp>

#include "core/error.hpp"

namespace ridgeline::sim {
namespace s4u = simgrid::s4u;

namespace {

/// Gives signals back to whoever had them: SimGrid takes these for itself when an engine is made,
/// and Ctrl-C is the program's, or Python's.
class KeptSignals {
 public:
  KeptSignals() {
    for (std::size_t i = 0; i < kTaken.size(); ++i) ::sigaction(kTaken[i], nullptr, &before_[i]);
  }
  ~KeptSignals() {
    for (std::size_t i = 0; i < kTaken.size(); ++i) ::sigaction(kTaken[i], &before_[i], nullptr);
  }
  KeptSignals(const KeptSignals&) = delete;
  KeptSignals& operator=(const KeptSignals&) = delete;

 private:
  static constexpr std::array kTaken{SIGINT, SIGSEGV, SIGBUS};
  std::array<struct sigaction, kTaken.size()> before_{};
};

/// SimGrid reads its configuration once a process, from an argument vector it keeps pointers into.
s4u::Engine* new_engine() {
  static std::string name = "ridgeline";
  static std::string quiet = "--log=root.thresh:error";
  static std::vector<char*> argv{name.data(), quiet.data(), nullptr};
  int argc = 2;
  char** arguments = argv.data();
  if (s4u::Engine::is_initialized())
    throw core::InvariantError("a second simulation while one is running in this process");
  const KeptSignals kept;
  return new s4u::Engine(&argc, arguments);
}

/// Where a deadlock of the simulation at hand is noted. SimGrid keeps deadlock callbacks for the
/// life of the process, whatever engine they were registered with, so there is one for all
/// simulations.
bool* deadlocked_now = nullptr;

void note_deadlocks_in(bool* flag) {
  static const bool registered = [] {
    s4u::Engine::on_deadlock_cb([] {
      if (deadlocked_now != nullptr) *deadlocked_now = true;
    });
    return true;
  }();
  static_cast<void>(registered);
  deadlocked_now = flag;
}

}  // namespace

struct Simulation::State {
  std::unique_ptr<s4u::Engine> engine{new_engine()};
  s4u::Host* host = nullptr;
  double start = 0.0;
  std::exception_ptr failure;
  bool deadlocked = false;
};

struct Signal::State {
  s4u::MutexPtr mutex = s4u::Mutex::create();
  s4u::ConditionVariablePtr changed = s4u::ConditionVariable::create();
};

Simulation::Simulation() : state_(std::make_unique<State>()) {
  s4u::Engine::set_config("surf/precision:1e-10");  // a tenth of our nanosecond
  s4u::NetZone* zone = s4u::create_full_zone("server");
  state_->host = zone->create_host("host", 1e9);
  zone->seal();
  note_deadlocks_in(&state_->deadlocked);
  state_->start = s4u::Engine::get_clock();
}

Simulation::~Simulation() { note_deadlocks_in(nullptr); }

void Simulation::spawn(const std::string& name, std::function<void()> body) {
  State* state = state_.get();
  s4u::Actor::create(name, state->host, [state, body = std::move(body)] {
    try {
      body();
    } catch (const std::exception&) {  // not `...`: SimGrid ends actors by throwing something else
      if (!state->failure) state->failure = std::current_exception();
      s4u::Actor::kill_all();
    }
  });
}

void Simulation::run() {
  state_->engine->run();
  if (state_->failure) std::rethrow_exception(state_->failure);
  if (state_->deadlocked)
    throw core::SimulationError("the simulation is deadlocked: every actor waits for another");
}

void Simulation::sleep_until(core::Instant instant) const {
  const double target = state_->start + instant.since_start().value();
  if (target > s4u::Engine::get_clock()) s4u::this_actor::sleep_until(target);
}

Signal::Signal(Simulation&) : state_(std::make_unique<State>()) {}
Signal::~Signal() = default;

void Signal::notify() { state_->changed->notify_all(); }

void Signal::wait(const std::function<bool()>& condition) {
  std::unique_lock<s4u::Mutex> lock(*state_->mutex);
  while (!condition()) state_->changed->wait(lock);
}

}  // namespace ridgeline::sim
