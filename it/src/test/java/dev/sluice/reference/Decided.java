package dev.sluice.reference;

import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.Decision.PreemptionReason;
import dev.sluice.core.model.PlacementDecision;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.WorkloadId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** What is compared of a decision: everything but what is only told to people. */
sealed interface Decided {

  /** Whom it is about. */
  WorkloadId id();

  /** The ClusterQueue it waits in. */
  String clusterQueue();

  /** An admission that was decided. */
  record Admission(WorkloadId id, long version, String clusterQueue, List<PodSetAssignment> podSets)
      implements Decided {}

  /**
   * A preemption that was decided.
   *
   * @param victims by UID: they are evicted all at once, in no order
   */
  record Preemption(
      WorkloadId id,
      long version,
      String clusterQueue,
      List<String> path,
      long priority,
      Map<String, Victim> victims)
      implements Decided {}

  /**
   * One that is evicted.
   *
   * @param rules the rules of preemption for it: how long its job has to save its work, and whether
   *     this is remembered
   */
  record Victim(
      WorkloadId id,
      long version,
      List<String> path,
      long priority,
      PreemptionReason reason,
      PreemptionRules rules) {}

  /** What is compared of a decision of the engine; nothing if it is only said. */
  static Optional<Decided> of(Decision decision) {
    return switch (decision) {
      case Decision.Admit admit ->
          Optional.of(
              new Admission(admit.id(), admit.version(), admit.clusterQueue(), admit.podSets()));
      case Decision.Preempt preempt -> {
        Map<String, Victim> victims = new TreeMap<>();
        for (Decision.Target target : preempt.targets()) {
          victims.put(
              target.id().uid(),
              new Victim(
                  target.id(),
                  target.version(),
                  target.path(),
                  target.priority(),
                  target.reason(),
                  target.rules()));
        }
        if (victims.size() != preempt.targets().size()) {
          throw new AssertionError("a victim is named twice: " + preempt);
        }
        yield Optional.of(
            new Preemption(
                preempt.id(),
                preempt.version(),
                preempt.clusterQueue(),
                preempt.path(),
                preempt.priority(),
                victims));
      }
      case PlacementDecision placement -> Optional.empty();
    };
  }
}
