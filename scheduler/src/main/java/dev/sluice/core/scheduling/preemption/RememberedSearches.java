package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.preemption.PreemptionStrategy.Found;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * The answers to searches for targets, kept until something changes that they depend on. A head
 * that waits for its targets takes part in every cycle of its tree, and most of these cycles come
 * of events that change no reservation.
 *
 * <p>Why an answer holds: a search reads the request, the spec of the preemptor's queue, and of its
 * tree the quota, the usage, the holders and which of them are protected for some time. A request
 * that differs in anything has an entry of its own. A changed spec of the queue comes with a new
 * {@link ClusterQueueCache}, which is the key, and all other declarations with a rebuild of the
 * trees, after which everything is forgotten. Holders come, go and change only with {@link
 * QuotaNode#reservationsChanged}, after which the root has no answers; a holder that is being
 * evicted is another holder. The end of a protection counts as a change of reservations ({@code
 * WaitingWorkloads.timePassed}). The usage is the sum of what the holders reserve, because the
 * caller asks only while it is. The order of holders also depends on the usage of LocalQueues over
 * time, whose changes make everything forgotten. Searches that look for places on nodes depend on
 * other trees, too, and are not remembered.
 */
final class RememberedSearches {

  /** How many answers are kept for one queue: its head may be asked about in several flavors. */
  private static final int PER_QUEUE = 16;

  private record Answer(PreemptionRequest question, Optional<Found> found) {

    boolean answers(PreemptionRequest other) {
      return question.priority() == other.priority()
          && question.queuedAtMicros() == other.queuedAtMicros()
          && Arrays.equals(question.pairs(), other.pairs())
          && Arrays.equals(question.amounts(), other.amounts())
          && Arrays.equals(question.needed(), other.needed())
          && question.preemptor().spared().equals(other.preemptor().spared())
          && question.preemptor().repeated().keySet().equals(other.preemptor().repeated().keySet())
          && question.preemptor().exempt() == other.preemptor().exempt()
          && question.preemptor().traits().equals(other.preemptor().traits());
    }
  }

  /** The answers for one tree, by queue. The root drops them when a reservation changes. */
  private record Answers(
      RememberedSearches owner, long generation, Map<ClusterQueueCache, List<Answer>> byQueue) {}

  /** Which answers count: those of an earlier generation are forgotten. */
  private long generation;

  /** The remembered answer, or the answer of a search, which is remembered. */
  Optional<Found> get(
      PreemptionRequest preemptionRequest, Function<PreemptionRequest, Optional<Found>> search) {
    ClusterQueueCache queue = preemptionRequest.queue();
    if (queue.topologyAware()) {
      return search.apply(preemptionRequest);
    }
    List<Answer> known =
        answers(queue.node().root()).computeIfAbsent(queue, any -> new ArrayList<>(4));
    for (Answer answer : known) {
      if (answer.answers(preemptionRequest)) {
        return answer.found;
      }
    }
    Optional<Found> found = search.apply(preemptionRequest);
    if (known.size() < PER_QUEUE) {
      known.add(new Answer(preemptionRequest, found));
    }
    return found;
  }

  private Map<ClusterQueueCache, List<Answer>> answers(QuotaNode root) {
    if (root.untilReservationsChange() instanceof Answers known
        && known.owner == this
        && known.generation == generation) {
      return known.byQueue;
    }
    Answers none = new Answers(this, generation, new HashMap<>());
    root.untilReservationsChange(none);
    return none.byQueue;
  }

  void forget() {
    generation++;
  }
}
