#include "sim/inbox.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "tests/sim/fixtures.hpp"
#include "workloads/gather.hpp"

using namespace ridgeline;
using core::Instant;
using sim::Inbox;
using sim::Simulation;
using tests::ListedRequests;

namespace {

/// What a server that looks into its inbox at these instants finds there: ids, and a '|' after each
/// look.
std::string seen_at(ListedRequests source, const std::vector<std::int64_t>& looks) {
  Simulation simulation;
  Inbox inbox(simulation, source);
  std::string log;
  simulation.spawn("clients", [&] { inbox.run_clients(); });
  simulation.spawn("server", [&] {
    for (const std::int64_t ns : looks) {
      simulation.sleep_until({ns});
      auto& due = inbox.due({ns});
      for (; !due.empty(); due.pop_front()) {
        log += std::to_string(due.front().id);
        inbox.answered({ns});
      }
      log += '|';
    }
    inbox.close();
  });
  simulation.run();
  return log;
}

}  // namespace

TEST_CASE("At an instant the server sees every request that has arrived by then, oldest first",
          "[sim][inbox]") {
  CHECK(seen_at({5, 5, 7}, {4, 5, 6, 7}) == "|01||2|");
  CHECK(seen_at({5, 5, 7, 9}, {8, 9}) == "012|3|");
  CHECK(seen_at({0}, {0}) == "0|");
}

TEST_CASE("A server ahead of its clients sees what they would have brought", "[sim][inbox]") {
  Simulation simulation;
  ListedRequests source{5, 7, 9};
  Inbox inbox(simulation, source);
  std::size_t found = 0;
  Instant next;
  simulation.spawn("server", [&] {  // no clients' actor at all
    found = inbox.due({7}).size();
    next = inbox.next_arrival();
  });
  simulation.run();
  CHECK(found == 2);
  CHECK(next == Instant{9});
}

/// When a server that answers at once is woken, until nobody comes any more; `look` sees what is
/// due.
template <class Look>
std::vector<std::int64_t> wakings(Simulation& simulation, Inbox& inbox, const Look& look) {
  std::vector<std::int64_t> woken;
  simulation.spawn("clients", [&] { inbox.run_clients(); });
  simulation.spawn("server", [&] {
    while (const auto when = inbox.wait()) {
      woken.push_back(when->ns);
      auto& due = inbox.due(*when);
      look(due);
      for (; !due.empty(); due.pop_front()) inbox.answered(*when);
    }
  });
  simulation.run();
  return woken;
}

TEST_CASE("A server that waits is woken by the next arrival, and told when that was",
          "[sim][inbox]") {
  Simulation simulation;
  ListedRequests source{5, 9};
  Inbox inbox(simulation, source);
  CHECK(wakings(simulation, inbox, [](const auto&) {}) == std::vector<std::int64_t>{5, 9});
  CHECK(inbox.answered_count() == 2);
  CHECK(inbox.next_arrival() == core::kNever);
}

TEST_CASE("A server is woken when a request comes, however long ago it was sent", "[sim][inbox]") {
  Simulation simulation;
  ListedRequests listed{5, 9};
  const auto source = workloads::gathered(std::make_unique<ListedRequests>(listed), {{20}, 8});
  Inbox inbox(simulation, *source);
  const auto both = [](const auto& due) {
    CHECK(due.size() == 2);
    CHECK(due.front().arrival == Instant{5});
  };
  CHECK(wakings(simulation, inbox, both) ==
        std::vector<std::int64_t>{29});  // nobody has come for 20 ns after the one at 9
}

TEST_CASE("Waiting ends when no request is left and none can come", "[sim][inbox]") {
  Simulation simulation;
  ListedRequests source{};
  Inbox inbox(simulation, source);
  bool nothing = false;
  simulation.spawn("server", [&] { nothing = !inbox.wait(); });
  simulation.spawn("clients", [&] { inbox.run_clients(); });
  simulation.run();
  CHECK(nothing);
}

TEST_CASE("An answer brings the client's next request", "[sim][inbox]") {
  Simulation simulation;
  ListedRequests source({0}, 3);
  Inbox inbox(simulation, source);
  CHECK(inbox.reacts());
  std::vector<std::int64_t> arrivals;
  simulation.spawn("clients", [&] { inbox.run_clients(); });
  simulation.spawn("server", [&] {
    Instant now;
    while (const auto when = inbox.wait()) {
      now = std::max(now, *when);
      auto& due = inbox.due(now);
      const auto request = due.front();
      due.pop_front();
      arrivals.push_back(request.arrival.ns);
      now = now + core::Nanoseconds{10};  // to serve it
      simulation.sleep_until(now);
      inbox.answered(now);
    }
  });
  simulation.run();
  CHECK(arrivals == std::vector<std::int64_t>{0, 10, 20, 30});
  CHECK(inbox.answered_count() == 4);
}

TEST_CASE("When the server closes, clients that would come later stay at home", "[sim][inbox]") {
  Simulation simulation;
  ListedRequests source{5, 1'000'000'000'000};
  Inbox inbox(simulation, source);
  simulation.spawn("clients", [&] { inbox.run_clients(); });
  simulation.spawn("server", [&] {
    static_cast<void>(inbox.wait());
    inbox.due({5}).clear();
    inbox.close();
  });
  simulation.run();  // ends, and is not a deadlock
  CHECK(source.next_arrival() == Instant{1'000'000'000'000});
}

TEST_CASE("When the server closes, clients that wait for an answer go home", "[sim][inbox]") {
  Simulation simulation;
  ListedRequests source({5}, 1);
  Inbox inbox(simulation, source);
  simulation.spawn("clients", [&] { inbox.run_clients(); });
  simulation.spawn("server", [&] {
    static_cast<void>(inbox.wait());
    inbox.due({5}).clear();  // taken, never answered
    inbox.close();
  });
  simulation.run();
  CHECK(inbox.answered_count() == 0);
}
