package dev.sluice.checks.multikueue.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.checks.multikueue.fencing.FencingController.FenceAnnotations;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.reflect.InformerSupervisor;
import dev.sluice.testing.PlayedApi;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadLister;
import dev.sluice.workload.record.WorkloadReader;
import dev.sluice.workload.writing.WorkloadWriter;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The fence over played answers of an API server, whose clock is the real one; that of the operator
 * is the test's, and a day behind.
 */
class FencingControllerTest {

  private static final Duration AFTER = Duration.ofSeconds(100);
  private static final String LEASE = "/leases/sluice-fence-me";
  private static final String PATCH = "{\"spec\":{\"active\":false}}";

  private final Instant started = Instant.now();
  private final AtomicReference<Instant> now =
      new AtomicReference<>(started.minus(1, ChronoUnit.DAYS));
  private volatile Runnable due = () -> {};
  private final AtomicBoolean leading = new AtomicBoolean(true);
  private volatile Runnable duringLook = () -> {};
  private final List<String> written = new CopyOnWriteArrayList<>();
  private final List<String> told = new CopyOnWriteArrayList<>();
  private final PlayedApi api = new PlayedApi();
  private final KubernetesClient client = api.client();
  private final Writer writer = new Writer();
  private final FencingController keeper =
      new FencingController(
          new FencingController.Dependencies(
              client,
              "system",
              new Reader(),
              writer,
              () -> {
                duringLook.run();
                return leading.get();
              },
              Runnable::run,
              (delay, task) -> this.due = task,
              now::get,
              workload -> told.add(workload.id().name()),
              new InformerSupervisor()));

  FencingControllerTest() throws IOException {}

  @AfterEach
  void close() {
    keeper.close();
    client.close();
    api.close();
  }

  private static final class Reader implements WorkloadReader {
    private final List<WorkloadListener> listeners = new ArrayList<>();

    @Override
    public void listen(WorkloadListener listener) {
      listeners.add(listener);
    }

    @Override
    public void unlisten(WorkloadListener listener) {
      listeners.remove(listener);
    }

