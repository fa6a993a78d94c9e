package dev.sluice.server.endpoints;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.engine.SchedulerQueries;
import dev.sluice.core.model.Explanation.PendingExplanation;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.WorkloadId;
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
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The documents of the visibility API, and to whom they are shown. */
@EnableKubernetesMockClient
class VisibilityEndpointTest {

  private static final String ROOT = "/apis/visibility.kueue.x-k8s.io";
  private static final String QUEUE = ROOT + "/v1beta2/clusterqueues/cq/pendingworkloads";
  private static final Instant CREATED = Instant.parse("2026-01-02T03:04:05Z");
  private static final Map<String, List<String>> GOOD =
      Map.of("authorization", List.of("Bearer good"));

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesMockServer server;

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  private final Queues queues = new Queues();
  private final KnownStarts starts = new KnownStarts();

  private VisibilityEndpoint endpoint() {
    FakeReviews reviews = new FakeReviews(server);
    return new VisibilityEndpoint(
        reviews.users(client),
        reviews.access(client),
        queues,
        queues,
        starts,
        request -> Response.text(200, "another"));
  }

  private Response get(String path, String query) {
    return endpoint().answer(new Request("GET", path, query, GOOD, RequestBody.EMPTY));
  }

  @Test
  void oneUserGetsSoManyPagesAndThenIsToldToWait() throws IOException {
    VisibilityEndpoint endpoint = endpoint();
    int pages = 0;
    Response last = endpoint.answer(new Request("GET", QUEUE, "", GOOD, RequestBody.EMPTY));
    while (last.status() == 200 && pages < 20_000) {
      pages++;
      last = endpoint.answer(new Request("GET", QUEUE, "", GOOD, RequestBody.EMPTY));
    }

    assertThat(pages).isGreaterThanOrEqualTo(200);
    assertThat(last.status()).isEqualTo(429);
    assertThat(last.headers()).containsEntry("Retry-After", "1");
    assertThat(json(last).path("reason").asText()).isEqualTo("TooManyRequests");
    // what isn't a page is answered on
    assertThat(endpoint.answer(new Request("GET", "/apis", "", GOOD, RequestBody.EMPTY)).status())
        .isEqualTo(200);
  }

  private static JsonNode json(Response response) throws IOException {
    assertThat(response.contentType()).isEqualTo("application/json");
    return new ObjectMapper().readTree(response.body());
  }

  @ParameterizedTest
  @CsvSource({"v1beta1", "v1beta2"})
  void pendingWorkloadsAreShownWithTheirPositions(String version) throws Exception {
    JsonNode summary = json(get(ROOT + "/" + version + "/clusterqueues/cq/pendingworkloads", ""));

    assertThat(summary)
        .isEqualTo(
            new ObjectMapper()
                .readTree(
                    """
                    {"kind": "PendingWorkloadsSummary",
                     "apiVersion": "visibility.kueue.x-k8s.io/%s",
                     "metadata": {},
                     "items": [
                       {"metadata": {
                          "name": "a", "namespace": "team",
                          "creationTimestamp": "2026-01-02T03:04:05Z",
                          "ownerReferences": [
                            {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u"}]},
                        "priority": 7, "localQueueName": "lq",
                        "positionInClusterQueue": 0, "positionInLocalQueue": 0},
                       {"metadata": {
                          "name": "gone", "namespace": "team",
                          "creationTimestamp": "2026-01-02T03:04:05Z"},
                        "priority": 100, "localQueueName": "lq",
                        "positionInClusterQueue": 1, "positionInLocalQueue": 1}]}
                    """
                        .formatted(version)));
  }

  @Test
  void expectedStartsAreBesideThePositions() throws Exception {
    Instant start = Instant.parse("2026-01-02T04:00:00.900Z");
    starts.estimates.put(
        new WorkloadId("1", "team", "a"),
        new StartEstimate(
            StartEstimate.Basis.LEARNED,
            Optional.of(
                new StartEstimate.StartRange(
                    start.minusSeconds(60), start, Optional.of(start.plusSeconds(60)))),
            CREATED,
            List.of()));
    starts.estimates.put(
        new WorkloadId("2", "team", "gone"),
        new StartEstimate(StartEstimate.Basis.NEVER, Optional.empty(), CREATED, List.of()));
    starts.estimates.put(
        new WorkloadId("3", "others", "secret"),
        new StartEstimate(StartEstimate.Basis.NEVER, Optional.empty(), CREATED, List.of()));
    String path = ROOT + "/v1beta2/namespaces/team/localqueues/lq/pendingworkloads";

    JsonNode items = json(get(path, "")).path("items");

    assertThat(items).hasSize(2);
    assertThat(items.get(0).path("estimatedStartTime").asText()).isEqualTo("2026-01-02T04:00:00Z");
    assertThat(items.get(0).path("latestStartTime").asText()).isEqualTo("2026-01-02T04:01:00Z");
    assertThat(items.get(0).path("estimateBasis").asText()).isEqualTo("Learned");
    assertThat(items.get(1).path("estimateBasis").asText()).isEqualTo("Never");
    assertThat(items.get(1).has("estimatedStartTime")).isFalse();
    assertThat(items.get(1).has("latestStartTime")).isFalse();
    assertThat(items.toString()).doesNotContain("secret");
  }

