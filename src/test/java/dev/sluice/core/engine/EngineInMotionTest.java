package dev.sluice.core.engine;

import static dev.sluice.core.engine.World.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.PendingWorkload;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.PodSetRequest;
import dev.sluice.core.model.Taint;
import dev.sluice.core.model.Toleration;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.model.RequestShape;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Things that happen to Workloads, queues and namespaces while others wait. */
class EngineInMotionTest {

  private final World world = new World();

  @BeforeEach
  void oneFlavor() {
    world.flavor("f");
  }

  @Test
  void whatNobodyLacksMayBeGivenBackWhileOthersSleep() {
    world.flavor("g");
    world.queue("a", "", quota("f", 5));
    world.queue("b", "co", quota("f", 5));
    world.queue("c", "co", quota("g", 5));
    world.submit("running", "c", 5);
    world.submit("too-large", "b", 6);
    assertThat(world.admitted()).containsExactly("running");

    world.finish("running");
    world.submit("next", "c", 5);
    assertThat(world.admitted()).containsExactly("next");
  }

  @Test
  void oneThatWasDeletedBeforeItWasLookedAtIsNotMissed() {
    world.queue("q", "", quota("f", 5));
    world.submit("running", "q", 5);
    world.admitted();
    world.submit("a", "q", 5, 0, 1);
    world.submit("deleted", "q", 5, 0, 2);
    world.finish("deleted");

    assertThat(world.admitted()).isEmpty();
    assertThat(world.engine.unreported().take(10)).extracting(each -> each.id().name()).isNotEmpty();
  }

  @Test
  void aLocalQueueThatIsDeletedTakesItsWorkloadsOutOfTheClusterQueue() {
    world.queue("q", "", quota("f", 5));
    world.submit("w", "q", 5);
    world.engine.apply(new SchedulerEvent.LocalQueueRemoved(new LocalQueueId("ns", "q")));
    assertThat(world.admitted()).isEmpty();
  }

  @Test
  void aBlockedQueueIsFreeWhenItsHeadLeavesWithItsLocalQueue() {
    world.queue("q", "", QueueingStrategy.STRICT_FIFO, quota("f", 5));
    world.engine.apply(
        new SchedulerEvent.LocalQueueChanged(
            new LocalQueueSpec(new LocalQueueId("ns", "other"), "q", StopPolicy.NONE)));
    world.submit("too-large", "other", 9, 1, 0);
    world.submit("small", "q", 1);
    assertThat(world.admitted()).isEmpty();

    world.engine.apply(new SchedulerEvent.LocalQueueRemoved(new LocalQueueId("ns", "other")));
    assertThat(world.admitted()).containsExactly("small");
  }

  @Test
  void aBlockedQueueIsFreeWhenTheNamespaceOfItsHeadIsGone() {
    world.queue("q", "", QueueingStrategy.STRICT_FIFO, quota("f", 5));
    world.engine.apply(new SchedulerEvent.NamespaceChanged("elsewhere", Map.of()));
    world.engine.apply(
        new SchedulerEvent.LocalQueueChanged(
            new LocalQueueSpec(new LocalQueueId("elsewhere", "q"), "q", StopPolicy.NONE)));
    world.engine.apply(
        new SchedulerEvent.WorkloadPending(
            pending(new WorkloadId("uid-large", "elsewhere", "large"), 1, World.shape(9))));
    world.submit("small", "q", 1, 0, 1);
    assertThat(world.admitted()).isEmpty();

    world.engine.apply(new SchedulerEvent.NamespaceRemoved("elsewhere"));
    assertThat(world.admitted()).containsExactly("small");
  }