    @Override
    public CompletableFuture<Void> start() {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<Void> caughtUp() {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<Void> refresh(String namespace, String name) {
      throw new UnsupportedOperationException();
    }

    @Override
    public WorkloadLister store() {
      throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
  }

  private final class Writer implements WorkloadWriter {
    private volatile Outcome next = new Outcome.Written(2);

    @Override
    public CompletableFuture<Outcome> patch(WorkloadId id, long version, JsonNode patch) {
      written.add(id.name() + patch);
      return CompletableFuture.completedFuture(next);
    }

    @Override
    public CompletableFuture<Outcome> patchStatus(
        WorkloadId id, long version, JsonNode status, Urgency urgency) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<Outcome> create(String namespace, JsonNode workload) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<Outcome> delete(WorkloadId id) {
      throw new UnsupportedOperationException();
    }
  }

  /** One that its manager sent, made when the operator's clock began. */
  private CachedWorkload sent(boolean active, Map<String, String> annotations) {
    return sent("wl", active, annotations);
  }

  private CachedWorkload sent(String name, boolean active, Map<String, String> annotations) {
    return new CachedWorkload(
        new WorkloadId("uid-of-" + name, "team", name),
        1,
        1,
        started.minus(1, ChronoUnit.DAYS),
        false,
        List.of(),
        false,
        Optional.empty(),
        Map.of(FenceAnnotations.ORIGIN, "me"),
        annotations,
        new CachedWorkload.Spec("lq", List.of(), 0, Optional.empty(), active, 0),
        new CachedWorkload.Status(
            List.of(),
            Optional.empty(),
            List.of(),
            Map.of(),
            Optional.empty(),
            CachedWorkload.History.NONE,
            false));
  }

  private CachedWorkload fenced() {
    return sent(true, Map.of(FenceAnnotations.AFTER, AFTER.toString()));
  }

  /** The API server has a Lease that was renewed so many seconds before the start. */
  private void renewed(long secondsAgo) {
    String lease =
        """
        {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
         "metadata": {"name": "sluice-fence-me", "namespace": "system", "resourceVersion": "5",
          "labels": {"kueue.x-k8s.io/multikueue-origin": "me"},
          "managedFields": [
            {"manager": "m", "time": "%s", "fieldsV1": {"f:spec": {"f:renewTime": {}}}},
            {"manager": "somebody", "time": "%s", "fieldsV1": {"f:metadata": {"f:labels": {}}}}]},
         "spec": {"holderIdentity": "process", "renewTime": "2001-01-01T00:%02d:%02d.000000Z"}}
        """
            .formatted(
                started.minusSeconds(secondsAgo).truncatedTo(ChronoUnit.SECONDS),
                started.truncatedTo(ChronoUnit.SECONDS),
                59 - secondsAgo / 60,
                59 - secondsAgo % 60);
    api.play(
        request ->
            request.path().endsWith("/leases") ? listed(lease) : new PlayedApi.Answer(200, lease));
  }

  private static PlayedApi.Answer listed(String... leases) {
    return new PlayedApi.Answer(
        200,
        """
        {"apiVersion": "coordination.k8s.io/v1", "kind": "LeaseList",
         "metadata": {"resourceVersion": "5"}, "items": [%s]}
        """
            .formatted(String.join(",", leases)));
  }

  private int reads() {
    return api.asked("GET", LEASE).size();
  }

  /** Starts, and waits until it knows the Lease. */
  private void start() {
    keeper.start();
    await().until(() -> reads() > 0);
  }

  private void pass(long seconds) {
    now.updateAndGet(it -> it.plusSeconds(seconds));
    due.run();
  }

  private void untilStopped() {
    await()
        .untilAsserted(
            () -> {
              pass(0);
              assertThat(written).containsExactly("wl" + PATCH);
            });
  }

  /** Until it is over due, and the Lease was looked at for this reason. */
  private void untilLooked() {
    int before = reads();
    await()
        .until(
            () -> {
              pass(0);
              return reads() > before + 1;
            });
  }

  @Test
  void afterAStartTheFenceCountsFromWhenTheApiServerWroteTheLastRenewal() {
    renewed(60);
    keeper.changed(null, fenced());
    start();

    pass(30);
    assertThat(written).isEmpty();

    pass(10);
    untilStopped();
    assertThat(told).containsExactly("wl");
  }

  @Test
  void whatIsOverdueWhenTheOperatorStartsIsStoppedAtOnce() {
    renewed(101);
    keeper.changed(null, fenced());
    start();

    untilStopped();
  }

  @Test
  void aRenewalThatWasNotToldOfSavesIt() {
    renewed(60);
    keeper.changed(null, fenced());
    start();
    renewed(20);

    pass(42);
    await()
        .until(
            () -> {
              pass(0);
              return reads() > 1;
            });

    assertThat(written).isEmpty();
  }

  @Test
  void withoutALeaseItCountsFromTheCopy() {
    api.play(
        request -> request.path().endsWith("/leases") ? listed() : new PlayedApi.Answer(404, "{}"));
    keeper.changed(null, fenced());
    keeper.start();

    pass(99);
    assertThat(written).isEmpty();

    pass(1);
    untilStopped();
  }

  @Test
  void whileTheApiServerDoesNotSayHowOldTheLeaseIsNothingIsStopped() {
    renewed(200);
    api.play(
        request -> request.path().endsWith("/leases") ? listed() : new PlayedApi.Answer(500, "{}"));
    keeper.changed(null, fenced());
    keeper.start();
    pass(500);

    untilLooked();
    assertThat(written).isEmpty();

    renewed(200);
    untilStopped();
  }

  @Test
  void whoDoesNotLeadStopsNothingUntilItDoes() {
    leading.set(false);
    renewed(200);
    keeper.changed(null, fenced());
    start();
    int before = reads();
    pass(500);
    assertThat(reads()).isEqualTo(before);

    leading.set(true);
    untilStopped();
  }

  @Test
  void whatCouldNotBeWrittenIsTriedAgain() {
    renewed(200);
    writer.next = new WorkloadWriter.Outcome.Conflict();
    keeper.changed(null, fenced());
    start();
    await()
        .until(
            () -> {
              pass(0);
              return written.size() > 1;
            });
    assertThat(told).isEmpty();

    writer.next = new WorkloadWriter.Outcome.Written(2);
    pass(0);

    assertThat(told).containsExactly("wl");
  }

  @Test
  void whatIsOffOrNamesNoFenceOrWentIsLeftAlone() {
    renewed(200);
    start();
    keeper.changed(null, sent(false, Map.of(FenceAnnotations.AFTER, AFTER.toString())));
    keeper.changed(null, sent(true, Map.of()));
    keeper.changed(null, sent(true, Map.of(FenceAnnotations.AFTER, "soon")));
    keeper.changed(null, fenced());
    keeper.changed(fenced(), null);
    int before = reads();

    pass(500);

    assertThat(reads()).isEqualTo(before);
    assertThat(written).isEmpty();
  }

  @Test
  void afterALookThatFailsTheNextOneComes() {
    renewed(200);
    keeper.changed(null, fenced());
    start();
    AtomicBoolean failed = new AtomicBoolean();
    duringLook =
        () -> {
          failed.set(true);
          throw new IllegalStateException("a look that fails");
        };
    await()
        .until(
            () -> {
              pass(0);
              return failed.get();
            });
    duringLook = () -> {};

    untilStopped();
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT2562047788015215H", "PT-2562047788015215H"})
  void timesThatNoClockReachesKeepNobodyElseFromBeingStopped(String after) {
    renewed(200);
    keeper.changed(null, sent("endless", true, Map.of(FenceAnnotations.AFTER, after)));
    keeper.changed(null, fenced());
    start();

    untilStopped();
  }
}
