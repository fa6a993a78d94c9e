package dev.sluice.server.endpoints;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.SchedulerThread;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.server.FakeReviews;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.RequestBody;
import dev.sluice.server.http.Response;
import dev.sluice.workload.KnownWorkloads;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Pages and positions of a queue with 100,000 pending Workloads, as each replica shows them. */
@EnableKubernetesMockClient
class VisibilityAtScaleTest {

  private static final int PENDING = 100_000;
  private static final int PAGE = 17_001;
  private static final int LOCAL_QUEUES = 4;
  private static final int SHAPES = 50;
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final Map<String, List<String>> GOOD =
      Map.of("authorization", List.of("Bearer good"));
  private static final String ROOT = "/apis/visibility.kueue.x-k8s.io/v1beta2";

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesMockServer server;

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void everyReplicaShowsEachOfAHundredThousandAtItsPlace() throws Exception {
    Random random = new Random(2026);
    List<PendingWorkload> pending = pending(random);
    List<PendingWorkload> ordered = new ArrayList<>(pending);
    ordered.sort(
        Comparator.<PendingWorkload, Long>comparing(workload -> -workload.priority())
            .thenComparing(PendingWorkload::queuedAt)
            .thenComparing(workload -> workload.id().uid()));
    List<String> expected = ordered.stream().map(workload -> workload.id().name()).toList();

    for (boolean leads : List.of(true, false)) {
      // each replica reads the objects in an order of its own
      Collections.shuffle(pending, random);
      try (SchedulerThread replica = replica(pending, leads)) {
        VisibilityEndpoint endpoint = endpoint(replica);
        List<String> shown = new ArrayList<>();
        Map<String, Integer> inLocalQueue = new HashMap<>();
        for (int offset = 0; offset < PENDING; offset += PAGE) {
          JsonNode items =
              items(endpoint, "/clusterqueues/cq", "offset=" + offset + "&limit=" + PAGE);
          assertThat(items).hasSize(Math.min(PAGE, PENDING - offset));
          for (JsonNode item : items) {
            String queue = item.path("localQueueName").asText();
            if (item.path("positionInClusterQueue").asInt() != shown.size()
                || item.path("positionInLocalQueue").asInt()
                    != inLocalQueue.merge(queue, 1, Integer::sum) - 1) {
              throw new AssertionError(item + " is shown at " + shown.size());
            }
            shown.add(item.at("/metadata/name").asText());
          }
        }
        assertThat(shown.equals(expected)).as("the order of the queue").isTrue();
        assertThat(items(endpoint, "/clusterqueues/cq", "offset=" + PENDING)).isEmpty();
        assertThat(items(endpoint, "/clusterqueues/cq", "")).hasSize(1_000);

        JsonNode ofQueue = items(endpoint, "/namespaces/ns/localqueues/lq-1", "limit=100000");
        assertThat(ofQueue).hasSize(inLocalQueue.getOrDefault("lq-1", 0));
        int place = 0;
        for (JsonNode item : ofQueue) {
          int inClusterQueue = item.path("positionInClusterQueue").asInt();
          if (item.path("positionInLocalQueue").asInt() != place++
              || !shown.get(inClusterQueue).equals(item.at("/metadata/name").asText())) {
            throw new AssertionError(item + " is not at its place of the whole queue");
          }
        }
      }
    }
  }

  private static List<PendingWorkload> pending(Random random) {
    List<RequestShape> shapes = new ArrayList<>();
    for (long cpu = 1; cpu <= SHAPES; cpu++) {
      shapes.add(
          new RequestShape(
              List.of(
                  new PodSetRequest(
                      "main",
                      1,
                      0,
                      new TreeMap<>(Map.of("cpu", cpu)),
                      NodeConstraints.ANYWHERE,
                      ""))));
    }
    List<PendingWorkload> pending = new ArrayList<>();
    for (int i = 0; i < PENDING; i++) {
      // many share a second, as where jobs are submitted by machines
      Instant created = START.plusSeconds(random.nextInt(PENDING / 20));
      pending.add(
          new PendingWorkload(
              new WorkloadId("uid-%08x".formatted(i * 0x9E3779B1), "ns", "wl-" + i),
              i + 1,
              "lq-" + random.nextInt(LOCAL_QUEUES),
              shapes.get(random.nextInt(SHAPES)),
              random.nextInt(5) * 10,
              created,
              created,
              Optional.empty(),
              false,
              Optional.empty()));
    }
    return pending;
  }

  /** The engine of a replica that has read everything. Nothing fits into its queue. */
  private static SchedulerThread replica(List<PendingWorkload> pending, boolean leads) {
    SchedulerThread engine =
        new SchedulerThread(
            EngineOptions.DEFAULT,
            decision -> {},
            (nanos, admitted) -> {},
            Clock.systemUTC(),
            fault -> {});
    engine.submit(new SchedulerEvent.TimePassed(START));
    engine.submit(new SchedulerEvent.NamespaceChanged("ns", Map.of()));
    engine.submit(
        new SchedulerEvent.FlavorChanged(new Flavor("f", Map.of(), List.of(), List.of())));
    engine.submit(
        new SchedulerEvent.ClusterQueueChanged(
            new ClusterQueueSpec(
                "cq",
                "",
                List.of(
                    new ResourceGroup(
                        List.of("cpu"),
                        List.of(
                            new ResourceGroup.FlavorQuotas(
                                "f",
                                Map.of(
                                    "cpu",
                                    new Quota(
                                        0,
                                        ResourceAmounts.UNLIMITED,
                                        ResourceAmounts.UNLIMITED)))))),
                QueueingStrategy.BEST_EFFORT_FIFO,
                new LabelSelector.Requirements(List.of()),
                StopPolicy.NONE,
                false,
                PreemptionPolicies.NEVER,
                FlavorFungibility.DEFAULT,
                BigDecimal.ONE,
                List.of(),
                List.of(),
                false)));
    for (int i = 0; i < LOCAL_QUEUES; i++) {
      engine.submit(
          new SchedulerEvent.LocalQueueChanged(
              new LocalQueueSpec(new LocalQueueId("ns", "lq-" + i), "cq", StopPolicy.NONE)));
    }
    pending.forEach(workload -> engine.submit(new SchedulerEvent.WorkloadPending(workload)));
    engine.submit(new SchedulerEvent.DecidingEnabled(leads));
    engine.start();
    return engine;
  }

  private VisibilityEndpoint endpoint(SchedulerThread replica) {
    FakeReviews reviews = new FakeReviews(server);
    return new VisibilityEndpoint(
        reviews.users(client),
        reviews.access(client),
        new KnownWorkloads(Map.of()),
        replica,
        new KnownStarts(),
        request -> Response.text(404, "another"));
  }

  private static JsonNode items(VisibilityEndpoint endpoint, String queue, String query)
      throws IOException {
    Response answer =
        endpoint.answer(
            new Request("GET", ROOT + queue + "/pendingworkloads", query, GOOD, RequestBody.EMPTY));
    assertThat(answer.status()).isEqualTo(200);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    answer.content().writeTo(out);
    return new ObjectMapper().readTree(out.toByteArray()).path("items");
  }
}
