package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.ValidationRule;

/** Which running workloads a waiting one may stop. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
    value =
        "!(has(self.reclaimWithinCohort) && self.reclaimWithinCohort == 'Never') || "
            + "!has(self.borrowWithinCohort) || !has(self.borrowWithinCohort.policy) || "
            + "self.borrowWithinCohort.policy == 'Never'",
    messageExpression =
        "'borrowWithinCohort.policy ' + self.borrowWithinCohort.policy + ' is not "
            + "allowed with reclaimWithinCohort Never; it must be Never too, or "
            + "reclaimWithinCohort LowerPriority or Any'",
    fieldPath = ".borrowWithinCohort")
public record ClusterQueuePreemption(
    @Default("{}")
        @JsonPropertyDescription(
            "Whether a waiting workload may stop workloads of other queues even though "
                + "it has to borrow itself. Not with reclaimWithinCohort Never.")
        BorrowWithinCohort borrowWithinCohort,
    @Default("Never")
        @JsonPropertyDescription(
            "Whether a waiting workload that fits the nominal quota of its own queue may "
                + "stop workloads of other queues of the cohort that borrow. Never: no. "
                + "LowerPriority: those of lower priority. Any: all that borrow.")
        ReclaimWithinCohortPolicy reclaimWithinCohort,
    @Default("Never")
        @JsonPropertyDescription(
            "Whether a waiting workload may stop workloads of its own queue. Never: no. "
                + "LowerPriority: those of lower priority. LowerOrNewerEqualPriority: also "
                + "those of equal priority that were queued later.")
        WithinClusterQueuePolicy withinClusterQueue) {

  /** What holds when nothing is said. */
  public static final ClusterQueuePreemption DEFAULT =
      new ClusterQueuePreemption(
          BorrowWithinCohort.DEFAULT,
          ReclaimWithinCohortPolicy.NEVER,
          WithinClusterQueuePolicy.NEVER);

  /** Takes what is absent for its default; lists and maps become immutable. */
  public ClusterQueuePreemption {
    borrowWithinCohort = Defaults.or(borrowWithinCohort, BorrowWithinCohort.DEFAULT);
    reclaimWithinCohort = Defaults.or(reclaimWithinCohort, ReclaimWithinCohortPolicy.NEVER);
    withinClusterQueue = Defaults.or(withinClusterQueue, WithinClusterQueuePolicy.NEVER);
  }
}
