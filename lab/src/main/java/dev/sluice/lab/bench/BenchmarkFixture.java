package dev.sluice.lab.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.lab.bench.BenchmarkApiClient.Answer;
import dev.sluice.lab.bench.Scenario.Form;
import dev.sluice.lab.bench.Scenario.WorkClass;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Creates the queues of a run and removes them afterwards. */
final class BenchmarkFixture {

  private static final int DELETE_ATTEMPTS = 10;
  private static final String NODES = "/api/v1/nodes";

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final Duration PAUSE = Duration.ofMillis(200);

  private final Scenario scenario;
  private final BenchmarkTarget benchmarkTarget;
  private final BenchmarkApiClient benchmarkApiClient;
  private final BenchmarkManifests benchmarkManifests;
  private final InstantSource clock = InstantSource.system();

  BenchmarkFixture(
      Scenario scenario, BenchmarkTarget benchmarkTarget, BenchmarkApiClient benchmarkApiClient) {
    this.scenario = scenario;
    this.benchmarkTarget = benchmarkTarget;
    this.benchmarkApiClient = benchmarkApiClient;
    this.benchmarkManifests = new BenchmarkManifests(scenario, benchmarkTarget);
  }

  /** The newest version of the API that both the cluster and this program support. */
  static String servedVersion(BenchmarkApiClient benchmarkApiClient) {
    JsonNode group = benchmarkApiClient.read("/apis/" + BenchmarkTarget.GROUP);
    for (String version : List.of("v1beta2", "v1beta1")) {
      for (JsonNode served : group.path("versions")) {
        if (served.path("version").asText().equals(version)) {
          return version;
        }
      }
    }
    throw new BenchException(
        "the cluster serves neither v1beta2 nor v1beta1 of "
            + BenchmarkTarget.GROUP
            + ": is it installed?");
  }

  /**
   * Creates the queues and returns when all of them are active.
   *
   * @param ended completes with the reason when the operator has ended, so that waiting is in vain
   */
  void setUp(CompletableFuture<String> ended) {
    createNamespace();
    scenario.nodes().ifPresent(this::makeNodes);
    postServed("resourceflavors", benchmarkManifests.flavor());
    if (scenario.form() == Form.JOB) {
      scenario.classes().stream()
          .map(WorkClass::priority)
          .distinct()
          .forEach(
              priority ->
                  postServed(
                      "workloadpriorityclasses", benchmarkManifests.priorityClass(priority)));
    }
    for (int queue = 0; queue < scenario.queues(); queue++) {
      postServed("clusterqueues", benchmarkManifests.clusterQueue(queue));
      post(
          BenchmarkTarget.GROUP,
          "localqueues",
          benchmarkTarget.namespaced("localqueues"),
          benchmarkManifests.localQueue(queue));
    }
    awaitActive(ended);
  }

  /** Creates the namespace alone, which is enough where nothing decides about Workloads. */
  void createNamespace() {
    post("", "namespaces", "/api/v1/namespaces", benchmarkManifests.namespace());
  }

  private void makeNodes(Scenario.Nodes nodes) {
    postServed("topologies", benchmarkManifests.topology());
    for (int rack = 0; rack < nodes.racks(); rack++) {
      for (int number = 0; number < nodes.perRack(); number++) {
        post("", "nodes", NODES, benchmarkManifests.node(nodes, rack, number));
      }
    }
  }

  private void removeNodes(Scenario.Nodes nodes) {
    for (int rack = 0; rack < nodes.racks(); rack++) {
      for (int number = 0; number < nodes.perRack(); number++) {
        delete("DELETE", "", "nodes", NODES + "/" + benchmarkTarget.node(rack, number));
      }
    }
    delete(
        "DELETE",
        BenchmarkTarget.GROUP,
        "topologies",
        benchmarkTarget.wide("topologies") + "/" + benchmarkTarget.topology());
  }

  private void awaitActive(CompletableFuture<String> ended) {
    Instant end = clock.instant().plus(LIMIT);
    while (!allActive()) {
      if (ended.isDone()) {
        throw new BenchException(ended.join());
      }
      if (clock.instant().isAfter(end)) {
        throw new BenchException(
            "not all queues were active within %d s: is an operator at work?"
                .formatted(LIMIT.toSeconds()));
      }
      BenchmarkApiClient.pause(PAUSE);
    }
  }

