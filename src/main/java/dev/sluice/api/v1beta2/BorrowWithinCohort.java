package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import io.fabric8.generator.annotation.Default;
import org.jspecify.annotations.Nullable;

/** Whether a workload that has to borrow may stop those of other queues. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record BorrowWithinCohort(
    @JsonPropertyDescription(
            "Highest priority a workload may have to be stopped this way. Absent: any "
                + "priority below that of the waiting workload.")
        @Nullable Integer maxPriorityThreshold,
    @Default("Never")
        @JsonPropertyDescription("Never: no. LowerPriority: those of lower priority that borrow.")
        BorrowWithinCohortPolicy policy) {

  /** What holds when nothing is said. */
  public static final BorrowWithinCohort DEFAULT =
      new BorrowWithinCohort(null, BorrowWithinCohortPolicy.NEVER);

  /** Takes what is absent for its default; lists and maps become immutable. */
  public BorrowWithinCohort {
    policy = Defaults.or(policy, BorrowWithinCohortPolicy.NEVER);
  }
}