  @ParameterizedTest
  @CsvSource({
    "'', PT0S",
    "estimates=true, PT1S",
    "limit=5&estimates=true, PT1S",
    "estimates=no, PT0S"
  })
  void onlyListsThatAskForEstimatesWaitForThem(String query, String patience) {
    assertThat(get(QUEUE, query).status()).isEqualTo(200);
    assertThat(starts.questions).containsExactly("cq " + patience);
  }

  @ParameterizedTest
  @CsvSource({
    "'', 0, 1000",
    "limit=0, 0, 1000",
    "limit=5&offset=3, 3, 5",
    "limit=-5&offset=-3, 0, 0",
    "limit=-99999999999999999999, 0, 0",
    "limit=-0, 0, 1000",
    "limit=100001, 0, 100000",
    "limit=99999999999999999999&offset=99999999999999999999, 2147483647, 100000",
    "limit=many&offset=%GG, 0, 1000",
    "limit, 0, 1000",
    "offset=%33, 3, 1000"
  })
  void aPartOfAQueueIsAskedFor(String query, int offset, int limit) {
    assertThat(get(QUEUE, query).status()).isEqualTo(200);
    assertThat(queues.asked).containsExactly("cq " + offset + " " + limit);
  }

  @Test
  void aLocalQueueIsThatOfItsNamespace() {
    String path = ROOT + "/v1beta1/namespaces/team/localqueues/lq/pendingworkloads";
    assertThat(get(path, "").status()).isEqualTo(200);
    assertThat(queues.asked).containsExactly("team/lq 0 1000");
  }

  @ParameterizedTest
  @CsvSource({
    "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/none/pendingworkloads",
    "/apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/team/localqueues/none/pendingworkloads",
    "/apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/team/clusterqueues/cq/pendingworkloads",
    "/apis/visibility.kueue.x-k8s.io/v1beta2/localqueues/lq/pendingworkloads",
    "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/cq",
    "/apis/visibility.kueue.x-k8s.io/v1/clusterqueues/cq/pendingworkloads",
    "/apis/visibility.kueue.x-k8s.io/v1",
    "/apis/other",
    "/openapi/v4"
  })
  void whatIsNotThereIsNotFound(String path) throws Exception {
    JsonNode status = json(get(path, ""));
    assertThat(status.path("kind").asText()).isEqualTo("Status");
    assertThat(status.path("code").asInt()).isEqualTo(404);
    assertThat(status.path("reason").asText()).isEqualTo("NotFound");
  }

  @ParameterizedTest
  @CsvSource({"Bearer good, 200", "Bearer poor, 403", "Bearer bad, 401", "'', 401"})
  void onlyWhoMayIsAnswered(String authorization, int status) throws Exception {
    Request request =
        new Request(
            "GET", QUEUE, "", Map.of("authorization", List.of(authorization)), RequestBody.EMPTY);
    Response response = endpoint().answer(request);
    assertThat(response.status()).isEqualTo(status);
    if (status == 403) {
      assertThat(json(response).path("message").asText())
          .isEqualTo(
              "clusterqueues.visibility.kueue.x-k8s.io \"cq\" is forbidden: User \"poor\" cannot"
                  + " get resource \"clusterqueues/pendingworkloads\" in API group"
                  + " \"visibility.kueue.x-k8s.io\" at the cluster scope");
    }
    assertThat(queues.asked).hasSize(status == 200 ? 1 : 0);
  }

  @Test
  void nothingCanBeWritten() throws Exception {
    Response response = endpoint().answer(new Request("POST", QUEUE, "", GOOD, RequestBody.EMPTY));
    assertThat(json(response).path("reason").asText()).isEqualTo("MethodNotAllowed");
  }