  @Test
  void aRestAfterARefusalIsNotCutShortByHearingTheSameAgain() {
    world.queue("q", "", quota("f", 5));
    PendingWorkload workload =
        pending(new WorkloadId("uid-w", "ns", "w"), world.nextVersion(), World.shape(5));
    world.engine.apply(new SchedulerEvent.WorkloadPending(workload));
    while (world.engine.cycle()) {
      // decide, without confirming
    }
    world.engine.apply(new SchedulerEvent.AdmissionRefused(workload.id(), workload.version(), false));
    world.engine.apply(new SchedulerEvent.WorkloadPending(workload));
    assertThat(world.admitted()).isEmpty();

    world.engine.apply(new SchedulerEvent.TimePassed(World.START.plus(WorkloadTable.REST_AFTER_REFUSAL)));
    assertThat(world.admitted()).containsExactly("w");
  }

  @Test
  void aDefectiveHeadBlocksStrictFifoAndLetsBestEffortPass() {
    world.queue("strict", "", QueueingStrategy.STRICT_FIFO, quota("f", 5));
    world.queue("easy", "", QueueingStrategy.BEST_EFFORT_FIFO, quota("f", 5));
    for (String queue : List.of("strict", "easy")) {
      WorkloadId id = new WorkloadId("uid-bad-" + queue, "ns", "bad-" + queue);
      world.engine.apply(
          new SchedulerEvent.WorkloadPending(
              new PendingWorkload(
                  id,
                  1,
                  queue,
                  World.shape(1),
                  1,
                  World.START,
                  World.START,
                  Optional.empty(),
                  false,
                  Optional.of("requests exceed limits"))));
      world.submit("good-" + queue, queue, 1);
    }
    assertThat(world.admitted()).containsExactly("good-easy");
    assertThat(world.engine.unreported().take(10))
        .extracting(each -> each.explanation().detail())
        .contains("requests exceed limits");
  }

  @Test
  void hearingOfAnUnchangedQueueChangesNothing() {
    world.queue("q", "", quota("f", 5));
    world.submit("too-large", "q", 6);
    world.admitted();
    assertThat(world.engine.idle()).isTrue();

    world.queue("q", "", quota("f", 5));
    world.flavor("f");
    assertThat(world.engine.idle()).isTrue();
  }

  @Test
  void podSetsThatCompeteAreTriedInOtherFlavorsToo() {
    // Only f suits the second pod set; the first takes it, and finds its way to g.
    world.flavor("g", new Taint("gpu", "", "NoSchedule"));
    world.queue("q", "", quota("f", 5), quota("g", 5));
    NodeConstraints anywhere =
        new NodeConstraints(Map.of(), List.of(), List.of(new Toleration("", "Exists", "", "")));
    RequestShape shape =
        new RequestShape(List.of(podSet("first", anywhere), podSet("second", NodeConstraints.ANYWHERE)));
    world.engine.apply(
        new SchedulerEvent.WorkloadPending(
            pending(new WorkloadId("uid-w", "ns", "w"), world.nextVersion(), shape)));
    assertThat(world.admitted()).containsExactly("w");
    assertThat(world.admission("w").podSets())
        .extracting(each -> each.flavors().get("cpu"))
        .containsExactly("g", "f");
  }

  @Test
  void whereTheSearchStoppedIsForgottenWhenTheQueueHasOtherFlavors() {
    world.flavor("g");
    world.flavor("h");
    world.queue("q", "", quota("f", 0), quota("g", 5), quota("h", 5));
    NodeConstraints anywhere = NodeConstraints.ANYWHERE;
    RequestShape shape =
        new RequestShape(
            List.of(podSet("one", anywhere), podSet("two", anywhere), podSet("three", anywhere)));
    world.engine.apply(
        new SchedulerEvent.WorkloadPending(
            pending(new WorkloadId("uid-w", "ns", "w"), world.nextVersion(), shape)));
    world.engine.cycle();

    world.queue("q", "", quota("f", 15));
    assertThat(world.admitted()).containsExactly("w");
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
        World.START,
        World.START,
        Optional.empty(),
        false,
        Optional.empty());
  }
}
