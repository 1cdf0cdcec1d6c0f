#include "sim/requests_csv.hpp"

#include <catch2/catch.hpp>

#include "tests/sim/fixtures.hpp"

using namespace ridgeline;
using sim::RequestRecord;
using sim::RequestStatus;

namespace {

RequestRecord record() {
  RequestRecord r;
  r.id = 0;
  r.status = RequestStatus::finished;
  r.prompt_tokens = 100;
  r.asked_tokens = 20;
  r.output_tokens = 15;
  r.preemptions = 2;
  r.arrival = {1000};
  r.scheduled = {1500};
  r.first_token = {4000};
  r.last_token = {9000};
  r.preempted = {300};
  r.cached_tokens = 48;
  for (std::size_t i = 0; i < hw::kCauses; ++i) {
    r.until_first_token.by_cause[i].count = 10 + static_cast<std::int64_t>(i);
    r.after_first_token.by_cause[i].count = 20 + static_cast<std::int64_t>(i);
  }
  return r;
}

std::string error_in(const std::string& text) {
  return tests::error_of([&] { static_cast<void>(sim::parse_requests_csv(text, "r.csv")); });
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

const std::string kHeader =
    "id,status,prompt_tokens,asked_tokens,output_tokens,preemptions,arrival_ns,scheduled_ns,first_"
    "token_ns,last_token_ns,ttft_ns,"
    "e2e_ns,queue_ns,preempted_ns,prefill_compute_ns,prefill_memory_ns,prefill_floor_ns,prefill_"
    "communication_ns,prefill_dispatch_ns,prefill_launch_ns,"
    "prefill_host_ns,decode_compute_ns,decode_memory_ns,decode_floor_ns,decode_communication_ns,"
    "decode_dispatch_ns,decode_launch_ns,decode_host_ns,cached_tokens\n";
// ttft = 4000 - 1000, e2e = 9000 - 1000, queue = 1500 - 1000.
const std::string kRow =
    "0,finished,100,20,15,2,1000,1500,4000,9000,3000,8000,500,300,10,11,12,13,14,15,16,20,21,22,"
    "23,24,25,26,48\n";

}  // namespace

TEST_CASE("A request is a row of whole numbers, units in the column names", "[sim][csv]") {
  CHECK(sim::requests_csv({record()}) == kHeader + kRow);
  CHECK(sim::requests_csv({}) == kHeader);
}

TEST_CASE("What was written reads back the same", "[sim][csv]") {
  std::vector<RequestRecord> records{record(), record(), record(), RequestRecord{}};
  records[1].status = RequestStatus::refused;
  records[2].status = RequestStatus::interrupted;
  records[2].last_token = {INT64_MAX};
  for (std::size_t i = 0; i < records.size(); ++i) records[i].id = i;
  CHECK(sim::parse_requests_csv(sim::requests_csv(records), "r.csv") == records);
  CHECK(sim::parse_requests_csv(kHeader, "r.csv").empty());
}

TEST_CASE("Line ends of another system, and a missing last one, do not matter", "[sim][csv]") {
  const std::vector<RequestRecord> one{record()};
  CHECK(sim::parse_requests_csv(replaced(kHeader, "\n", "\r\n") + replaced(kRow, "\n", "\r\n"),
                                "r.csv") == one);
  CHECK(sim::parse_requests_csv(kHeader + replaced(kRow, "\n", ""), "r.csv") == one);
}

TEST_CASE("A damaged file is refused with the place of the damage", "[sim][csv]") {
  CHECK(error_in("") == "r.csv:1:1: id: expected a column of this name, got the columns ''");
  CHECK(error_in(replaced(kHeader, "status,", "state,"))
            .find("r.csv:1:1: status: expected a column of this name, got the columns 'id,") == 0);
  CHECK(error_in(replaced(kHeader, "decode_host_ns", "decode_host"))
            .find("r.csv:1:1: decode_host_ns: expected a column") == 0);
  CHECK(error_in(kHeader + replaced(kRow, "finished", "finish")) ==
        "r.csv:2:3: status: expected finished, refused or interrupted, got 'finish'");
  CHECK(error_in(kHeader + replaced(kRow, "0,finished,100", "0,finished,ten")) ==
        "r.csv:2:12: prompt_tokens: expected a whole number, got 'ten'");
  CHECK(error_in(kHeader + kRow + replaced(kRow, "0,fin", "-7,fin")) ==
        "r.csv:3:1: id: expected a whole number from 0 to 9223372036854775807, got '-7'");
  CHECK(error_in(kHeader + kRow + kRow) == "r.csv:3:1: id: expected 1, got '0'");
  CHECK(error_in(kHeader + "0,finished,100\n") ==
        "r.csv:2:1: expected 29 fields as in the header, got 3: '0,finished,100'");
}
