package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.Taint;
import dev.sluice.core.model.Toleration;
import dev.sluice.core.model.WorkloadId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Things that happen to Workloads, queues and namespaces while others wait. */
class EngineInMotionTest {

  private final SchedulerFixture schedulerFixture = new SchedulerFixture();

  @BeforeEach
  void oneFlavor() {
    schedulerFixture.flavor("f");
  }

  @Test
  void whatNobodyLacksMayBeGivenBackWhileOthersSleep() {
    schedulerFixture.flavor("g");
    schedulerFixture.queue("a", "", quota("f", 5));
    schedulerFixture.queue("b", "co", quota("f", 5));
    schedulerFixture.queue("c", "co", quota("g", 5));
    schedulerFixture.submit("running", "c", 5);
    schedulerFixture.submit("too-large", "b", 6);
    assertThat(schedulerFixture.admitted()).containsExactly("running");

    schedulerFixture.finish("running");
    schedulerFixture.submit("next", "c", 5);
    assertThat(schedulerFixture.admitted()).containsExactly("next");
  }

  @Test
  void oneThatWasDeletedBeforeItWasLookedAtIsNotMissed() {
    schedulerFixture.queue("q", "", quota("f", 5));
    schedulerFixture.submit("running", "q", 5);
    schedulerFixture.admitted();
    schedulerFixture.submit("a", "q", 5, 0, 1);
    schedulerFixture.submit("deleted", "q", 5, 0, 2);
    schedulerFixture.finish("deleted");

    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.engine.unreported().take(10))
        .extracting(each -> each.id().name())
        .isNotEmpty();
  }

  @Test
  void aLocalQueueThatIsDeletedTakesItsWorkloadsOutOfTheClusterQueue() {
    schedulerFixture.queue("q", "", quota("f", 5));
    schedulerFixture.submit("w", "q", 5);
    schedulerFixture.engine.apply(
        new SchedulerEvent.LocalQueueRemoved(new LocalQueueId("ns", "q")));
    assertThat(schedulerFixture.admitted()).isEmpty();
  }

  @Test
  void aBlockedQueueIsFreeWhenItsHeadLeavesWithItsLocalQueue() {
    schedulerFixture.queue("q", "", QueueingStrategy.STRICT_FIFO, quota("f", 5));
    schedulerFixture.engine.apply(
        new SchedulerEvent.LocalQueueChanged(
            new LocalQueueSpec(new LocalQueueId("ns", "other"), "q", StopPolicy.NONE)));
    schedulerFixture.submit("too-large", "other", 9, 1, 0);
    schedulerFixture.submit("small", "q", 1);
    assertThat(schedulerFixture.admitted()).isEmpty();

    schedulerFixture.engine.apply(
        new SchedulerEvent.LocalQueueRemoved(new LocalQueueId("ns", "other")));
    assertThat(schedulerFixture.admitted()).containsExactly("small");
  }

  @Test
  void aBlockedQueueIsFreeWhenTheNamespaceOfItsHeadIsGone() {
    schedulerFixture.queue("q", "", QueueingStrategy.STRICT_FIFO, quota("f", 5));
    schedulerFixture.engine.apply(new SchedulerEvent.NamespaceChanged("elsewhere", Map.of()));
    schedulerFixture.engine.apply(
        new SchedulerEvent.LocalQueueChanged(
            new LocalQueueSpec(new LocalQueueId("elsewhere", "q"), "q", StopPolicy.NONE)));
    schedulerFixture.engine.apply(
        new SchedulerEvent.WorkloadPending(
            pending(
                new WorkloadId("uid-large", "elsewhere", "large"), 1, SchedulerFixture.shape(9))));
    schedulerFixture.submit("small", "q", 1, 0, 1);
    assertThat(schedulerFixture.admitted()).isEmpty();

    schedulerFixture.engine.apply(new SchedulerEvent.NamespaceRemoved("elsewhere"));
    assertThat(schedulerFixture.admitted()).containsExactly("small");
  }

  @Test
  void aRestAfterARefusalIsNotCutShortByHearingTheSameAgain() {
    schedulerFixture.queue("q", "", quota("f", 5));
    PendingWorkload workload =
        pending(
            new WorkloadId("uid-w", "ns", "w"),
            schedulerFixture.nextVersion(),
            SchedulerFixture.shape(5));
    schedulerFixture.engine.apply(new SchedulerEvent.WorkloadPending(workload));
    while (schedulerFixture.engine.cycle()) {
      // decide, without confirming
    }
    schedulerFixture.engine.apply(
        new SchedulerEvent.AdmissionRefused(workload.id(), workload.version(), false));
    schedulerFixture.engine.apply(new SchedulerEvent.WorkloadPending(workload));
    assertThat(schedulerFixture.admitted()).isEmpty();

    schedulerFixture.engine.apply(
        new SchedulerEvent.TimePassed(SchedulerFixture.START.plus(WorkloadTable.REFUSAL_BACKOFF)));
    assertThat(schedulerFixture.admitted()).containsExactly("w");
  }

  @Test
  void aDefectiveHeadBlocksStrictFifoAndLetsBestEffortPass() {
    schedulerFixture.queue("strict", "", QueueingStrategy.STRICT_FIFO, quota("f", 5));
    schedulerFixture.queue("easy", "", QueueingStrategy.BEST_EFFORT_FIFO, quota("f", 5));
    for (String queue : List.of("strict", "easy")) {
      WorkloadId id = new WorkloadId("uid-bad-" + queue, "ns", "bad-" + queue);
      schedulerFixture.engine.apply(
          new SchedulerEvent.WorkloadPending(
              new PendingWorkload(
                  id,
                  1,
                  queue,
                  SchedulerFixture.shape(1),
                  1,
                  SchedulerFixture.START,
                  SchedulerFixture.START,
                  Optional.empty(),
                  false,
                  Optional.of("requests exceed limits"))));
      schedulerFixture.submit("good-" + queue, queue, 1);
    }
    assertThat(schedulerFixture.admitted()).containsExactly("good-easy");
    assertThat(schedulerFixture.engine.unreported().take(10))
        .extracting(each -> each.explanation().detail())
        .contains("requests exceed limits");
  }

  @Test
  void hearingOfAnUnchangedQueueChangesNothing() {
    schedulerFixture.queue("q", "", quota("f", 5));
    schedulerFixture.submit("too-large", "q", 6);
    schedulerFixture.admitted();
    assertThat(schedulerFixture.engine.idle()).isTrue();

    schedulerFixture.queue("q", "", quota("f", 5));
    schedulerFixture.flavor("f");
    assertThat(schedulerFixture.engine.idle()).isTrue();
  }

  @Test
  void podSetsThatCompeteAreTriedInOtherFlavorsToo() {
    // Only f suits the second pod set; the first takes it, and finds its way to g.
    schedulerFixture.flavor("g", new Taint("gpu", "", "NoSchedule"));
    schedulerFixture.queue("q", "", quota("f", 5), quota("g", 5));
    NodeConstraints anywhere =
        new NodeConstraints(Map.of(), List.of(), List.of(new Toleration("", "Exists", "", "")));
    RequestShape shape =
        new RequestShape(
            List.of(podSet("first", anywhere), podSet("second", NodeConstraints.ANYWHERE)));
    schedulerFixture.engine.apply(
        new SchedulerEvent.WorkloadPending(
            pending(new WorkloadId("uid-w", "ns", "w"), schedulerFixture.nextVersion(), shape)));
    assertThat(schedulerFixture.admitted()).containsExactly("w");
    assertThat(schedulerFixture.admission("w").podSets())
        .extracting(each -> each.flavors().get("cpu"))
        .containsExactly("g", "f");
  }

  @Test
  void whereTheSearchStoppedIsForgottenWhenTheQueueHasOtherFlavors() {
    schedulerFixture.flavor("g");
    schedulerFixture.flavor("h");
    schedulerFixture.queue("q", "", quota("f", 0), quota("g", 5), quota("h", 5));
    NodeConstraints anywhere = NodeConstraints.ANYWHERE;
    RequestShape shape =
        new RequestShape(
            List.of(podSet("one", anywhere), podSet("two", anywhere), podSet("three", anywhere)));
    schedulerFixture.engine.apply(
        new SchedulerEvent.WorkloadPending(
            pending(new WorkloadId("uid-w", "ns", "w"), schedulerFixture.nextVersion(), shape)));
    schedulerFixture.engine.cycle();

    schedulerFixture.queue("q", "", quota("f", 15));
    assertThat(schedulerFixture.admitted()).containsExactly("w");
  }

  private static PodSetRequest podSet(String name, NodeConstraints nodeConstraints) {
    return new PodSetRequest(name, 1, 0, new TreeMap<>(Map.of("cpu", 5L)), nodeConstraints, "");
  }

  private static PendingWorkload pending(WorkloadId id, long version, RequestShape shape) {
    return new PendingWorkload(
        id,
        version,
        "q",
        shape,
        0,
        SchedulerFixture.START,
        SchedulerFixture.START,
        Optional.empty(),
        false,
        Optional.empty());
  }
}