  private boolean allActive() {
    return active(benchmarkTarget.wide("clusterqueues"))
        && active(benchmarkTarget.namespaced("localqueues"));
  }

  private boolean active(String path) {
    int active = 0;
    for (JsonNode item : benchmarkApiClient.read(path).path("items")) {
      String name = item.path("metadata").path("name").asText();
      if (name.startsWith(benchmarkTarget.run() + "-") && Condition.holds(item, "Active")) {
        active++;
      }
    }
    return active == scenario.queues();
  }

  private void postServed(String resource, String body) {
    post(BenchmarkTarget.GROUP, resource, benchmarkTarget.wide(resource), body);
  }

  private void post(String group, String resource, String path, String body) {
    Answer answer =
        BenchmarkApiClient.await(
            benchmarkApiClient.send(new RequestKey("POST", group, resource, ""), path, body));
    if (!answer.successful()) {
      throw new BenchException("can't create " + resource + ": " + answer.text() + " for " + body);
    }
  }

  /** Removes all objects of the run, work first. */
  void takeDown() {
    if (scenario.form() == Form.JOB) {
      delete(
          "DELETECOLLECTION",
          "batch",
          "jobs",
          benchmarkTarget.jobs() + "?propagationPolicy=Background");
    }
    delete(
        "DELETECOLLECTION",
        BenchmarkTarget.GROUP,
        "workloads",
        benchmarkTarget.namespaced("workloads"));
    for (int queue = 0; queue < scenario.queues(); queue++) {
      String name = "/" + benchmarkTarget.queue(queue);
      delete(
          "DELETE",
          BenchmarkTarget.GROUP,
          "localqueues",
          benchmarkTarget.namespaced("localqueues") + name);
      delete(
          "DELETE",
          BenchmarkTarget.GROUP,
          "clusterqueues",
          benchmarkTarget.wide("clusterqueues") + name);
    }
    if (scenario.form() == Form.JOB) {
      scenario.classes().stream()
          .map(
              each ->
                  benchmarkTarget.wide("workloadpriorityclasses")
                      + "/"
                      + benchmarkTarget.priorityClass(each.priority()))
          .distinct()
          .forEach(
              path -> delete("DELETE", BenchmarkTarget.GROUP, "workloadpriorityclasses", path));
    }
    delete(
        "DELETE",
        BenchmarkTarget.GROUP,
        "resourceflavors",
        benchmarkTarget.wide("resourceflavors") + "/" + benchmarkTarget.flavor());
    scenario.nodes().ifPresent(this::removeNodes);
    delete("DELETE", "", "namespaces", "/api/v1/namespaces/" + benchmarkTarget.namespace());
  }

  /** The server ends a request after a minute; the rest is deleted by further requests. */
  private void delete(String verb, String group, String resource, String path) {
    RequestKey key = new RequestKey(verb, group, resource, "");
    Answer answer = null;
    for (int attempt = 1; answer == null; attempt++) {
      try {
        answer = BenchmarkApiClient.await(benchmarkApiClient.send(key, path, "{}"));
      } catch (BenchException e) {
        if (attempt == DELETE_ATTEMPTS) {
          throw e;
        }
      }
    }
    if (!answer.successful() && answer.code() != 404) {
      throw new BenchException("can't delete " + path + ": " + answer.text());
    }
  }

  /** Reads and sets conditions of JSON objects. */
  static final class Condition {

    private Condition() {}

    /** Whether the condition is True. */
    static boolean holds(JsonNode object, String type) {
      for (JsonNode condition : object.path("status").path("conditions")) {
        if (condition.path("type").asText().equals(type)) {
          return condition.path("status").asText().equals("True");
        }
      }
      return false;
    }

    /** A copy of the list with a condition set. */
    static ArrayNode with(
        JsonNode conditions,
        String type,
        boolean value,
        String reason,
        String message,
        Instant now) {
      ArrayNode list = JsonNodeFactory.instance.arrayNode();
      for (JsonNode condition : conditions) {
        if (!condition.path("type").asText().equals(type)) {
          list.add(condition);
        }
      }
      ObjectNode added = list.addObject();
      added.put("type", type).put("status", value ? "True" : "False");
      added.put("lastTransitionTime", now.truncatedTo(ChronoUnit.SECONDS).toString());
      added.put("reason", reason).put("message", message);
      return list;
    }
  }
}
