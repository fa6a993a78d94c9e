package dev.sluice.topology;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.sluice.accounting.PodRecordParser;
import dev.sluice.accounting.PodRecords;
import dev.sluice.api.KueueConstants;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.topology.PodStore.ParsedPod;
import dev.sluice.workload.KnownWorkloads;
import dev.sluice.workload.feed.AdmittedRequests;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import dev.sluice.workload.writing.StatusWriter;
import dev.sluice.workload.writing.WorkloadWriter;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the ungater asks of the API server, which is played here. */
class TopologyUngaterTest {

  /** It is inactive afterwards, so that it ends if it looks without a pause. */
  private static final int MOST_LOOKS = 1_000;

  private final AtomicInteger looks = new AtomicInteger();
  private final List<Duration> delays = new ArrayList<>();
  private final List<String> asked = new CopyOnWriteArrayList<>();
  private final Map<String, Integer> refusing = new ConcurrentHashMap<>();
  private final List<JsonNode> statuses = new ArrayList<>();
  private final Map<String, CachedWorkload> known = new ConcurrentHashMap<>();
  private final PodStore pods =
      new PodStore(
          event -> {},
          task -> {},
          this::podChanged,
          new PodRecordParser(AdmittedRequests.PLAIN, image -> false),
          new PodRecords(pod -> {}, uid -> false),
          pod -> true);
  private Instant now = Instant.parse("2026-01-01T00:00:00Z");
  private HttpServer server;
  private KubernetesClient client;
  private TopologyUngater ungater;

