package dev.sluice.topology;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.sluice.accounting.PodRecordParser;
import dev.sluice.accounting.PodRecords;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyAssignment.Domain;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.topology.TopologyPod.TopologyLabels;
import dev.sluice.workload.KnownWorkloads;
import dev.sluice.workload.feed.AdmittedRequests;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Admission;
import dev.sluice.workload.record.CachedWorkload.Assignment;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.record.CachedWorkload.History;
import dev.sluice.workload.record.CachedWorkload.Status;
import dev.sluice.workload.writing.StatusWriter;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The ungater needs one API call for each pod, however many pods a Workload has. */
class UngaterCallsTest {

  private static final int PODS = 10_000;
  private static final int PER_NODE = 100;

  private final Map<String, Integer> calls = new ConcurrentHashMap<>();
  private final PodStore pods =
      new PodStore(
          event -> {},
          task -> {},
          key -> {},
          new PodRecordParser(AdmittedRequests.PLAIN, image -> false),
          new PodRecords(pod -> {}, uid -> false),
          pod -> true);

  private static CachedWorkload workload() {
    Instant now = Instant.parse("2026-01-01T00:00:00Z");
    List<Domain> domains =
        IntStream.range(0, PODS / PER_NODE)
            .mapToObj(node -> new Domain(List.of("n" + node), PER_NODE))
            .toList();
    Assignment assignment =
        new Assignment(
            "main",
            Map.of(),
            Map.of(),
            PODS,
            Optional.of(new TopologyAssignment(List.of(TopologyLabels.HOSTNAME), domains)),
            "");
    List<Condition> conditions =
        List.of(
            new Condition("QuotaReserved", "True", "QuotaReserved", "", now, 1),
            new Condition("Admitted", "True", "Admitted", "", now, 1));
    return new CachedWorkload(
        new WorkloadId("uid", "ns", "w"),
        1,
        1,
        now,
        false,
        List.of(),
        true,
        Optional.empty(),
        Map.of(),
        Map.of(),
        new CachedWorkload.Spec("lq", List.of(), 0, Optional.empty(), true, 0),
        new Status(
            conditions,
            Optional.of(new Admission("cq", List.of(assignment))),
            List.of(),
            Map.of(),
            Optional.empty(),
            History.NONE,
            false));
  }

  private void pod(int index, String spec) {
    String text =
        """
        {"metadata": {"namespace": "ns", "name": "p-%1$d", "resourceVersion": "5",
           "uid": "00000000-0000-0000-0000-%1$012d",
           "labels": {"kueue.x-k8s.io/podset": "main"},
           "annotations": {"kueue.x-k8s.io/workload": "w",
             "kueue.x-k8s.io/podset-unconstrained-topology": "true"}},
         "spec": {%2$s "containers": []}, "status": {"phase": "Pending"}}
        """
            .formatted(index, spec);
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    try {
      pods.seen(pods.parse(bytes, 0, bytes.length));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void answer(HttpExchange exchange) throws IOException {
    exchange.getRequestBody().readAllBytes();
    calls.merge(
        exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath(), 1, Integer::sum);
    byte[] body = "{\"metadata\": {\"resourceVersion\": \"6\"}}".getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  @Test
  void tenThousandPodsAreTenThousandCalls() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", this::answer);
    server.start();
    try (KubernetesClient client =
            new KubernetesClientBuilder()
                .withConfig(
                    new ConfigBuilder()
                        .withMasterUrl("http://127.0.0.1:" + server.getAddress().getPort())
                        .withAutoConfigure(false)
                        .build())
                .build();
        TopologyUngater ungater =
            new TopologyUngater(
                new KnownWorkloads(Map.of("w", workload())),
                pods,
                new ApiClient(client, ApiClient.Options.atATime(32)),
                (StatusWriter)
                    (id, version, status, urgency) -> {
                      throw new AssertionError("no place is truncated");
                    },
                WorkQueueSettings.of(Runnable::run, (delay, task) -> {}),
                InstantSource.system(),
                () -> true,
                (workload, gate) -> {})) {
      IntStream.range(0, PODS)
          .forEach(i -> pod(i, "\"schedulingGates\": [{\"name\": \"kueue.x-k8s.io/topology\"}],"));
      ungater.enqueueAll();
      assertThat(calls).hasSize(PODS).allSatisfy((call, count) -> assertThat(count).isOne());

      // The API server's own words of half of the pods arrive, and the Workload changes meanwhile.
      List<Integer> half = new ArrayList<>(IntStream.range(0, PODS / 2).boxed().toList());
      half.forEach(
          i ->
              pod(
                  i,
                  "\"nodeSelector\": {\"kubernetes.io/hostname\": \"n%d\"},"
                      .formatted(i / PER_NODE)));
      ungater.podChanged(new PodStore.Key("ns", "w"));
      ungater.enqueueAll();
      assertThat(calls.values().stream().mapToInt(Integer::intValue).sum()).isEqualTo(PODS);
    } finally {
      server.stop(0);
    }
  }
}
