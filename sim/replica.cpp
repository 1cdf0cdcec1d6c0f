#include "sim/replica.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "workloads/limits.hpp"

namespace ridgeline::sim {

Replica::Replica(Simulation& simulation, Inbox& inbox, const Scenario& scenario,
                 const MemoryPlan& memory, RunResult& result)
    : simulation_(simulation),
      inbox_(inbox),
      scenario_(scenario),
      result_(result),
      kv_(memory.kv_blocks, scenario.engine.block_size),
      state_{kv_, {}, {}},
      scheduler_(make_scheduler(scenario.engine)),
      model_(scenario) {}

void Replica::serve(const std::function<bool(core::Instant)>& should_stop) {
  while (true) {
    take_arrivals();
    if (!has_work()) {
      const auto next = inbox_.wait();
      if (!next) break;
      now_ = std::max(now_, *next);
      continue;
    }
    step();
    if (should_stop(now_)) {
      result_.interrupted = true;
      break;
    }
    // Alone until the next arrival: only then must the others have had their turn.
    if (now_ >= inbox_.next_arrival()) simulation_.sleep_until(now_);
  }
  simulation_.sleep_until(now_);
  inbox_.close();
  leave_interrupted();
  if (!result_.interrupted && kv_.used_blocks() != 0)
    throw core::InvariantError("KV blocks left behind after the last request");
}

void Replica::take_arrivals() {
  auto& due = inbox_.due(now_);
  for (; !due.empty(); due.pop_front()) admit(due.front());
}

void Replica::admit(const workloads::Request& request) {
  RequestRecord record;
  record.id = request.id;
  record.prompt_tokens = request.prompt_tokens;
  record.asked_tokens = request.output_tokens;
  record.arrival = request.arrival;
  record.scheduled = record.first_token = record.last_token = request.arrival;
  if (result_.requests.size() <= request.id) result_.requests.resize(request.id + 1);
  if (passengers_.size() <= request.id) passengers_.resize(request.id + 1);

  const std::int64_t room = scenario_.engine.max_model_len - request.prompt_tokens;
  if (room < 1) {
    record.status = RequestStatus::refused;
    result_.requests[request.id] = record;
    inbox_.answered(now_);
    return;
  }
  result_.requests[request.id] = record;
  auto passenger = std::make_unique<Passenger>();
  passenger->sequence.request = request;
  passenger->sequence.output_limit = std::min(request.output_tokens, room);
  state_.waiting.push_back(&passenger->sequence);
  passengers_[request.id] = std::move(passenger);
}

void Replica::step() {
  CounterRecord counters;
  counters.running = static_cast<std::uint32_t>(state_.running.size());
  counters.waiting = static_cast<std::uint32_t>(state_.waiting.size());
  counters.kv_blocks_used = static_cast<std::uint32_t>(kv_.used_blocks());
  counters.preemptions = static_cast<std::uint32_t>(result_.preemptions);

  scheduler_->plan(state_, plan_);
  note_preemptions();
  note_admissions();
  if (plan_.chunks.empty()) {
    if (!plan_.preempted.empty())
      return;  // a lone sequence preempted itself; it starts over in the next step
    throw core::SimulationError("the scheduler found nothing to do although requests are waiting");
  }
  const workloads::StepShape shape = advance_sequences();
  result_.counters.push_back(counters);
  record_step(shape, model_.run(model_.prepare(shape)));
  emit_tokens();
}

void Replica::note_admissions() {
  for (const Sequence* sequence : plan_.admitted) {
    Passenger& passenger = *passengers_[sequence->request.id];
    RequestRecord& record = result_.requests[sequence->request.id];
    passenger.at_admission = spent_;
    if (record.preemptions == 0) {
      record.scheduled = now_;
    } else {
      record.preempted += now_ - passenger.left_batch;
    }
  }
}

void Replica::note_preemptions() {
  for (const Sequence* sequence : plan_.preempted) {
    Passenger& passenger = *passengers_[sequence->request.id];
    passenger.in_batch += spent_ - passenger.at_admission;
    passenger.left_batch = now_;
    ++result_.requests[sequence->request.id].preemptions;
    ++result_.preemptions;
  }
}

workloads::StepShape Replica::advance_sequences() {
  workloads::StepShape shape;
  for (const StepPlan::Chunk& chunk : plan_.chunks) {
    Sequence& sequence = *chunk.sequence;
    const bool decode = sequence.decodes();
    sequence.computed += chunk.tokens;
    if (decode) {
      shape.add_decode(sequence.computed);
    } else {
      shape.add_prefill(chunk.tokens, sequence.computed, sequence.outstanding() == 0);
    }
  }
  return shape;
}

void Replica::record_step(const workloads::StepShape& shape, const StepTiming& timing) {
  StepRecord record;
  record.start = now_;
  record.ledger = timing.ledger;
  record.prefill_qk = shape.prefill_qk;
  record.prefill_qq = shape.prefill_qq;
  record.decode_sequences = static_cast<std::uint32_t>(shape.decode_sequences);
  record.decode_context = static_cast<std::uint32_t>(shape.decode_context);
  record.prefill_sequences = static_cast<std::uint32_t>(shape.prefill_sequences);
  record.prefill_tokens = static_cast<std::uint32_t>(shape.prefill_tokens);
  record.prefill_context = static_cast<std::uint32_t>(shape.prefill_context);
  record.sampled = static_cast<std::uint32_t>(shape.sampled);
  result_.steps.push_back(record);
  now_ = record.end();
  if (now_.since_start().value() > workloads::kLongestSeconds) {
    throw core::SimulationError("the run would last longer than 1e9 simulated seconds");
  }
  spent_ += record.ledger;
}

void Replica::emit_tokens() {
  finished_.clear();
  TokenGap run;  // neighbours in the batch mostly waited equally long
  for (const StepPlan::Chunk& chunk : plan_.chunks) {
    Sequence& sequence = *chunk.sequence;
    if (sequence.outstanding() != 0) continue;  // more of its prompt to come
    Passenger& passenger = *passengers_[sequence.request.id];
    RequestRecord& record = result_.requests[sequence.request.id];
    ++sequence.generated;
    if (sequence.generated == 1) {
      record.first_token = now_;
      record.until_first_token = passenger.in_batch;
      record.until_first_token += spent_ - passenger.at_admission;
      passenger.in_batch = {};
      passenger.at_admission = spent_;
    } else {
      const core::Nanoseconds gap = now_ - passenger.last_token;
      if (gap != run.gap) {
        if (run.count > 0) result_.token_gaps.push_back(run);
        run = {gap, 0};
      }
      ++run.count;
    }
    passenger.last_token = now_;
    if (sequence.generated == sequence.output_limit) finish(passenger);
  }
  if (run.count > 0) result_.token_gaps.push_back(run);
  if (!finished_.empty()) {
    std::erase_if(state_.running,
                  [](const Sequence* s) { return s->generated == s->output_limit; });
    for (const std::uint64_t id : finished_) passengers_[id].reset();
    if (inbox_.reacts()) simulation_.sleep_until(now_);  // its client may ask again
  }
}

void Replica::finish(Passenger& passenger) {
  Sequence& sequence = passenger.sequence;
  RequestRecord& record = result_.requests[sequence.request.id];
  record.status = RequestStatus::finished;
  record.output_tokens = sequence.generated;
  record.last_token = now_;
  record.after_first_token = passenger.in_batch;
  record.after_first_token += spent_ - passenger.at_admission;
  kv_.release(sequence.blocks);
  finished_.push_back(record.id);
  inbox_.answered(now_);
}

void Replica::leave_interrupted() {
  for (const auto& passenger : passengers_) {
    if (!passenger) continue;
    const Sequence& sequence = passenger->sequence;
    RequestRecord& record = result_.requests[sequence.request.id];
    record.status = RequestStatus::interrupted;
    record.output_tokens = sequence.generated;
    if (sequence.generated > 0) record.last_token = passenger->last_token;
  }
}

}  // namespace ridgeline::sim
