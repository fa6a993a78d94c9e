package dev.sluice.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.RequestBody;
import dev.sluice.server.http.Response;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The documents of the dashboard, and to whom they are shown. */
class DashboardEndpointTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @SuppressWarnings("NullAway.Init") // set before each test
  private PlayedDashboard dashboard;

  @BeforeEach
  void start() throws IOException {
    dashboard = new PlayedDashboard(30);
  }

  @AfterEach
  void stop() {
    dashboard.close();
  }

  private Response answer(String method, String path, String query, String token) {
    Map<String, List<String>> headers =
        token.isEmpty() ? Map.of() : Map.of("authorization", List.of("Bearer " + token));
    return dashboard
        .endpoint()
        .answer(new Request(method, path, query, headers, RequestBody.EMPTY));
  }

  private JsonNode get(String token, String path, String query) throws IOException {
    Response response = answer("GET", "/api/v1/" + path, query, token);
    assertThat(response.status()).as(path).isEqualTo(200);
    return JSON.readTree(response.body());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "session",
        "overview",
        "workloads",
        "workerclusters",
        "events",
        "workloads/team-a/x",
        "topologies",
        "topologies/a100/block-a",
        "flavors",
        "policies/clusterqueues/vision-train",
        "history/clusterqueues/vision-train",
        "cluster/workloads/team-a/job-train-00000",
        "cluster/flavors/spot/nodes",
        "cluster/budgets",
        "cluster/calendar",
        "cluster/usage",
        "none"
      })
  void withoutALoginNoDocumentIsShown(String path) {
    assertThat(answer("GET", "/api/v1/" + path, "", "").status()).isEqualTo(401);
    assertThat(answer("GET", "/api/v1/" + path, "", "stranger").status()).isEqualTo(401);
  }

  @ParameterizedTest
  @ValueSource(strings = {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"})
  void nothingCanBeWritten(String method) {
    assertThat(answer(method, "/api/v1/overview", "", "admin").status()).isEqualTo(405);
    assertThat(dashboard.endpoint().maxBody("/api/v1/overview")).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "/index.html", "/app.js", "/style.css", "/icon.svg"})
  void theFrontEndIsForEverybodyAndItsPolicyIsStrict(String path) {
    Response response = answer("GET", path, "", "");
    assertThat(response.status()).isEqualTo(200);
    assertThat(response.headers().get("Content-Security-Policy"))
        .contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'")
        .doesNotContain("unsafe");
    assertThat(response.headers())
        .containsEntry("X-Content-Type-Options", "nosniff")
        .doesNotContainKeys("Access-Control-Allow-Origin", "Set-Cookie");
    assertThat(new String(response.body(), StandardCharsets.UTF_8))
        .doesNotContain("innerHTML", "eval(", "http://localhost", "onclick=");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/../app.js",
        "//",
        "/web/app.js",
        "/%2e%2e/etc/passwd",
        "/app.js/",
        "/api",
        "/api/v2/overview"
      })
  void noOtherFileIsServed(String path) {
    assertThat(answer("GET", path, "", "").status()).isEqualTo(404);
  }

  @Test
  void anAdministratorSeesAll() throws IOException {
    JsonNode overview = get("admin", "overview", "");
    assertThat(overview.path("clusterQueues")).hasSize(4);
    assertThat(overview.path("cohorts")).hasSize(2);
    assertThat(overview.path("localQueues")).hasSize(8);
    assertThat(overview.at("/workloads/pending").asInt()).isEqualTo(10);
    JsonNode train = overview.path("clusterQueues").path(3);
    assertThat(train.path("name").asText()).isEqualTo("vision-train");
    assertThat(train.path("quotaFactor").decimalValue()).isEqualTo("0.5");
    assertThat(train.has("quotaFactorUntil")).isFalse();
    assertThat(train.at("/usage/0/borrowed").asInt()).isEqualTo(14);
    assertThat(overview.at("/clusterQueues/2/usage/0/lent").asInt()).isEqualTo(14);
    assertThat(get("admin", "workloads", "").path("total").asInt()).isEqualTo(30);
  }

  @Test
  void workloadWithoutALocalQueueIsAFault() throws IOException {
    dashboard.addMisconfigured("team-a", "job-lost");

    JsonNode workload = get("admin", "workloads/team-a/job-lost", "");
    assertThat(workload.path("state").asText()).isEqualTo("pending");
    assertThat(workload.path("fault").asBoolean()).isTrue();
    assertThat(get("admin", "workloads/team-a/job-train-00000", "").has("fault")).isFalse();
  }

  @Test
  void startsAreToldOfWorkloadsThatMayBeSeen() throws IOException {
    JsonNode plan = get("admin", "starts/clusterqueues/vision-train", "");
    assertThat(plan.path("items")).isNotEmpty();
    assertThat(plan.at("/items/0/owner/kind").asText()).isEqualTo("Job");
    JsonNode start = plan.at("/items/0/start");
    assertThat(start.path("basis").asText()).isEqualTo("Learned");
    assertThat(start.path("text").asText()).startsWith("starts in about 1h");
    JsonNode rows = get("admin", "pending/clusterqueues/vision-train", "").path("items");
    assertThat(rows.get(0).at("/start/expected")).isEqualTo(start.path("expected"));
    JsonNode last = rows.get(rows.size() - 1);
    assertThat(last.at("/start/basis").asText()).isEqualTo("Never");
    assertThat(last.at("/start").has("expected")).isFalse();
    JsonNode one =
        get(
            "admin",
            "workloads/"
                + plan.at("/items/0/namespace").asText()
                + "/"
                + plan.at("/items/0/name").asText(),
            "");
    assertThat(one.at("/waiting/start")).isEqualTo(start);

    assertThat(plan.at("/items/0/plan").has("lateBy")).isFalse();
    assertThat(plan.at("/items/1/plan/lateBy/0").asText()).isEqualTo("RunBeyondBound");
    assertThat(plan.at("/items/2").has("plan")).isFalse();
    assertThat(one.at("/waiting/plan/plannedStart"))
        .isEqualTo(plan.at("/items/0/plan/plannedStart"));
    assertThat(one.at("/waiting/plan/text").asText()).startsWith("planned to start by");

    JsonNode third = get("admin", "workloads/team-a/" + last.path("name").asText(), "");
    assertThat(third.at("/waiting/plan/behind/name")).isEqualTo(plan.at("/items/0/name"));
    assertThat(third.at("/waiting/plan/startsBeforeUntil").asText()).isNotEmpty();
    assertThat(third.at("/waiting/plan/text").asText()).contains("may run before it if it starts");
    JsonNode queue =
        get("admin", "overview", "")
            .path("clusterQueues")
            .valueStream()
            .filter(each -> each.path("name").asText().equals("vision-train"))
            .findFirst()
            .orElseThrow();
    assertThat(queue.path("backfill").toString())
        .isEqualTo("{\"depth\":2,\"unknownRunTime\":\"Refuse\"}");

    assertThat(answer("GET", "/api/v1/starts/clusterqueues/none", "", "admin").status())
        .isEqualTo(404);
    assertThat(answer("GET", "/api/v1/starts/clusterqueues/vision-train", "", "tenant").status())
        .isEqualTo(403);
  }

  @Test
  void flavorsAreShownToWhoMayListThem() throws IOException {
    JsonNode flavors = get("admin", "flavors", "").path("items");
    assertThat(flavors.findValuesAsText("name")).containsExactly("a100", "spot");
    assertThat(flavors.at("/0/topologyName").asText()).isEqualTo("data-center");
    assertThat(flavors.at("/0/clusterQueues").toString()).contains("vision-train");
    assertThat(flavors.at("/1/nodeLabels").toString()).isEqualTo("{\"pool\":\"spot\"}");
    assertThat(flavors.at("/1/nodeTaints/0/effect").asText()).isEqualTo("NoSchedule");
    assertThat(get("admin", "session", "").at("/sees/flavors").asBoolean()).isTrue();
    for (String user : List.of("tenant", "planner", "nobody")) {
      assertThat(answer("GET", "/api/v1/flavors", "", user).status()).isEqualTo(403);
    }
  }

  @Test
  void policiesOfAQueueAreItsSpecWithoutQuotas() throws IOException {
    JsonNode spec = get("admin", "policies/clusterqueues/vision-train", "").path("spec");
    assertThat(spec.path("queueingStrategy").asText()).isEqualTo("StrictFIFO");
    assertThat(spec.at("/preemption/reclaimWithinCohort").asText()).isEqualTo("Any");
    assertThat(spec.has("resourceGroups")).isFalse();
    String path = "/api/v1/policies/clusterqueues/";
    assertThat(answer("GET", path + "none", "", "admin").status()).isEqualTo(404);
    assertThat(answer("GET", path + "vision-train", "", "tenant").status()).isEqualTo(403);
  }

  @Test
  void thePastOfAQueueIsForWhoMayListQueues() throws IOException {
    JsonNode past = get("admin", "history/clusterqueues/vision-train", "");
    assertThat(past.path("times")).hasSize(PastUse.SAMPLES);
    assertThat(past.path("pending")).hasSize(PastUse.SAMPLES);
    assertThat(past.path("usage").findValuesAsText("flavor")).contains("a100");
    assertThat(answer("GET", "/api/v1/history/clusterqueues/vision-train", "", "tenant").status())
        .isEqualTo(403);
  }

  @Test
  void eventsPodsAndTextAreReadWithTheTokenOfTheUser() throws IOException {
    JsonNode read = get("admin", "cluster/workloads/team-a/job-train-00000", "");

    assertThat(read.at("/events/items/0/reason").asText()).isEqualTo("QuotaReserved");
    assertThat(read.at("/events/items/0/count").asInt()).isEqualTo(4);
    assertThat(read.at("/events/items/0/at").asText()).startsWith("2026-03-01T00:01:00");
    assertThat(read.path("pods").path("items").findValuesAsText("name"))
        .as("those of this Workload")
        .containsExactly("train-x7k");
    assertThat(read.at("/pods/items/0/state").asText()).isEqualTo("ImagePullBackOff");
    assertThat(read.at("/pods/items/0/message").asText()).isEqualTo("no such image");
    assertThat(read.at("/object/yaml").asText())
        .contains("kind: Workload")
        .doesNotContain("managedFields");
    assertThat(dashboard.objects().askedWith("admin"))
        .anyMatch(each -> each.contains("/namespaces/team-a/events?"))
        .allMatch(each -> each.matches("admin /apis?/.*"));
  }

  @Test
  void aPartThatTheUserMayNotReadSaysSo() throws IOException {
    JsonNode read = get("tenant", "cluster/workloads/team-a/job-train-00000", "");

    assertThat(read.at("/pods/error").asText()).isEqualTo("you may not list pods here");
    assertThat(read.at("/events/items")).isNotEmpty();
    String path = "/api/v1/cluster/workloads/team-b/job-train-00001";
    assertThat(answer("GET", path, "", "tenant").status()).isEqualTo(403);
    assertThat(dashboard.objects().askedWith("tenant"))
        .as("nothing of a hidden namespace")
        .noneMatch(each -> each.contains("team-b"));
    assertThat(answer("GET", "/api/v1/cluster/flavors/spot/nodes", "", "tenant").status())
        .isEqualTo(403);
  }

  @Test
  void nodesOfAFlavorAreThoseWithItsLabels() throws IOException {
    JsonNode read = get("admin", "cluster/flavors/spot/nodes", "");

    assertThat(read.path("selector").asText()).isEqualTo("pool=spot");
    assertThat(read.path("items").findValuesAsText("name")).containsExactly("node-1", "node-2");
    assertThat(read.at("/items/0/ready").asBoolean()).isTrue();
    assertThat(read.at("/items/1/cordoned").asBoolean()).isTrue();
    assertThat(read.path("more").asInt()).isEqualTo(3);
    assertThat(dashboard.objects().askedWith("admin"))
        .anyMatch(each -> each.endsWith("/nodes?limit=200&labelSelector=pool=spot"));
    assertThat(answer("GET", "/api/v1/cluster/flavors/none/nodes", "", "admin").status())
        .isEqualTo(404);
  }

  @Test
  void budgetsAreReadWithTheTokenOfTheUserAndNameWhomTheyHold() throws IOException {
    dashboard.addHeld("team-a", "job-held");
    dashboard.addHeld("team-b", "job-hidden");
    JsonNode read = get("admin", "cluster/budgets", "");

    JsonNode budget = read.at("/items/0");
    assertThat(budget.path("name").asText()).isEqualTo("team-vision");
    assertThat(budget.path("scope").asText()).isEqualTo("ClusterQueue vision-train");
    assertThat(budget.path("end").asText()).isEqualTo("2026-11-29T23:00:00Z");
    assertThat(budget.path("exhaustion").asText()).isEqualTo("2026-11-28T14:10:05Z");
    assertThat(budget.path("exhausted").asBoolean()).isTrue();
    assertThat(budget.at("/limits/0/spentPart").asDouble()).isEqualTo(0.8);
    assertThat(budget.at("/limits/0/reservedPart").asDouble()).isEqualTo(0.1);
    assertThat(budget.at("/limits/1/flavors/0").asText()).isEqualTo("a100");
    assertThat(budget.path("holds").asInt()).isEqualTo(2);
    assertThat(budget.path("held").findValuesAsText("namespace"))
        .containsExactlyInAnyOrder("team-a", "team-b");
    assertThat(read.at("/items/1/scope").asText()).isEqualTo("namespaces with matchLabels:team:ml");
    assertThat(read.at("/items/1/fault").asText()).isEqualTo("spec.scope: nothing");
    assertThat(read.at("/items/2/limits")).hasSize(1);
    assertThat(read.at("/items/1/rolling").asText()).isEqualTo("168h");
    assertThat(dashboard.objects().askedWith("admin"))
        .containsExactly("admin /apis/sluice.dev/v1alpha1/budgets?limit=500");

    JsonNode refused = get("tenant", "cluster/budgets", "");
    assertThat(refused.path("error").asText()).isEqualTo("you may not list budgets here");
    assertThat(refused.path("items")).isEmpty();
    JsonNode sees = get("admin", "session", "").path("sees");
    assertThat(sees.path("budgets").asBoolean() && sees.path("calendar").asBoolean()).isTrue();
    sees = get("tenant", "session", "").path("sees");
    assertThat(sees.path("budgets").asBoolean() || sees.path("calendar").asBoolean()).isFalse();
  }

  @Test
  void theCalendarHasReservationsAndWindowsTheNextFirst() throws IOException {
    JsonNode read = get("admin", "cluster/calendar", "");
    assertThat(read.path("items").findValuesAsText("name"))
        .containsExactly("vision-train", "course", "rack-7", "odd", "broken");
    JsonNode factor = read.at("/items/0");
    assertThat(factor.path("kind").asText()).isEqualTo("QuotaSchedule");
    assertThat(factor.path("keeps").asText()).isEqualTo("quota at factor 0.5");
    assertThat(factor.path("occurrences")).hasSize(1);
    JsonNode course = read.at("/items/1");
    assertThat(course.path("keeps").asText()).isEqualTo("8 nvidia.com/gpu of a100");
    assertThat(course.path("users").asText()).isEqualTo("course/students, class demo");
    assertThat(course.path("lend").asBoolean()).isTrue();
    assertThat(course.path("occurrences")).hasSize(2);
    assertThat(read.at("/items/2/keeps").asText()).isEqualTo("a100-rack-7");
    assertThat(read.at("/items/4/fault").asText()).isEqualTo("no such class");
    JsonNode refused = get("tenant", "cluster/calendar", "");
    assertThat(refused.path("items")).isEmpty();
    assertThat(refused.path("error").asText())
        .isEqualTo(
            "you may not list capacityreservations here; you may not list maintenancewindows here");
  }

  @Test
  void whoComesFirstIsNamedOnlyToWhoMaySeeIt() throws IOException {
    dashboard.addFirst("team-b", "job-first");
    String second =
        get("admin", "starts/clusterqueues/vision-train", "").at("/items/1/name").asText();
    assertThat(get("admin", "workloads/team-a/" + second, "").at("/waiting/plan/behind/name"))
        .hasToString("\"job-first\"");
    JsonNode plan = get("tenant", "workloads/team-a/" + second, "").at("/waiting/plan");
    assertThat(plan.path("text").asText()).startsWith("planned to start by");
    assertThat(plan.toString()).doesNotContain("job-first", "behind");
  }

  @Test
  void usageHasItsCost() throws IOException {
    JsonNode read = get("admin", "cluster/usage", "by=owner");
    assertThat(read.path("currency").asText()).isEqualTo("EUR");
    assertThat(read.path("rows")).hasSize(3);
    JsonNode gpus = read.at("/rows/2");
    assertThat(gpus.path("group").asText()).isEqualTo("vision-train");
    assertThat(new BigDecimal(gpus.path("cost").asText())).isEqualByComparingTo("100.8");
    assertThat(new BigDecimal(read.at("/rows/0/saved").asText())).isEqualByComparingTo("1.5");
    assertThat(read.path("groups").valueStream().map(JsonNode::asText))
        .containsExactly("queue", "namespace", "user", "owner", "label:team");
    assertThat(read.path("plots").findValuesAsText("of"))
        .containsExactly("cost", "cpu", "nvidia.com/gpu");
    JsonNode most = read.at("/plots/1/groups/0");
    assertThat(most.path("group").asText()).isEqualTo("vision-train");
    assertThat(most.path("values")).hasSize(31);
    assertThat(most.path("values").valueStream().mapToDouble(JsonNode::asDouble).sum())
        .isEqualTo(1_382_400);
    assertThat(most.at("/values/30").asDouble()).as("today").isZero();
    assertThat(get("admin", "cluster/usage", "by=label%3Ateam").path("by").asText())
        .isEqualTo("label:team");
    assertThat(get("admin", "cluster/usage", "by=a%26b").path("by").asText()).isEqualTo("queue");
    assertThat(get("tenant", "cluster/usage", "").path("error").asText())
        .isEqualTo("you may not list usage here");
    assertThat(dashboard.objects().askedWith("admin"))
        .anyMatch(
            each ->
                each.startsWith(
                    "admin /apis/visibility.kueue.x-k8s.io/v1beta2/usage?by=owner,day&since=20"));
  }

  @Test
  void noOtherDocumentReadsInTheCluster() throws IOException {
    for (String path :
        List.of(
            "session",
            "overview",
            "workloads",
            "workloads/team-a/job-train-00000",
            "flavors",
            "topologies")) {
      get("admin", path, "");
    }
    assertThat(dashboard.objects().askedWith("admin")).isEmpty();
    assertThat(get("admin", "session", "").path("ownToken").asBoolean()).isTrue();
  }

  @Test
  void listsAreInTheOrderThatIsAskedFor() throws IOException {
    assertThat(get("admin", "workloads", "sort=oldest").path("items").findValuesAsText("created"))
        .hasSizeGreaterThan(2)
        .isSorted();
    assertThat(get("admin", "workloads", "sort=newest").path("items").findValuesAsText("created"))
        .isSortedAccordingTo(Comparator.reverseOrder());
    List<Integer> priorities =
        get("admin", "workloads", "sort=priority")
            .path("items")
            .valueStream()
            .map(item -> item.path("priority").asInt())
            .toList();
    assertThat(priorities).isSortedAccordingTo(Comparator.reverseOrder());
    List<String> names =
        get("admin", "workloads", "sort=name")
            .path("items")
            .valueStream()
            .map(item -> item.at("/owner/name").asText(item.path("name").asText()))
            .toList();
    assertThat(names).isSorted();
  }

  @Test
  void nodesAreShownDomainByDomain() throws IOException {
    assertThat(get("admin", "topologies", "").toString())
        .isEqualTo("{\"items\":[{\"flavor\":\"a100\",\"topology\":\"data-center\"}]}");
    assertThat(get("admin", "session", "").at("/sees/topologies").asBoolean()).isTrue();

    JsonNode all = get("admin", "topologies/a100", "");
    assertThat(all.path("nodes").asInt()).isEqualTo(16);
    assertThat(all.path("domains").findValuesAsText("name")).containsExactly("block-a", "block-b");
    assertThat(all.at("/domains/0/nodes").asInt()).isEqualTo(8);
    assertThat(all.at("/resources/2").toString())
        .isEqualTo(
            "{\"resource\":\"nvidia.com/gpu\",\"allocatable\":128,\"others\":0,"
                + "\"workloads\":78,\"free\":50}");
    assertThat(all.path("holders")).hasSize(4);

    JsonNode rack = get("admin", "topologies/a100/block-b/rack-1-00", "");
    assertThat(rack.path("path").toString()).isEqualTo("[\"block-b\",\"rack-1-00\"]");
    assertThat(rack.path("domains").findValuesAsText("name"))
        .containsExactly("gpu-1-00-0", "gpu-1-00-1", "gpu-1-00-2", "gpu-1-00-3");
    assertThat(rack.at("/domains/0/holders").asInt()).isZero();
    assertThat(rack.at("/domains/1/holders").asInt()).isEqualTo(1);
    assertThat(rack.at("/holders/0/name").asText()).isEqualTo("job-evaluate-00001");
    assertThat(rack.at("/holders/0/pods").asInt()).isEqualTo(3);
    assertThat(rack.at("/holders/0/owner/name").asText()).isEqualTo("evaluate-00001");

    JsonNode node = get("admin", "topologies/a100/block-b/rack-1-00/gpu-1-00-2", "");
    assertThat(node.path("domains")).isEmpty();
    assertThat(node.path("nodes").asInt()).isEqualTo(1);
    for (String none : List.of("a100/block-z", "a100/block-a/rack-0-00/gpu-0-00-0/more")) {
      assertThat(get("admin", "topologies/" + none, "").path("nodes").asInt()).isZero();
    }
    assertThat(answer("GET", "/api/v1/topologies/spot", "", "admin").status()).isEqualTo(404);
  }

  @Test
  void aChangeIsInTheNextAnswerAboutNodesHoweverSoonItIsAsked() throws IOException {
    assertThat(get("admin", "topologies/a100", "").path("nodes").asInt()).isEqualTo(16);
    dashboard.addNodes();
    assertThat(get("admin", "topologies/a100", "").path("nodes").asInt()).isEqualTo(24);
  }

  @Test
  void nodesAreForThoseWhoMayListTopologiesAndTheirHoldersForWhoMayListWorkloads()
      throws IOException {
    for (String path : List.of("topologies", "topologies/a100", "topologies/none")) {
      assertThat(answer("GET", "/api/v1/" + path, "", "tenant").status()).isEqualTo(403);
    }
    assertThat(get("tenant", "session", "").at("/sees/topologies").asBoolean()).isFalse();

    JsonNode all = get("planner", "topologies/a100", "");
    assertThat(all.path("holders").findValuesAsText("namespace")).hasSize(2).containsOnly("team-a");
    assertThat(all.path("hiddenHolders").asInt()).isEqualTo(2);
    assertThat(all.path("hiddenPods").asInt()).isEqualTo(7);
    assertThat(all.toString()).doesNotContain("team-b", "evaluate");
  }

  @Test
  void aTenantSeesHisOwnOnly() throws IOException {
    JsonNode overview = get("tenant", "overview", "");
    assertThat(overview.path("clusterQueues")).isEmpty();
    assertThat(overview.path("cohorts")).isEmpty();
    assertThat(overview.path("localQueues").findValuesAsText("namespace"))
        .hasSize(4)
        .containsOnly("team-a");
    assertThat(overview.toString()).doesNotContain("nominal", "team-b");
    JsonNode workloads = get("tenant", "workloads", "");
    assertThat(workloads.path("total").asInt()).isEqualTo(15);
    assertThat(workloads.path("items").findValuesAsText("namespace")).containsOnly("team-a");
    assertThat(get("nobody", "workloads", "").path("total").asInt()).isZero();
    assertThat(get("tenant", "session", "").at("/sees/clusterQueues").asBoolean()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "tenant, workloads/team-b/job-distill-00003, 403",
    "tenant, workloads/team-b/none, 403",
    "tenant, workloads/team-a/none, 404",
    "tenant, workloads/team-a/job-train-00000, 200",
    "tenant, pending/clusterqueues/ci, 403",
    "tenant, pending/localqueues/team-b/ci, 403",
    "tenant, pending/localqueues/team-a/ci, 200",
    "tenant, workerclusters, 403",
    "nobody, workloads/team-a/job-train-00000, 403",
    "admin, workloads/team-b/job-distill-00003, 200",
    "admin, pending/clusterqueues/none, 404",
    "admin, workerclusters, 200"
  })
  void onlyWhoMayIsAnswered(String token, String path, int status) {
    assertThat(answer("GET", "/api/v1/" + path, "", token).status()).isEqualTo(status);
  }

  @Test
  void holdersOfOtherNamespacesAreCountedNotNamed() throws IOException {
    JsonNode asAdmin = get("admin", "workloads/team-a/job-train-00000", "");
    assertThat(asAdmin.at("/waiting/holders")).hasSize(2);
    assertThat(asAdmin.at("/waiting/holders/0/owner").toString())
        .isEqualTo("{\"kind\":\"Job\",\"name\":\"train-00010\"}");
    JsonNode asTenant = get("tenant", "workloads/team-a/job-train-00000", "");
    assertThat(asTenant.at("/waiting/holders").findValuesAsText("namespace"))
        .containsExactly("team-a");
    assertThat(asTenant.at("/waiting/hiddenHolders").asInt()).isEqualTo(1);
    assertThat(asTenant.at("/waiting/reason").asText()).isEqualTo("WaitingForQuota");
    assertThat(asTenant.toString()).doesNotContain("team-b");
  }

  @Test
  void aWorkloadsDocumentTellsWhatHappenedInOrder() throws IOException {
    JsonNode admitted = get("admin", "workloads/team-b/job-evaluate-00001", "");
    assertThat(admitted.path("timeline").findValuesAsText("what"))
        .containsExactly("Created", "QuotaReserved", "Admitted", "PodsReady");
    assertThat(
            get("admin", "workloads/team-a/job-train-00000", "")
                .path("timeline")
                .findValuesAsText("what"))
        .as("nothing of the pods of what was never started")
        .containsExactly("Created", "Not QuotaReserved");
    assertThat(admitted.has("waiting")).isFalse();
    assertThat(admitted.has("nominated")).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "'', 30, 30",
    "limit=4, 30, 4",
    "limit=4&offset=28, 30, 2",
    "offset=99999999999999999999, 30, 30",
    "limit=100000, 30, 30",
    "limit=-1&offset=-1, 30, 30",
    "limit=0, 30, 1",
    "state=pending, 10, 10",
    "state=nonsense, 0, 0",
    "namespace=team-a, 15, 15",
    "queue=ci&clusterQueue=ci, 7, 7",
    "q=TRAIN+00010, 1, 1",
    "q=.*, 0, 0",
    "q=%GG, 0, 0",
    "&&==&q, 30, 30"
  })
  void aPartOfTheWorkloadsIsAskedFor(String query, int total, int shown) throws IOException {
    JsonNode found = get("admin", "workloads", query);
    assertThat(found.path("total").asInt()).isEqualTo(total);
    assertThat(found.path("items")).hasSize(shown);
  }

  @Test
  void aLivePageDoesNotAskTheClusterEachTime() throws IOException {
    get("tenant", "overview", "");
    get("tenant", "workloads", "");
    int asked = dashboard.users().reviews();
    for (int i = 0; i < 20; i++) {
      get("tenant", "overview", "");
      get("tenant", "workloads", "");
    }
    assertThat(dashboard.users().reviews()).isEqualTo(asked);
  }
}
