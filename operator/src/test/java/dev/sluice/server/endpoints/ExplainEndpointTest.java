package dev.sluice.server.endpoints;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.queueing.QuotaSchedule.CurrentFactor;
import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.engine.SchedulerQueries;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.Explanation.PendingExplanation;
import dev.sluice.core.model.FlavorAttempt;
import dev.sluice.core.model.FlavorRejection;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.topology.TopologyView;
import dev.sluice.forecast.feed.RunTimeEstimator.WorkloadRunTime;
import dev.sluice.forecast.runtimes.RunTimeEstimate;
import dev.sluice.forecast.starts.StartEstimate;
import dev.sluice.server.FakeReviews;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.RequestBody;
import dev.sluice.server.http.Response;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadLister;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@EnableKubernetesMockClient
class ExplainEndpointTest {

  private static final String PATH = "/explain/v1/namespaces/team/workloads/wl";
  private static final WorkloadId ID = new WorkloadId("uid", "team", "wl");

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesMockServer server;

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void aWorkloadThatWaitsIsExplained() throws Exception {
    Response answer = endpoint().answer(get(PATH, "Bearer good"));

    assertThat(answer.status()).isEqualTo(200);
    JsonNode body = new ObjectMapper().readTree(answer.body());
    assertThat(body.path("pending").asBoolean()).isTrue();
    assertThat(body.path("clusterQueue").asText()).isEqualTo("cq");
    assertThat(body.path("positionInClusterQueue").asInt()).isEqualTo(3);
    assertThat(body.path("reason").asText()).isEqualTo("WaitingForQuota");
    assertThat(body.path("message").asText())
        .isEqualTo(
            "pod set main: flavor spot: cpu: 5 requested, 1 available of 8, 4 missing | the"
                + " preemption policies of this ClusterQueue don't cover what is missing");
    assertThat(body.path("holders").path(0).path("amount").asText()).isEqualTo("7");
    assertThat(body.path("text")).hasSize(7);
    assertThat(body.path("text").path(5).asText())
        .isEqualTo("runs about 1h30m, declared by its owner");
    assertThat(body.path("runTime").path("basis").asText()).isEqualTo("Declared");
    assertThat(body.path("runTime").path("expectedSeconds").asLong()).isEqualTo(5400);
    assertThat(body.path("expectedStart").path("basis").asText()).isEqualTo("Learned");
    assertThat(body.path("expectedStart").path("latest").asText())
        .isEqualTo("2026-01-01T01:10:00Z");
    assertThat(body.path("expectedStart").path("assumptions").path(0).asText())
        .isEqualTo("no job arrives before it starts");
  }

  @Test
  void quotaByTimeOfDayIsTold() throws Exception {
    ExplainEndpoint endpoint = endpoint();
    endpoint.telling(
        queue ->
            Optional.of(
                    new CurrentFactor(new BigDecimal("0.5"), Optional.of(NOW.plusSeconds(3_600))))
                .filter(any -> queue.equals("cq")));

    JsonNode body = new ObjectMapper().readTree(endpoint.answer(get(PATH, "Bearer good")).body());

    assertThat(body.path("quota").path("factor").decimalValue()).isEqualTo("0.5");
    assertThat(body.path("quota").path("until").asText()).isEqualTo("2026-01-01T01:00:00Z");
    assertThat(body.path("text"))
        .extracting(JsonNode::asText)
        .contains("the quota of ClusterQueue cq is at factor 0.5 until 2026-01-01T01:00:00Z");
  }