  private void podChanged(PodStore.Key key) {
    ungater.podChanged(key);
  }

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", this::answer);
    server.start();
    client =
        new KubernetesClientBuilder()
            .withConfig(
                new ConfigBuilder()
                    .withMasterUrl("http://127.0.0.1:" + server.getAddress().getPort())
                    .withAutoConfigure(false)
                    .build())
            .build();
    StatusWriter writer =
        (id, version, status, urgency) -> {
          statuses.add(status);
          return CompletableFuture.completedFuture(new WorkloadWriter.Outcome.Written(version + 1));
        };
    ungater =
        new TopologyUngater(
            new KnownWorkloads(known),
            pods,
            new ApiClient(client, ApiClient.Options.atATime(4)),
            writer,
            WorkQueueSettings.of(Runnable::run, (delay, task) -> delays.add(delay)),
            () -> now,
            () -> looks.incrementAndGet() < MOST_LOOKS,
            (workload, gate) -> {});
  }

  @AfterEach
  void stop() {
    ungater.close();
    client.close();
    server.stop(0);
  }

  private void answer(HttpExchange exchange) throws IOException {
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    String path = exchange.getRequestURI().getPath();
    String pod = path.substring(path.lastIndexOf('/') + 1);
    String node = body.replaceAll(".*\"kubernetes.io/hostname\":\"([^\"]*)\".*", "$1");
    asked.add(pod + "->" + node);
    byte[] answer = "{\"metadata\": {\"resourceVersion\": \"6\"}}".getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    exchange.sendResponseHeaders(refusing.getOrDefault(pod, 200), answer.length);
    exchange.getResponseBody().write(answer);
    exchange.close();
  }

  private static final String GATE = "{\"name\": \"" + KueueConstants.TOPOLOGY_GATE + "\"}";
  private static final String ELASTIC = "{\"name\": \"" + KueueConstants.ELASTIC_JOB + "\"}";

  /** A pod of the elastic job, whose first slice is a. */
  private void pod(int index, String version, String gates, String node) {
    String selector =
        node.isEmpty() ? "" : "\"nodeSelector\": {\"kubernetes.io/hostname\": \"" + node + "\"},";
    seen(
        """
        {"metadata": {"namespace": "ns", "name": "p%1$d", "resourceVersion": "%2$s",
           "uid": "00000000-0000-0000-0000-%1$012d",
           "labels": {"kueue.x-k8s.io/podset": "main"},
           "annotations": {"kueue.x-k8s.io/workload": "a",
             "kueue.x-k8s.io/workload-slice-name": "a",
             "kueue.x-k8s.io/podset-unconstrained-topology": "true"}},
         "spec": {%4$s "schedulingGates": [%3$s], "containers": []}, "status": {"phase": "Pending"}}
        """
            .formatted(index, version, gates, selector));
  }

  private void seen(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    try {
      pods.seen(pods.parse(bytes, 0, bytes.length));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A slice of the elastic job that is admitted, with one pod on each node. */
  private CachedWorkload slice(
      String name, String replaces, int version, int count, boolean finished, String... nodes) {
    String text =
        """
        {"metadata": {"namespace": "ns", "name": "%1$s", "uid": "uid-%1$s",
           "resourceVersion": "%3$d", "creationTimestamp": "2026-01-01T00:00:00Z",
           "annotations": {"kueue.x-k8s.io/elastic-job": "true",
             "kueue.x-k8s.io/workload-slice-name": "a",
             "kueue.x-k8s.io/workload-slice-replacement-for": "ns/%2$s"}},
         "spec": {"queueName": "q", "podSets": [{"name": "main", "count": %4$d,
            "template": {"spec": {"containers": []}}}]},
         "status": {
           "conditions": [
             {"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved"},
             {"type": "Finished", "status": "%5$s", "reason": "WorkloadSliceReplaced"},
             {"type": "Admitted", "status": "True", "reason": "Admitted"}],
           "admission": {"clusterQueue": "cq", "podSetAssignments": [
             {"name": "main", "count": %6$d, "topologyAssignment": {
               "levels": ["kubernetes.io/hostname"],
               "slices": [{"domainCount": %6$d, "podCounts": {"universal": 1},
                 "valuesPerLevel": [{"individual": {"roots": ["%7$s"]}}]}]}}]}}}
        """
            .formatted(
                name,
                replaces,
                version,
                count,
                finished ? "True" : "False",
                nodes.length,
                String.join("\", \"", nodes));
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    try {
      return new WorkloadParser().parse(bytes, 0, bytes.length);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void workload(CachedWorkload after) {
    CachedWorkload before = known.put(after.id().name(), after);
    ungater.changed(before, after);
  }

  private Map<String, Integer> calls() {
    Map<String, Integer> calls = new TreeMap<>();
    asked.forEach(call -> calls.merge(call, 1, Integer::sum));
    return calls;
  }

  @Test
  void additionalPodsOfAGrownJobGetTheAdditionalDomains() {
    workload(slice("a", "", 5, 2, false, "n1", "n2"));
    pod(1, "5", "", "n1");
    pod(2, "5", GATE, "");
    assertThat(asked).containsExactly("p2->n2");
    pod(2, "6", "", "n2");
    // The job grew; its new pods wait for quota, and then for a domain.
    pod(3, "5", ELASTIC + "," + GATE, "");
    pod(4, "5", ELASTIC + "," + GATE, "");
    assertThat(asked).hasSize(1);
    workload(slice("b", "a", 8, 4, false, "n1", "n2", "n3", "n4"));
    assertThat(asked).as("p3 and p4 have no quota yet").hasSize(1);
    pod(4, "6", GATE, "");
    pod(3, "6", GATE, "");
    assertThat(calls()).containsOnlyKeys("p2->n2", "p4->n3", "p3->n4").hasSize(3);
    workload(slice("a", "", 9, 2, true, "n1", "n2"));
    pod(4, "7", "", "n3");
    pod(3, "7", "", "n4");
    assertThat(asked).hasSize(3);
    // A pod that ends makes room where it was.
    pods.deleted(parsed(2));
    pod(5, "5", GATE, "");
    assertThat(asked).last().isEqualTo("p5->n2");
    assertThat(statuses).isEmpty();
  }

  @Test
  void aPodThatIsRefusedIsNotAskedForAtEachChangeOfOthers() {
    refusing.put("p1", 422);
    workload(slice("a", "", 5, 2, false, "n1", "n2"));
    pod(1, "5", GATE, "");
    pod(2, "5", "", "n2");
    for (int version = 6; version < 12; version++) {
      pod(2, "" + version, "", "n2");
      workload(slice("a", "", version, 2, false, "n1", "n2"));
    }
    assertThat(calls()).containsExactly(Map.entry("p1->n1", 1));
    now = now.plusSeconds(30);
    pod(2, "12", "", "n2");
    assertThat(calls()).as("after a pause").containsExactly(Map.entry("p1->n1", 2));
    now = now.plusSeconds(59);
    pod(2, "13", "", "n2");
    assertThat(calls()).as("the pause is longer now").containsExactly(Map.entry("p1->n1", 2));
    pod(1, "14", GATE, "");
    assertThat(calls()).as("the pod has changed").containsExactly(Map.entry("p1->n1", 3));
    refusing.clear();
    now = now.plusSeconds(30);
    pod(2, "15", "", "n2");
    pod(2, "16", "", "n2");
    assertThat(calls()).containsExactly(Map.entry("p1->n1", 4));
  }

  @Test
  void aPodThatWasRefusedAndHasNoPlaceAnyMoreIsAskedForWhenItGetsOne() {
    refusing.put("p1", 422);
    workload(slice("a", "", 5, 2, false, "n1", "n2"));
    pod(1, "5", GATE, "");
    pod(2, "5", "", "n2");
    assertThat(delays).last().isEqualTo(Duration.ofSeconds(30));
    refusing.clear();
    now = now.plusSeconds(31);
    delays.clear();
    looks.set(0);

    workload(slice("a", "", 6, 1, false, "n2"));
    assertThat(looks).hasValue(1);
    assertThat(delays).isEmpty();
    assertThat(calls()).containsExactly(Map.entry("p1->n1", 1));

    workload(slice("a", "", 7, 2, false, "n2", "n3"));
    assertThat(calls()).containsExactly(Map.entry("p1->n1", 1), Map.entry("p1->n3", 1));
  }

  private ParsedPod parsed(int index) {
    byte[] bytes =
        "{\"metadata\": {\"uid\": \"00000000-0000-0000-0000-%012d\"}}"
            .formatted(index)
            .getBytes(StandardCharsets.UTF_8);
    try {
      return pods.parse(bytes, 0, bytes.length);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aJobThatShrankKeepsTheDomainsOfThePodsThatRun() {
    workload(slice("a", "", 5, 3, false, "n1", "n2", "n3"));
    for (int i = 1; i <= 3; i++) {
      pod(i, "5", "", "n" + i);
    }
    workload(slice("a", "", 6, 2, false, "n1", "n2", "n3"));
    assertThat(statuses).as("three pods are known").isEmpty();
    pods.deleted(parsed(2));
    assertThat(statuses)
        .singleElement()
        .satisfies(
            status ->
                assertThat(
                        status
                            .at("/admission/podSetAssignments/0/topologyAssignment/slices/0")
                            .toString())
                    .contains("\"domainCount\":2", "\"1\",\"3\""));
    // Nothing is placed by what the cache still has of the Workload.
    pod(4, "5", GATE, "");
    assertThat(asked).isEmpty();
    pods.deleted(parsed(1));
    workload(slice("a", "", 7, 2, false, "n1", "n3"));
    assertThat(asked).containsExactly("p4->n1");
    assertThat(statuses).hasSize(1);
  }
}
