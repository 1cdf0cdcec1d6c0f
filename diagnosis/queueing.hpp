#pragma once
// Waiting before the first step: what of the time to first token is not the prompt's own. A step's
// ledger cannot show it, for no step runs longer because requests wait, and yet it may be all that
// users feel.

#include <optional>

#include "diagnosis/work.hpp"

namespace ridgeline::diagnosis {

struct Queueing {
  Value wait;  // before a request's own steps begin; at its least, for those steps are taken at
               // their longest
  Value first_token;        // the whole time to first token
  Maybe waiting;            // requests
  bool overloaded = false;  // more is offered than the server can do
};

/// Nothing where the time to first token is not known, holds no wait worth a word, or is made by
/// the set-up: a closed loop always has one more waiting.
[[nodiscard]] std::optional<Queueing> queueing_of(const Evidence& evidence, const Work& work);

}  // namespace ridgeline::diagnosis
