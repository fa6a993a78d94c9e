package dev.sluice.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.accounting.PodRecordParser;
import dev.sluice.accounting.PodRecords;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.kube.events.EventRecorder;
import dev.sluice.kube.events.EventRecorder.EventCounter;
import dev.sluice.kube.events.EventRecorder.EventSink;
import dev.sluice.testing.PlayedApi;
import dev.sluice.workload.KnownWorkloads;
import dev.sluice.workload.feed.AdmittedRequests;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import dev.sluice.workload.writing.StatusWriter;
import dev.sluice.workload.writing.WorkloadWriter.Outcome;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.events.v1.EventSeries;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When the API server is asked again that refuses what is to be done about a failed node. */
class FailedNodeControllerTest {

  private static final Duration SOON = Duration.ofSeconds(1);
  private static final Duration LATER = Duration.ofSeconds(30);

  private final List<Duration> delays = new ArrayList<>();
  private final List<Runnable> alarms = new ArrayList<>();
  private final List<String> statuses = new ArrayList<>();
  private final Map<String, CachedWorkload> known = new ConcurrentHashMap<>();
  private final PodStore pods =
      new PodStore(
          event -> {},
          task -> {},
          key -> {},
          new PodRecordParser(AdmittedRequests.PLAIN, image -> false),
          new PodRecords(pod -> {}, uid -> false),
          pod -> true);
  private final NodeStore nodes = new NodeStore(event -> {}, (before, after) -> {});
  private final PlayedApi api = new PlayedApi();
  private final KubernetesClient client = api.client();
  private final EventRecorder events =
      new EventRecorder(
          new EventSink() {
            @Override
            public void create(Event event) {}

            @Override
            public void update(Event event, EventSeries series) {}
          },
          () -> Instant.EPOCH,
          "test",
          EventRecorder.Budget.DEFAULT,
          new IgnoredCounts());
  private Outcome outcome = new Outcome.Written(7);
  private final FailedNodeController controller =
      new FailedNodeController(
          new FailedNodeController.Dependencies(
              new KnownWorkloads(known),
              nodes,
              pods,
              (StatusWriter)
                  (id, version, status, urgency) -> {
                    statuses.add(status.toString());
                    return CompletableFuture.completedFuture(outcome);
                  },
              flavor -> List.of(),
              (workload, event) -> {},
              new ApiClient(client, ApiClient.Options.atATime(1)),
              events,
              () -> Instant.EPOCH),
          new FailedNodePolicy(true, true, false, false),
          WorkQueueSettings.of(Runnable::run, this::later),
          () -> true);

  FailedNodeControllerTest() throws IOException {
    byte[] node =
        """
        {"metadata": {"name": "n2", "resourceVersion": "1",
           "labels": {"kubernetes.io/hostname": "n2"}},
         "spec": {}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
        """
            .getBytes(StandardCharsets.UTF_8);
    nodes.seen(nodes.parse(node, 0, node.length));
  }

  private void later(Duration delay, Runnable task) {
    delays.add(delay);
    alarms.add(task);
  }

  @AfterEach
  void close() {
    controller.close();
    events.close();
    client.close();
    api.close();
  }

  private static final class IgnoredCounts implements EventCounter {

    @Override
    public void written() {}

    @Override
    public void aggregated() {}

    @Override
    public void dropped() {}

    @Override
    public void failed() {}
  }

  /** A pod of the Workload that was sent to n1, and isn't bound to it. */
  private void givenSentPod() throws IOException {
    byte[] pod =
        """
        {"metadata": {"namespace": "ns", "name": "p", "resourceVersion": "5",
           "uid": "00000000-0000-0000-0000-000000000001",
           "labels": {"kueue.x-k8s.io/podset": "main"},
           "annotations": {"kueue.x-k8s.io/workload": "a",
             "kueue.x-k8s.io/podset-unconstrained-topology": "true"}},
         "spec": {"nodeSelector": {"kubernetes.io/hostname": "n1"}, "containers": []},
         "status": {"phase": "Pending"}}
        """
            .getBytes(StandardCharsets.UTF_8);
    pods.seen(pods.parse(pod, 0, pod.length));
  }

  private void workload(int version, String status) throws IOException {
    byte[] bytes =
        """
        {"metadata": {"namespace": "ns", "name": "a", "uid": "uid-a", "resourceVersion": "%d",
           "creationTimestamp": "2026-01-01T00:00:00Z"},
         "spec": {"queueName": "q", "podSets": [{"name": "main", "count": 1,
            "template": {"spec": {"containers": []}}}]},
         "status": %s}
        """
            .formatted(version, status)
            .getBytes(StandardCharsets.UTF_8);
    CachedWorkload after = new WorkloadParser().parse(bytes, 0, bytes.length);
    CachedWorkload before = known.put("a", after);
    controller.changed(before, after);
  }

  private static String admittedOn(String node) {
    return """
    {"conditions": [
       {"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved"},
       {"type": "Admitted", "status": "True", "reason": "Admitted"}],
     "admission": {"clusterQueue": "cq", "podSetAssignments": [
       {"name": "main", "count": 1, "topologyAssignment": {
         "levels": ["kubernetes.io/hostname"],
         "slices": [{"domainCount": 1, "podCounts": {"universal": 1},
           "valuesPerLevel": [{"individual": {"roots": ["%s"]}}]}]}}]}}
    """
        .formatted(node);
  }

  @Test
  void aPodThatWaitsForALostNodeIsEndedAgainAfterARefusal() throws IOException {
    api.play(asked -> new PlayedApi.Answer(403, "{\"kind\": \"Status\", \"message\": \"no\"}"));
    givenSentPod();

    workload(5, admittedOn("n2"));

    assertThat(api.asked("PATCH", "/pods/p/status")).hasSize(1);
    assertThat(delays).containsExactly(LATER);
    assertThat(statuses).isEmpty();
  }

  @Test
  void soIsOneWhoseWorkloadHasNoAdmission() throws IOException {
    api.play(asked -> new PlayedApi.Answer(422, "{\"kind\": \"Status\", \"message\": \"no\"}"));
    givenSentPod();

    workload(5, "{}");
    assertThat(delays).containsExactly(SOON);
    alarms.removeFirst().run();

    assertThat(api.asked("PATCH", "/pods/p/status")).hasSize(1);
    assertThat(delays).containsExactly(SOON, LATER);
  }

  @Test
  void aListOfFailedNodesIsWrittenAgainSoonAfterAConflict() throws IOException {
    outcome = new Outcome.Conflict();
    workload(5, admittedOn("n1"));
    assertThat(statuses).singleElement().asString().contains("\"n1\"");
    assertThat(delays).containsExactly(SOON);
  }

  @Test
  void aRefusedListOfFailedNodesIsWrittenAgainAfterAPause() throws IOException {
    outcome = new Outcome.Refused(403, "protected");
    workload(5, admittedOn("n1"));
    assertThat(delays).containsExactly(LATER);
  }

  @Test
  void aListThatStandsIsNotWrittenAgain() throws IOException {
    workload(5, admittedOn("n1"));
    assertThat(statuses).hasSize(1);
    assertThat(delays).isEmpty();
  }
}