  @ParameterizedTest
  @CsvSource({
    "/explain/v1/namespaces/team/workloads/wl, Bearer good, 200",
    "/explain/v1/namespaces/team/workloads/wl, Bearer poor, 403",
    "/explain/v1/namespaces/team/workloads/wl, Bearer bad, 401",
    "/explain/v1/namespaces/team/workloads/wl, '', 401",
    "/explain/v1/namespaces/team/workloads/none, Bearer good, 404",
    "/explain/v1/namespaces/team, Bearer good, 404",
    "/explain/v1/topologies/gpu, Bearer good, 200",
    "/explain/v1/topologies/gpu, Bearer poor, 403",
    "/explain/v1/topologies/gpu, Bearer bad, 401",
    "/explain/v1/topologies/none, Bearer good, 404",
    "/explain/v1/topologies, Bearer good, 404",
    "/explain/v1/namespaces/team/workloads/wl, Bearer tenant, 403",
    "/apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/team/workloads/wl/explanation, Bearer good,"
        + " 200",
    "/apis/visibility.kueue.x-k8s.io/v1beta1/namespaces/team/workloads/wl/explanation, Bearer"
        + " tenant, 200",
    "/apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/team/workloads/no/explanation, Bearer"
        + " tenant, 404",
    "/apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/other/workloads/wl/explanation, Bearer"
        + " tenant, 403",
    "/apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/team/workloads/wl/explanation, Bearer poor,"
        + " 403",
    "/apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/team/workloads/wl/explanation, Bearer bad,"
        + " 401"
  })
  void onlyWhoMayIsAnswered(String path, String authorization, int status) {
    assertThat(endpoint().answer(get(path, authorization)).status()).isEqualTo(status);
  }

  @Test
  void aTenantLearnsHowManyOthersHoldWhatIsMissingButNotWho() throws Exception {
    String path =
        "/apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/team/workloads/wl/explanation";

    JsonNode body =
        new ObjectMapper().readTree(endpoint().answer(get(path, "Bearer tenant")).body());
    assertThat(body.path("holders")).isEmpty();
    assertThat(body.path("hiddenHolders").asInt()).isEqualTo(1);
    assertThat(body.toString()).doesNotContain("big").doesNotContain("cq2");
    JsonNode whole =
        new ObjectMapper().readTree(endpoint().answer(get(path, "Bearer good")).body());
    assertThat(whole.path("holders")).hasSize(1);
    assertThat(whole.has("hiddenHolders")).isFalse();

    Response text =
        endpoint()
            .answer(
                new Request(
                    "GET",
                    path,
                    "output=text",
                    Map.of("authorization", List.of("Bearer tenant")),
                    RequestBody.EMPTY));
    assertThat(text.contentType()).startsWith("text/plain");
    assertThat(new String(text.body(), StandardCharsets.UTF_8))
        .startsWith("position 4 in ClusterQueue cq, 2 in LocalQueue lq (1 is next), priority 0\n")
        .endsWith(
            "1 Workload of namespaces that you may not read holds what is missing\n"
                + "runs about 1h30m, declared by its owner\n"
                + "starts in about 25m (10m to 1h10m), at 2026-01-01T00:25:00Z, by learned run"
                + " times; no job arrives before it starts\n");
  }

  @Test
  void theNodesOfAFlavorAreShown() throws Exception {
    Response answer = endpoint().answer(get("/explain/v1/topologies/gpu", "Bearer good"));

    JsonNode body = new ObjectMapper().readTree(answer.body());
    assertThat(body.path("topology").asText()).isEqualTo("racks");
    JsonNode domain = body.path("domains").path(0);
    assertThat(domain.path("values").path(0).asText()).isEqualTo("r1");
    assertThat(domain.path("resources").path("cpu").path("workloads").asText()).isEqualTo("3");
    assertThat(domain.path("holders").path(0).path("pods").asInt()).isEqualTo(3);
    assertThat(body.path("text").path(1).asText())
        .isEqualTo("  r1: cpu 4 of 8 free (1 used by other pods); held by team/wl (3 pods)");
  }

  private static Request get(String path, String authorization) {
    return new Request(
        "GET", path, "", Map.of("authorization", List.of(authorization)), RequestBody.EMPTY);
  }

