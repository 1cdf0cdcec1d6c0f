#include "sim/replica.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "workloads/limits.hpp"
#include "workloads/shared_prefix.hpp"

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
      model_(scenario),
      planned_ahead_(scenario.engine.async_scheduling ? 2 : 1) {
  if (const auto& speculation = scenario.engine.speculative_config)
    acceptance_.emplace(*speculation, scenario.seed);
}

void Replica::serve(const std::function<bool(core::Instant)>& should_stop) {
  while (true) {
    take_arrivals();
    if (!has_work()) {
      const auto next = inbox_.wait();
      if (!next) break;
      now_ = std::max(now_, *next);
      continue;
    }
    if (!planned_.empty()) planned_.front().before = counters();  // it begins now
    while (planned_.size() < planned_ahead_) {
      const std::size_t before = planned_.size();
      plan_step();
      if (planned_.size() == before) break;
    }
    if (planned_.empty()) continue;  // a lone sequence preempted itself; it starts over
    run_step();
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
  if (scenario_.engine.enable_prefix_caching && !request.shared.empty()) {
    passenger->sequence.names = workloads::block_names(request.shared, kv_.block_size());
    passenger->sequence.hold_by_name(0);
  }
  state_.waiting.push_back(&passenger->sequence);
  passengers_[request.id] = std::move(passenger);
}

CounterRecord Replica::counters() const {
  CounterRecord counters;
  counters.running = static_cast<std::uint32_t>(state_.running.size());
  counters.waiting = static_cast<std::uint32_t>(state_.waiting.size());
  counters.kv_blocks_used = static_cast<std::uint32_t>(kv_.used_blocks());
  counters.preemptions = static_cast<std::uint32_t>(result_.preemptions);
  return counters;
}

void Replica::plan_step() {
  const CounterRecord before = counters();
  scheduler_->plan(state_, plan_);
  note_preemptions();
  note_admissions();
  if (plan_.chunks.empty()) {
    if (plan_.preempted.empty() && planned_.empty())
      throw core::SimulationError(
          "the scheduler found nothing to do although requests are waiting");
    return;
  }
  Planned& step = planned_.emplace_back();
  step.before = before;
  step.emitting.swap(spare_);  // no new memory for every step
  step.emitting.clear();
  const workloads::StepShape shape = advance_sequences(step.emitting);
  const StepTiming timing = model_.run(model_.prepare(shape));
  result_.extrapolated += timing.execution.extrapolated;
  step.record = record_of(shape, timing);
}

void Replica::run_step() {
  Planned step = std::move(planned_.front());
  planned_.pop_front();
  result_.counters.push_back(step.before);
  StepRecord record = step.record;
  record.start = now_;
  result_.steps.push_back(record);
  now_ = record.end();
  if (now_.since_start().value() > workloads::kLongestSeconds) {
    throw core::SimulationError("the run would last longer than 1e9 simulated seconds");
  }
  spent_ += record.ledger;
  emit_tokens(step.emitting);
  spare_.swap(step.emitting);
}

void Replica::note_admissions() {
  for (const Sequence* sequence : plan_.admitted) {
    Passenger& passenger = *passengers_[sequence->request.id];
    RequestRecord& record = result_.requests[sequence->request.id];
    passenger.at_admission = spent_;
    if (record.preemptions == 0) {
      record.scheduled = now_;
      record.cached_tokens = sequence->computed;
    } else {
      record.preempted += now_ - passenger.left_batch;
    }
  }
}

void Replica::note_preemptions() {
  for (const Sequence* sequence : plan_.preempted) {
    Passenger& passenger = *passengers_[sequence->request.id];
    if (sequence->in_flight > 0) {
      passenger.leaves = true;
    } else {
      leave_batch(passenger);
    }
    ++result_.requests[sequence->request.id].preemptions;
    ++result_.preemptions;
  }
}

void Replica::leave_batch(Passenger& passenger) {
  passenger.leaves = false;
  passenger.in_batch += spent_ - passenger.at_admission;
  passenger.left_batch = now_;
}

Replica::Emission Replica::check_drafts(Sequence& sequence) const {
  Emission emission{&sequence, 0, 0};
  if (!acceptance_) return emission;
  // The place of the first draft: behind all that is known or in flight, and the token that the
  // step computes.
  const std::int64_t place = sequence.generated + sequence.in_flight + sequence.accepted_in_flight;
  const std::int64_t accepted = acceptance_->accepted(sequence.request.id, place);
  emission.accepted = static_cast<std::int32_t>(accepted);
  emission.rejected =
      static_cast<std::int32_t>(scenario_.engine.tokens_per_decode() - 1 - accepted);
  sequence.computed -= emission.rejected;
  sequence.accepted_in_flight += emission.accepted;
  sequence.rejected_in_flight += emission.rejected;
  return emission;
}

workloads::StepShape Replica::advance_sequences(std::vector<Emission>& emitting) {
  const std::int64_t tokens_per_decode = scenario_.engine.tokens_per_decode();
  workloads::StepShape shape;
  shape.tokens_per_decode = tokens_per_decode;
  emitting.reserve(plan_.chunks.size());
  for (const StepPlan::Chunk& chunk : plan_.chunks) {
    Sequence& sequence = *chunk.sequence;
    const bool decode = sequence.decodes() && chunk.tokens == tokens_per_decode;
    sequence.computed += chunk.tokens;
    if (decode) {
      shape.add_decode(sequence.computed);
      emitting.push_back(check_drafts(sequence));
      ++sequence.in_flight;
      continue;
    }
    const bool emits = sequence.outstanding() == 0;  // else more of its prompt is to come
    shape.add_prefill(chunk.tokens, sequence.computed, emits);
    if (!emits) continue;
    ++sequence.in_flight;
    emitting.push_back({&sequence, 0, 0});
  }
  return shape;
}

StepRecord Replica::record_of(const workloads::StepShape& shape, const StepTiming& timing) {
  StepRecord record;
  record.ledger = timing.ledger;
  record.prefill_qk = shape.prefill_qk;
  record.prefill_qq = shape.prefill_qq;
  record.decode_sequences = static_cast<std::uint32_t>(shape.decode_sequences);
  record.decode_context = static_cast<std::uint32_t>(shape.decode_context);
  record.prefill_sequences = static_cast<std::uint32_t>(shape.prefill_sequences);
  record.prefill_tokens = static_cast<std::uint32_t>(shape.prefill_tokens);
  record.prefill_context = static_cast<std::uint32_t>(shape.prefill_context);
  record.decode_longest = static_cast<std::uint32_t>(shape.decode_longest);
  record.sampled = static_cast<std::uint32_t>(shape.sampled);
  return record;
}

void Replica::emit_tokens(const std::vector<Emission>& emitting) {
  finished_.clear();
  bool finished_waiting = false;
  TokenGap run;  // neighbours in the batch mostly waited equally long
  for (const Emission& emission : emitting) {
    Sequence& sequence = *emission.sequence;
    --sequence.in_flight;
    sequence.accepted_in_flight -= emission.accepted;
    sequence.rejected_in_flight -= emission.rejected;
    if (sequence.finished()) {  // by drafts of the step before: this one was in vain
      forget(sequence);
      continue;
    }
    Passenger& passenger = *passengers_[sequence.request.id];
    RequestRecord& record = result_.requests[sequence.request.id];
    const bool first = sequence.generated == 0;
    sequence.generated =
        std::min(sequence.generated + 1 + emission.accepted, sequence.output_limit);
    result_.drafts_checked += emission.accepted + emission.rejected;
    result_.drafts_accepted += emission.accepted;
    if (first) {
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
    if (sequence.finished()) {
      finished_waiting = finished_waiting || passenger.leaves;
      finish(passenger);
    } else if (passenger.leaves) {
      leave_batch(passenger);
    }
  }
  if (run.count > 0) result_.token_gaps.push_back(run);
  if (!finished_.empty()) {
    const auto done = [](const Sequence* s) { return s->finished(); };
    std::erase_if(state_.running, done);
    if (finished_waiting) std::erase_if(state_.waiting, done);
    for (const std::uint64_t id : finished_) forget(passengers_[id]->sequence);
    if (inbox_.reacts()) simulation_.sleep_until(now_);  // its client may ask again
  }
}

void Replica::forget(Sequence& sequence) {
  if (sequence.in_flight == 0) passengers_[sequence.request.id].reset();
}

void Replica::finish(Passenger& passenger) {
  Sequence& sequence = passenger.sequence;
  RequestRecord& record = result_.requests[sequence.request.id];
  record.status = RequestStatus::finished;
  record.output_tokens = sequence.generated;
  record.last_token = now_;
  record.after_first_token = passenger.in_batch;
  record.after_first_token += spent_ - passenger.at_admission;
  sequence.blocks -= sequence.named();
  kv_.release(sequence.blocks);
  kv_.leave(sequence.held_names());
  sequence.hold_by_name(0);
  finished_.push_back(record.id);
  inbox_.answered(now_);
}

void Replica::leave_interrupted() {
  for (const auto& passenger : passengers_) {
    if (!passenger) continue;
    const Sequence& sequence = passenger->sequence;
    if (sequence.finished()) continue;
    RequestRecord& record = result_.requests[sequence.request.id];
    record.status = RequestStatus::interrupted;
    record.output_tokens = sequence.generated;
    if (sequence.generated > 0) record.last_token = passenger->last_token;
  }
}

}  // namespace ridgeline::sim
