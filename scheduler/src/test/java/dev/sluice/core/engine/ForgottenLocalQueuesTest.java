package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.quota;
import static dev.sluice.core.engine.SchedulerFixture.shape;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.AdmissionFairSharing;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.scheduling.WorkloadOrdering.OrderingRules;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A LocalQueue that doesn't exist, and that nobody names, leaves nothing in the engine. */
class ForgottenLocalQueuesTest {

  private static final int MANY = 1_000_000;

  private SchedulerFixture fixture = new SchedulerFixture();
  private Engine engine = fixture.engine;

  @BeforeEach
  void oneQueue() {
    given(new SchedulerFixture());
  }

  private void given(SchedulerFixture other) {
    fixture = other;
    engine = fixture.engine;
    fixture.flavor("f");
    fixture.queue("q", "", quota("f", 10));
  }

  /** LocalQueues take turns, by what they used in the past. */
  private void givenTurns() {
    Duration minute = Duration.ofMinutes(1);
    given(
        new SchedulerFixture(
            new EngineOptions(
                Optional.empty(),
                false,
                Optional.of(
                    new AdmissionFairSharing(
                        minute, minute, Map.of(), AdmissionFairSharing.Anchor.ADMISSION)),
                OrderingRules.DEFAULT)));
    ClusterQueueState queue = engine.registry().clusterQueue("q");
    engine.apply(
        new SchedulerEvent.ClusterQueueChanged(
            Objects.requireNonNull(queue.spec).orderedByUsage()));
  }

  private static LocalQueueId id(int number) {
    return new LocalQueueId("ns", "lq-" + number);
  }

  private void create(LocalQueueId id) {
    engine.apply(
        new SchedulerEvent.LocalQueueChanged(new LocalQueueSpec(id, "q", StopPolicy.NONE)));
  }

  private void delete(LocalQueueId id) {
    engine.apply(new SchedulerEvent.LocalQueueRemoved(id));
  }

  private WorkloadId submit(LocalQueueId queue, long cpu) {
    WorkloadId id = new WorkloadId("uid-" + queue.name(), "ns", "w-" + queue.name());
    engine.apply(
        new SchedulerEvent.WorkloadPending(
            new PendingWorkload(
                id,
                fixture.nextVersion(),
                queue.name(),
                shape(cpu),
                0,
                SchedulerFixture.START,
                SchedulerFixture.START,
                Optional.empty(),
                false,
                Optional.empty())));
    return id;
  }

  private void release(WorkloadId id) {
    engine.apply(new SchedulerEvent.WorkloadReleased(id, fixture.nextVersion()));
  }

  private Map<LocalQueueId, LocalQueueState> known() {
    return engine.registry().localQueues;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aMillionNamesThatComeAndGoTakeNoRoom(boolean takingTurns) {
    if (takingTurns) {
      givenTurns();
    }
    int before = known().size();
    for (int i = 0; i < MANY; i++) {
      create(id(i));
      if (i % 8 == 0) {
        WorkloadId workload = submit(id(i), 1);
        if (i % 16 == 0) {
          release(workload);
          delete(id(i));
        } else {
          delete(id(i));
          release(workload);
        }
      } else {
        delete(id(i));
      }
      delete(id(i)); // said twice, of one that isn't known any more
      engine.changes().clear(); // as after they were published
      assertThat(known().size()).isLessThanOrEqualTo(before);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void workloadsThatNameItKeepItUntilTheyGo(boolean takingTurns) {
    if (takingTurns) {
      givenTurns();
    }
    create(id(1));
    WorkloadId workload = submit(id(1), 1);
    assertThat(fixture.admitted()).containsExactly(workload.name());

    delete(id(1));
    assertThat(known()).containsKey(id(1));
    assertThat(Objects.requireNonNull(known().get(id(1))).reserving).isEqualTo(1);

    release(workload);
    assertThat(known()).doesNotContainKey(id(1));
  }

  @Test
  void aWorkloadThatMovesToAnotherQueueDoesNotKeepItsOldOne() {
    create(id(1));
    WorkloadId workload = submit(id(1), 11);
    delete(id(1));
    create(id(2));
    engine.apply(
        new SchedulerEvent.WorkloadPending(
            new PendingWorkload(
                workload,
                fixture.nextVersion(),
                id(2).name(),
                shape(11),
                0,
                SchedulerFixture.START,
                SchedulerFixture.START,
                Optional.empty(),
                false,
                Optional.empty())));
    assertThat(known()).doesNotContainKey(id(1)).containsKey(id(2));
  }
}