  private ExplainEndpoint endpoint() {
    FakeReviews reviews = new FakeReviews(server);
    return new ExplainEndpoint(
        reviews.users(client),
        reviews.access(client),
        new OneWorkload(),
        new OneAnswer(),
        workload ->
            new WorkloadRunTime(
                RunTimeEstimate.of(
                    Optional.of(Duration.ofMinutes(90)), Optional.empty(), Optional.empty()),
                Optional.empty(),
                Optional.empty()),
        workload ->
            Optional.of(
                new StartEstimate(
                    StartEstimate.Basis.LEARNED,
                    Optional.of(
                        new StartEstimate.StartRange(
                            NOW.plusSeconds(600),
                            NOW.plusSeconds(1_500),
                            Optional.of(NOW.plusSeconds(4_200)))),
                    NOW,
                    List.of("no job arrives before it starts"))));
  }

  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  /** Knows {@code team/wl}. */
  private static final class OneWorkload implements WorkloadLister {
    private final CachedWorkload workload =
        new CachedWorkload(
            ID,
            1,
            1,
            Instant.EPOCH,
            false,
            List.of(),
            true,
            Optional.empty(),
            Map.of(),
            Map.of(),
            new CachedWorkload.Spec("lq", List.of(), 0, Optional.empty(), true, 0),
            CachedWorkload.Status.NEW);

    @Override
    public Optional<CachedWorkload> get(String namespace, String name) {
      return name.equals("wl") ? Optional.of(workload) : Optional.empty();
    }

    @Override
    public Collection<CachedWorkload> ownedBy(String ownerUid) {
      return List.of();
    }

    @Override
    public Collection<CachedWorkload> inQueue(String namespace, String queueName) {
      return List.of(workload);
    }

    @Override
    public Collection<CachedWorkload> reservingIn(String clusterQueue) {
      return List.of();
    }

    @Override
    public Iterable<CachedWorkload> all() {
      return List.of(workload);
    }

    @Override
    public int size() {
      return 1;
    }
  }

  /** Says that it waits for quota. */
  private static final class OneAnswer implements SchedulerQueries {

    @Override
    public CompletableFuture<Optional<List<PendingPosition>>> pendingInClusterQueue(
        String clusterQueue, int offset, int limit) {
      return CompletableFuture.completedFuture(Optional.empty());
    }

    @Override
    public CompletableFuture<Optional<List<PendingPosition>>> pendingInLocalQueue(
        LocalQueueId queue, int offset, int limit) {
      return CompletableFuture.completedFuture(Optional.empty());
    }

    @Override
    public CompletableFuture<Optional<PendingReport>> pendingReason(WorkloadId id) {
      FlavorAttempt attempt =
          new FlavorAttempt(
              "main",
              "spot",
              0,
              List.of(new FlavorRejection.InsufficientQuota("cpu", 5000, 1000, 8000)));
      Holder holder =
          new Holder(
              new WorkloadId("h", "other", "big"), "cq2", new FlavorResource("spot", "cpu"), 7000);
      return CompletableFuture.completedFuture(
          Optional.of(
              new PendingReport(
                  new PendingPosition(id, "lq", 0, Instant.EPOCH, 3, 1, false),
                  "cq",
                  Optional.of(
                      new Explanation(PendingReason.WAITING_FOR_QUOTA, List.of(attempt), "")),
                  List.of(holder))));
    }

    @Override
    public CompletableFuture<Optional<TopologyView>> topology(String flavor) {
      return CompletableFuture.completedFuture(
          flavor.equals("gpu")
              ? Optional.of(
                  new TopologyView(
                      "gpu",
                      "racks",
                      List.of("rack"),
                      List.of(
                          new TopologyView.Leaf(
                              List.of("r1"),
                              1,
                              new TreeMap<>(
                                  Map.of("cpu", new TopologyView.Amounts(8_000, 1_000, 3_000))),
                              List.of(new TopologyView.HeldPods(ID, 3))))))
              : Optional.empty());
    }

    @Override
    public CompletableFuture<List<PendingExplanation>> unreportedExplanations(int max) {
      return CompletableFuture.completedFuture(List.of());
    }
  }
}
