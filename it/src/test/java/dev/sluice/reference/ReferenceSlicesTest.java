package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.JobSlice;
import dev.sluice.reference.Decided.Preemption;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What slices of elastic jobs are charged (docs/elastic-jobs.md#what-the-engine-charges). */
class ReferenceSlicesTest extends SmallWorld {

  @BeforeEach
  void aSliceOfThree() {
    queue("q", "", PreemptionPolicies.NEVER, flavor("f", 4));
    submitSlice("old", "", 3, 1);
    assertThat(admitted()).containsExactly("old");
    engine.fold(new SchedulerEvent.AdmissionWritten(id("old"), 2));
  }

  private void submitSlice(String name, String replaces, long cpu, long version) {
    engine.fold(
        new SchedulerEvent.WorkloadPending(
            new PendingWorkload(
                id(name),
                version,
                "q",
                RandomWorld.single("cpu", cpu)
                    .withSlice(Optional.of(new JobSlice("job", name, replaces))),
                0,
                START,
                START,
                Optional.empty(),
                false,
                Optional.empty())));
  }

  private List<String> admitted() {
    return engine.cycle().stream().map(decided -> decided.id().name()).toList();
  }

  @Test
  void aReplacementThatIsAdmittedGivesNothingBack() {
    submitSlice("new", "old", 1, 3);
    assertThat(admitted()).containsExactly("new");
    assertThat(engine.questions().flushIsDue()).isFalse();
  }

  @Test
  void theReplacedSliceGivesBackWhatItHadMore() {
    submitSlice("new", "old", 1, 3);
    assertThat(admitted()).containsExactly("new");
    submit("waits", "q", 3, 0);
    assertThat(admitted()).isEmpty();

    engine.fold(new SchedulerEvent.WorkloadReleased(id("old"), 4));

    assertThat(engine.questions().flushIsDue()).isTrue();
    assertThat(admitted()).containsExactly("waits");
  }

  /** The cycle that evicts the replaced slice has no reason at the queue of the replacement. */
  @Test
  void aReplacementWaitsWhileTheSliceIsEvictedThatItReplaces() {
    strictQueueOf("q", "c", flavor("f", 1));
    queue(
        "lender", "c", policies(WithinClusterQueue.NEVER, ReclaimWithinCohort.ANY), flavor("f", 4));
    submit("head", "q", 9, 5);
    submitSlice("new", "old", 3, 3);
    assertThat(engine.cycle(queue -> true)).isEmpty();
    submit("reclaims", "lender", 4, 0);
    assertThat(engine.cycle("lender"::equals)).hasOnlyElementsOfType(Preemption.class).hasSize(1);

    finish("head");

    assertThat(engine.cycle(queue -> true)).isEmpty();
  }
}
