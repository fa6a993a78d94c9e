package dev.sluice.workload.lifecycle;

import static dev.sluice.workload.lifecycle.GivenWorkload.SINCE;
import static dev.sluice.workload.lifecycle.GivenWorkload.workload;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.checks.BuiltInCheckControllers;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.controller.ObservableItemStore;
import dev.sluice.queues.cache.CachedQueues;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.cache.QueueStateNotifier;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadLister;
import dev.sluice.workload.writing.WorkloadWriter;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The life cycle at work: when it looks, what it writes, what it does with the outcome. */
class WorkloadLifecycleTest {

  private final Map<String, CachedWorkload> workloads = new HashMap<>();
  private final List<String> written = new ArrayList<>();
  private final Queue<CompletableFuture<WorkloadWriter.Outcome>> outcomes = new ArrayDeque<>();
  private final List<String> events = new ArrayList<>();
  private final Map<Duration, Runnable> later = new HashMap<>();
  private final InformerCaches informerCaches = InformerCaches.empty(BuiltInCheckControllers.all());
  private Instant now = SINCE.plusSeconds(60);
  private boolean leading = true;
  private final WorkloadLifecycle lifecycle = lifecycle();

  @BeforeEach
  void queuesAreOpen() {
    queue("Open");
    clusterQueue("None");
    QueueStateNotifier.connect(informerCaches, lifecycle);
  }

  private WorkloadLifecycle lifecycle() {
    return new WorkloadLifecycle(
        new Store(),
        new Writer(),
        new CachedQueues(informerCaches),
        LifecycleOptions.WITHOUT_LIMITS.replacing(slice -> slice.owner().isEmpty()),
        (id, eventSpec) -> events.add(eventSpec.reason()),
        () -> leading,
        () -> now,
        Runnable::run,
        later::put);
  }

  private void queue(String stopPolicy) {
    put(
        informerCaches.localQueues(),
        Serialization.unmarshal(
            """
            metadata: {name: training, namespace: team, uid: lq, resourceVersion: "%d"}
            spec: {clusterQueue: research, stopPolicy: %s}
            """
                .formatted(written.size() + events.size() + 1, stopPolicy.replace("Open", "None")),
            LocalQueue.class));
  }

  private void clusterQueue(String stopPolicy) {
    put(
        informerCaches.clusterQueues(),
        Serialization.unmarshal(
            """
            metadata: {name: research, uid: cq, resourceVersion: "%s"}
            spec: {stopPolicy: %s}
            """
                .formatted(stopPolicy.length(), stopPolicy),
            ClusterQueue.class));
  }

  private static <R extends HasMetadata> void put(ObservableItemStore<R> store, R object) {
    store.put(store.getKey(object), object);
  }

  private void seen(GivenWorkload given) {
    CachedWorkload after = given.get();
    lifecycle.changed(workloads.put(after.id().name(), after), after);
  }

  private CompletableFuture<WorkloadWriter.Outcome> pending() {
    CompletableFuture<WorkloadWriter.Outcome> outcome = new CompletableFuture<>();
    outcomes.add(outcome);
    return outcome;
  }

  private void ring(Duration after) {
    assertThat(later).containsKey(after);
    Objects.requireNonNull(later.remove(after)).run();
  }

  @Test
  void doesNothingBeforeItLeadsAndThenLooksAtAll() {
    seen(workload().admitted().inactive());
    assertThat(written).isEmpty();

    pending();
    lifecycle.leadershipStarted();

    assertThat(written).hasSize(1);
    assertThat(written.getFirst()).startsWith("status@100").contains("Deactivated");
  }

  @Test
  void doesNothingOnceItDoesNotLeadAnyMore() {
    lifecycle.leadershipStarted();
    leading = false;
    seen(workload().admitted().inactive());
    assertThat(written).isEmpty();
  }

  @Test
  void tellsOfWhatStandsAndOnlyThen() {
    lifecycle.leadershipStarted();
    var outcome = pending();
    seen(workload().admitted().inactive());
    assertThat(events).isEmpty();

    workloads.clear();
    outcome.complete(new WorkloadWriter.Outcome.Written(101));
    assertThat(events).containsExactly("EvictedDueToDeactivated");
  }

  @Test
  void writesOneThingAtATimeAndLooksAgainAfterwards() {
    lifecycle.leadershipStarted();
    var outcome = pending();
    seen(workload().admitted().inactive());
    seen(workload().admitted().inactive().version(105));
    assertThat(written).hasSize(1);

    pending();
    outcome.complete(new WorkloadWriter.Outcome.Conflict());
    assertThat(written).hasSize(2);
    assertThat(written.getLast()).startsWith("status@105");
    assertThat(events).isEmpty();
  }

  @Test
  void triesAgainAfterAWhileWhatTheServerRefuses() {
    lifecycle.leadershipStarted();
    var outcome = pending();
    seen(workload().admitted().inactive());
    outcome.complete(new WorkloadWriter.Outcome.Refused(422, "no"));
    assertThat(written).hasSize(1);

    pending();
    ring(Duration.ofSeconds(10));
    assertThat(written).hasSize(2);
  }

