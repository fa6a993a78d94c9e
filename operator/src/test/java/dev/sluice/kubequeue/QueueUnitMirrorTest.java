package dev.sluice.kubequeue;

import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.api.v1beta2.WorkloadPriorityClass;
import dev.sluice.checks.BuiltInCheckControllers;
import dev.sluice.jobs.GivenWorkload;
import dev.sluice.jobs.controller.IntegrationRegistry;
import dev.sluice.kube.Fakes.SetWorkloads;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.controller.ObservableItemStore;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.kube.events.EventRecorder;
import dev.sluice.kube.events.EventRecorder.EventCounter;
import dev.sluice.kube.events.EventRecorder.EventSink;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.testing.PlayedApi;
import dev.sluice.testing.PlayedApi.Answer;
import dev.sluice.testing.PlayedApi.Asked;
import dev.sluice.workload.record.CachedWorkload;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.events.v1.EventSeries;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How QueueUnits are written, to an API server that keeps them by their paths. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class QueueUnitMirrorTest {

  private static final String UNITS =
      "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/team/queueunits/";

  private final Map<String, ObjectNode> units = new HashMap<>();
  private final SetWorkloads workloads = new SetWorkloads();
  private final Queue<Runnable> delayed = new ArrayDeque<>();
  private final InformerCaches caches = InformerCaches.empty(BuiltInCheckControllers.all());
  private PlayedApi api;
  private KubernetesClient client;
  private final KeptEvents sink = new KeptEvents();
  private EventRecorder events;
  private QueueUnitMirror mirror;
  private boolean subresource = true;
  private int version = 10;

  @BeforeEach
  void start() throws IOException {
    api = new PlayedApi();
    api.play(this::answer);
    client = api.client();
    put(
        caches.localQueues(),
        LocalQueue.class,
        "{metadata: {name: training, namespace: team}, spec: {clusterQueue: research}}");
    put(
        caches.clusterQueues(),
        ClusterQueue.class,
        """
        metadata:
          name: research
          annotations: {sluice.dev/source-kind: ElasticQuotaTree, sluice.dev/source-path: root/a}
        """);
    IntegrationRegistry registry = new IntegrationRegistry(List.of(), List.of(), gate -> true);
    registry.register(ForeignQueueUnit.KIND, (namespace, name) -> Optional.empty());
    events =
        new EventRecorder(sink, Instant::now, "test", EventRecorder.Budget.DEFAULT, new NoCounts());
    mirror =
        new QueueUnitMirror(
            new QueueUnitMirror.Dependencies(
                workloads,
                workloads,
                caches,
                registry,
                new ApiClient(client, ApiClient.Options.atATime(1)),
                events,
                WorkQueueSettings.of(Runnable::run, (delay, task) -> delayed.add(task)),
                () -> true));
  }

  private static final class KeptEvents implements EventSink {

    private final List<Event> kept = new CopyOnWriteArrayList<>();

    @Override
    public void create(Event event) {
      kept.add(event);
    }

    @Override
    public void update(Event event, EventSeries series) {
      kept.add(event);
    }
  }

  private static final class NoCounts implements EventCounter {

    @Override
    public void written() {}

    @Override
    public void aggregated() {}

    @Override
    public void dropped() {}

    @Override
    public void failed() {}
  }

  @AfterEach
  void stop() {
    mirror.close();
    events.close();
    client.close();
    api.close();
  }

  private static <R extends HasMetadata> void put(
      ObservableItemStore<R> store, Class<R> type, String yaml) throws JsonProcessingException {
    R object = new YAMLMapper().readValue(yaml, type);
    store.put(store.getKey(object), object);
  }

  /** Keeps what is applied; the status apart, or with the object where there is no subresource. */
  private synchronized Answer answer(Asked request) {
    boolean ofStatus = request.path().endsWith("/status");
    String name = request.path().substring(UNITS.length()).replace("/status", "");
    ObjectNode unit = units.get(name);
    if (ofStatus && (!subresource || unit == null)) {
      return new Answer(404, "{}");
    }
    if (request.method().equals("PATCH")) {
      unit = applied(unit, parsed(request.body()), ofStatus);
      units.put(name, unit);
    }
    return unit == null ? new Answer(404, "{}") : new Answer(200, unit.toString());
  }

  private ObjectNode applied(@Nullable ObjectNode before, ObjectNode body, boolean ofStatus) {
    ObjectNode unit = ofStatus ? Objects.requireNonNull(before).deepCopy() : body.deepCopy();
    if (ofStatus) {
      unit.set("status", body.get("status"));
    } else if (subresource) {
      unit.remove("status");
      if (before != null && before.has("status")) {
        unit.set("status", before.get("status"));
      }
    }
    version++;
    unit.withObjectProperty("metadata").put("resourceVersion", Integer.toString(version));
    return unit;
  }

  private static ObjectNode parsed(String text) {
    try {
      return (ObjectNode) new JsonMapper().readTree(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void changed(GivenWorkload given) {
    CachedWorkload workload = given.get();
    CachedWorkload before = workloads.workloads.put(workload.id().name(), workload);
    mirror.changed(before, workload);
    while (!delayed.isEmpty()) {
      delayed.remove().run();
    }
  }

  private synchronized ObjectNode unit(String name) {
    return Objects.requireNonNull(units.get(name), name);
  }

  /** Somebody changes the priority of a unit. */
  private synchronized void edit(String name, int priority) {
    unit(name).withObject("/spec").put("priority", priority);
  }

  private synchronized String phase(String unit) {
    JsonNode found = units.get(unit);
    return found == null ? "none" : found.at("/status/phase").asText();
  }

  @Test
  void aUnitShowsAWorkload() {
    changed(workloadOf(job()));
    assertThat(phase("sample")).isEqualTo("Enqueued");

    changed(workloadOf(job()).admitted("spot"));
    assertThat(phase("sample")).isEqualTo("Dequeued");
    assertThat(api.asked("PATCH", "/status")).hasSize(2);
  }

  /** The edit is undone, and the job is told why. */
  @Test
  void aPriorityThatIsNotForEverybodyIsUndone() throws JsonProcessingException {
    put(
        caches.workloadPriorityClasses(),
        WorkloadPriorityClass.class,
        "{metadata: {name: urgent, annotations: {sluice.dev/allowed-users: ann}}, value: 100}");
    changed(workloadOf(job()));
    edit("sample", 200);
    changed(workloadOf(job()));
    assertThat(unit("sample").at("/spec/priority").asInt()).isZero();
    events.close();
    assertThat(sink.kept)
        .extracting(event -> event.getReason() + ": " + event.getNote())
        .containsExactly(
            "NotActedUpon: spec.priority of QueueUnit sample has no effect: it reaches the priority"
                + " of WorkloadPriorityClass urgent, which not everybody may use, and nobody judges"
                + " who changes a QueueUnit");
  }

  /** As in the definition of an early Kube Queue, which is never replaced. */
  @Test
  void aDefinitionWithoutStatusSubresourceServesToo() {
    subresource = false;
    changed(workloadOf(job()));
    assertThat(phase("sample")).isEqualTo("Enqueued");

    changed(workloadOf(job()).admitted("spot"));
    assertThat(phase("sample")).isEqualTo("Dequeued");
    assertThat(api.asked("PATCH", "/status")).as("it asks once").hasSize(1);

    subresource = true;
    changed(workloadOf(job()).admitted("spot").podsReady("True", "Started"));
    assertThat(phase("sample")).as("the definition was replaced").isEqualTo("Running");
  }

  private static GivenWorkload slice(String name) {
    return workloadOf(job()).named(name).annotation("kueue.x-k8s.io/elastic-job", "true");
  }

  private static GivenWorkload second() {
    return slice("second")
        .annotation("kueue.x-k8s.io/workload-slice-replacement-for", "team/first");
  }

  /** One unit for a job, however often its size changes. */
  @Test
  void theSliceWithQuotaIsTheOneThatIsShown() {
    changed(slice("first").admitted("spot"));
    changed(second());
    assertThat(phase("sample")).isEqualTo("Dequeued");

    changed(second().admitted("spot"));
    changed(slice("first").condition("Finished", "True", "WorkloadSliceReplaced", "m"));
    assertThat(phase("sample")).isEqualTo("Dequeued");
    assertThat(unit("sample").at("/metadata/annotations/sluice.dev~1workload").asText())
        .isEqualTo("second");
    assertThat(units).containsOnlyKeys("sample");

    changed(second().admitted("spot").finished());
    assertThat(phase("sample")).isEqualTo("Succeed");
    assertThat(units).containsOnlyKeys("sample");
    changed(second().condition("Finished", "True", "OutOfSync", "m"));
    changed(slice("first").finished());
    assertThat(phase("sample")).as("the job went on with the first slice").isEqualTo("Succeed");
    assertThat(unit("sample").at("/metadata/annotations/sluice.dev~1workload").asText())
        .isEqualTo("first");
    assertThat(units).containsOnlyKeys("sample");
    events.close();
    assertThat(sink.kept).as("no name was taken").isEmpty();
  }
}