  /** Whoever gets an answer of another kind than asked for believes the group to be broken. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io | 406",
        "application/json; v=v2; as=APIGroupDiscoveryList,"
            + " application/json;as=APIGroupDiscoveryList | 406",
        "application/json;as=APIGroupDiscoveryList;v=v2, application/json | 200",
        "application/json | 200",
        "*/* | 200",
        "'' | 200"
      })
  void aFormThatIsNotServedIsRefused(String accept, int status) throws Exception {
    Map<String, List<String>> headers = new HashMap<>(GOOD);
    headers.put("accept", List.of(accept));

    assertThat(
            endpoint().answer(new Request("GET", "/apis", "", headers, RequestBody.EMPTY)).status())
        .isEqualTo(status);
  }

  @Test
  void clientsDiscoverVersionsAndResources() throws Exception {
    assertThat(json(get("/apis", "")).path("groups")).hasSize(1);
    assertThat(json(get(ROOT, "")).path("preferredVersion").path("version").asText())
        .isEqualTo("v1beta2");
    for (String version : List.of("v1beta1", "v1beta2")) {
      assertThat(json(get(ROOT + "/" + version, "")).path("resources"))
          .extracting(
              resource -> resource.path("name").asText(),
              resource -> resource.path("namespaced").asBoolean(),
              resource -> resource.path("verbs").toString())
          .containsExactly(
              tuple("clusterqueues", false, "[]"),
              tuple("clusterqueues/pendingworkloads", false, "[\"get\"]"),
              tuple("localqueues", true, "[]"),
              tuple("localqueues/pendingworkloads", true, "[\"get\"]"));
      String described = "/openapi/v3" + ROOT + "/" + version;
      assertThat(json(get("/openapi/v3", "")).findValuesAsText("serverRelativeURL"))
          .contains(described);
      assertThat(json(get(described, "")).path("paths")).hasSize(2);
    }
    assertThat(json(get("/openapi/v2", "")).path("paths")).hasSize(4);
  }

  @Test
  void otherPathsAreOthers() {
    assertThat(new String(get("/explain/v1/x", "").body(), StandardCharsets.UTF_8))
        .isEqualTo("another\n");
  }

  /** Knows the ClusterQueue {@code cq} and the LocalQueue {@code team/lq}, and what was asked. */
  private static final class Queues implements SchedulerQueries, WorkloadLister {

    private final List<String> asked = new ArrayList<>();

    private CompletableFuture<Optional<List<PendingPosition>>> page(
        String queue, boolean isThere, int offset, int limit) {
      if (!isThere) {
        return CompletableFuture.completedFuture(Optional.empty());
      }
      asked.add(queue + " " + offset + " " + limit);
      return CompletableFuture.completedFuture(
          Optional.of(
              List.of(
                  new PendingPosition(
                      new WorkloadId("1", "team", "a"), "lq", 107, CREATED, 0, 0, false),
                  new PendingPosition(
                      new WorkloadId("2", "team", "gone"), "lq", 100, CREATED, 1, 1, true))));
    }

    @Override
    public CompletableFuture<Optional<List<PendingPosition>>> pendingInClusterQueue(
        String clusterQueue, int offset, int limit) {
      return page(clusterQueue, clusterQueue.equals("cq"), offset, limit);
    }

    @Override
    public CompletableFuture<Optional<List<PendingPosition>>> pendingInLocalQueue(
        LocalQueueId queue, int offset, int limit) {
      return page(queue.namespace() + "/" + queue.name(), queue.name().equals("lq"), offset, limit);
    }

    @Override
    public CompletableFuture<Optional<PendingReport>> pendingReason(WorkloadId id) {
      throw new AssertionError("not asked");
    }

    @Override
    public CompletableFuture<List<PendingExplanation>> unreportedExplanations(int max) {
      throw new AssertionError("not asked");
    }

    @Override
    public Optional<CachedWorkload> get(String namespace, String name) {
      return name.equals("a")
          ? Optional.of(
              new CachedWorkload(
                  new WorkloadId("1", "team", "a"),
                  1,
                  1,
                  CREATED,
                  false,
                  List.of(),
                  true,
                  Optional.of(new CachedWorkload.Owner("batch/v1", "Job", "j", "u")),
                  Map.of(),
                  Map.of(),
                  new CachedWorkload.Spec("lq", List.of(), 7, Optional.empty(), true, 0),
                  CachedWorkload.Status.NEW))
          : Optional.empty();
    }

    @Override
    public Collection<CachedWorkload> ownedBy(String ownerUid) {
      return List.of();
    }

    @Override
    public Collection<CachedWorkload> inQueue(String namespace, String queueName) {
      return List.of();
    }

    @Override
    public Collection<CachedWorkload> reservingIn(String clusterQueue) {
      return List.of();
    }

    @Override
    public Iterable<CachedWorkload> all() {
      return List.of();
    }

    @Override
    public int size() {
      return 1;
    }
  }
}