  /** Nothing else may happen to it: its end at a time limit would never come. */
  @Test
  void triesAgainAfterAWhileWhatFailed() {
    lifecycle.leadershipStarted();
    var outcome = pending();
    seen(workload().admitted().inactive());
    outcome.completeExceptionally(new IllegalStateException("failed"));
    assertThat(written).hasSize(1);

    ring(Duration.ofSeconds(10));
    assertThat(written).as("the writer throws without an outcome").hasSize(2);

    pending();
    ring(Duration.ofSeconds(10));
    assertThat(written).hasSize(3);
  }

  /** Slices of an elastic job that no integration knows are finished here. */
  @Test
  void finishesTheSliceThatAnAdmittedOneHasReplaced() {
    lifecycle.leadershipStarted();
    seen(workload().neverOwned().slice("a", "").admitted());
    seen(
        workload()
            .neverOwned()
            .slice("b", "a")
            .condition("QuotaReserved", "False", "PendingEvaluation", ""));
    seen(workload().neverOwned().slice("c", "x").admitted());
    seen(workload().slice("d", "a").admitted());
    assertThat(written).as("not admitted, of another slice, of another owner").isEmpty();

    var outcome = pending();
    seen(workload().neverOwned().slice("b", "a").admitted());
    assertThat(written).singleElement().asString().contains("WorkloadSliceReplaced");
    pending();
    outcome.complete(new WorkloadWriter.Outcome.Conflict());
    assertThat(written).as("tried again").hasSize(2);
    assertThat(events).isEmpty();
  }

  @Test
  void leavesSlicesToTheIntegrationThatKnowsThem() {
    lifecycle.leadershipStarted();
    seen(workload().slice("a", "").admitted());
    seen(workload().slice("b", "a").admitted());
    assertThat(written).isEmpty();
  }

  @Test
  void looksAtTheWorkloadsOfAQueueThatIsDrained() {
    lifecycle.leadershipStarted();
    seen(workload().admitted());
    assertThat(written).isEmpty();

    pending();
    clusterQueue("HoldAndDrain");

    assertThat(written).hasSize(1);
    assertThat(written.getFirst()).contains("ClusterQueueStopped");
  }

  @Test
  void looksAtTheWorkloadsOfAQueueThatIsRestarted() {
    lifecycle.leadershipStarted();
    clusterQueue("HoldAndDrain");
    seen(
        workload()
            .condition("QuotaReserved", "False", "PendingEvaluation", "")
            .condition("Requeued", "False", "ClusterQueueStopped", ""));
    assertThat(written).isEmpty();

    pending();
    clusterQueue("None");

    assertThat(written).hasSize(1);
    assertThat(written.getFirst()).contains("ClusterQueueRestarted");
  }

  @Test
  void looksAgainWhenTheTimeIsUp() {
    lifecycle.leadershipStarted();
    seen(workload().admitted().spec("maximumExecutionTimeSeconds: 90"));
    assertThat(written).isEmpty();

    pending();
    now = SINCE.plusSeconds(90);
    ring(Duration.ofSeconds(30));

    assertThat(written).hasSize(1);
    assertThat(written.getFirst()).contains("MaximumExecutionTimeExceeded");
  }

  @Test
  void deactivatesAndReleasesWithPatchesOfTheObject() {
    lifecycle.leadershipStarted();
    pending();
    seen(workload().admitted().condition("DeactivationTarget", "True", "AdmissionCheck", ""));
    assertThat(written).containsExactly("object@100 {\"spec\":{\"active\":false}}");
  }

  @Test
  void takesOnlyItsOwnFinalizerOff() {
    lifecycle.leadershipStarted();
    pending();
    seen(workload().unowned().condition("Finished", "True", "OwnerNotFound", ""));
    assertThat(written)
        .containsExactly("object@100 {\"metadata\":{\"finalizers\":[\"example.com/other\"]}}");
  }

  private final class Store implements WorkloadLister {

    @Override
    public Optional<CachedWorkload> get(String namespace, String name) {
      return Optional.ofNullable(workloads.get(name));
    }

    @Override
    public Collection<CachedWorkload> ownedBy(String ownerUid) {
      return workloads.values();
    }

    @Override
    public Collection<CachedWorkload> inQueue(String namespace, String queueName) {
      return List.copyOf(workloads.values());
    }

    @Override
    public Collection<CachedWorkload> reservingIn(String clusterQueue) {
      return workloads.values().stream().filter(CachedWorkload::quotaReserved).toList();
    }

    @Override
    public Iterable<CachedWorkload> all() {
      return List.copyOf(workloads.values());
    }

    @Override
    public int size() {
      return workloads.size();
    }
  }

  private final class Writer implements WorkloadWriter {

    @Override
    public CompletableFuture<Outcome> patchStatus(
        WorkloadId id, long version, JsonNode status, Urgency urgency) {
      assertThat(urgency).isEqualTo(Urgency.DECISION);
      written.add("status@" + version + " " + status);
      return outcomes.remove();
    }

    @Override
    public CompletableFuture<Outcome> patch(WorkloadId id, long version, JsonNode patch) {
      written.add("object@" + version + " " + patch);
      return outcomes.remove();
    }

    @Override
    public CompletableFuture<Outcome> create(String namespace, JsonNode workload) {
      throw new AssertionError("the life cycle creates nothing");
    }

    @Override
    public CompletableFuture<Outcome> delete(WorkloadId id) {
      throw new AssertionError("the life cycle deletes nothing");
    }
  }
}
