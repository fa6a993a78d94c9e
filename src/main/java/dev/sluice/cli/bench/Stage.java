package dev.sluice.cli.bench;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.cli.bench.Scenario.Form;
import dev.sluice.cli.bench.Scenario.WorkClass;
import dev.sluice.cli.bench.Server.Answer;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;

/** The queues of a run, set up before it and removed after it. */
final class Stage {

  private static final int DELETE_ATTEMPTS = 10;

  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final Duration PAUSE = Duration.ofMillis(200);

  private final Scenario scenario;
  private final Target target;
  private final Server server;
  private final Manifests manifests;
  private final InstantSource clock = InstantSource.system();

  Stage(Scenario scenario, Target target, Server server) {
    this.scenario = scenario;
    this.target = target;
    this.server = server;
    this.manifests = new Manifests(scenario, target);
  }

  /** The newest version of the API that the cluster serves and this program speaks. */
  static String servedVersion(Server server) {
    JsonNode group = server.read("/apis/" + Target.GROUP);
    for (String version : List.of("v1beta2", "v1beta1")) {
      for (JsonNode served : group.path("versions")) {
        if (served.path("version").asText().equals(version)) {
          return version;
        }
      }
    }
    throw new BenchException(
        "the cluster serves neither v1beta2 nor v1beta1 of " + Target.GROUP + ": is it installed?");
  }

  /** Makes the queues, and returns when all of them are active. */
  void setUp() {
    post("", "namespaces", "/api/v1/namespaces", manifests.namespace());
    postServed("resourceflavors", manifests.flavor());
    if (scenario.form() == Form.JOB) {
      scenario.classes().stream()
          .map(WorkClass::priority)
          .distinct()
          .forEach(
              priority -> postServed("workloadpriorityclasses", manifests.priorityClass(priority)));
    }
    for (int queue = 0; queue < scenario.queues(); queue++) {
      postServed("clusterqueues", manifests.clusterQueue(queue));
      post(
          Target.GROUP,
          "localqueues",
          target.namespaced("localqueues"),
          manifests.localQueue(queue));
    }
    awaitActive();
  }

  private void awaitActive() {
    Instant end = clock.instant().plus(LIMIT);
    while (!allActive()) {
      if (clock.instant().isAfter(end)) {
        throw new BenchException(
            "not all queues were active within %d s: is an operator at work?"
                .formatted(LIMIT.toSeconds()));
      }
      Server.pause(PAUSE);
    }
  }

  private boolean allActive() {
    return active(target.wide("clusterqueues")) && active(target.namespaced("localqueues"));
  }

  private boolean active(String path) {
    int active = 0;
    for (JsonNode item : server.read(path).path("items")) {
      String name = item.path("metadata").path("name").asText();
      if (name.startsWith(target.run() + "-") && Condition.holds(item, "Active")) {
        active++;
      }
    }
    return active == scenario.queues();
  }

  private void postServed(String resource, String body) {
    post(Target.GROUP, resource, target.wide(resource), body);
  }

  private void post(String group, String resource, String path, String body) {
    Answer answer =
        Server.await(server.send(new RequestKey("POST", group, resource, ""), path, body));
    if (!answer.successful()) {
      throw new BenchException("can't create " + resource + ": " + answer.text() + " for " + body);
    }
  }

  /** Removes all that the run made, work first. */
  void takeDown() {
    if (scenario.form() == Form.JOB) {
      delete("DELETECOLLECTION", "batch", "jobs", target.jobs() + "?propagationPolicy=Background");
    }
    delete("DELETECOLLECTION", Target.GROUP, "workloads", target.namespaced("workloads"));
    for (int queue = 0; queue < scenario.queues(); queue++) {
      String name = "/" + target.queue(queue);
      delete("DELETE", Target.GROUP, "localqueues", target.namespaced("localqueues") + name);
      delete("DELETE", Target.GROUP, "clusterqueues", target.wide("clusterqueues") + name);
    }
    if (scenario.form() == Form.JOB) {
      scenario.classes().stream()
          .map(
              each ->
                  target.wide("workloadpriorityclasses")
                      + "/"
                      + target.priorityClass(each.priority()))
          .distinct()
          .forEach(path -> delete("DELETE", Target.GROUP, "workloadpriorityclasses", path));
    }
    delete(
        "DELETE",
        Target.GROUP,
        "resourceflavors",
        target.wide("resourceflavors") + "/" + target.flavor());
    delete("DELETE", "", "namespaces", "/api/v1/namespaces/" + target.namespace());
  }

  /**
   * The server ends a request that takes it longer than a minute; what is left is asked for anew.
   */
  private void delete(String verb, String group, String resource, String path) {
    RequestKey key = new RequestKey(verb, group, resource, "");
    Answer answer = null;
    for (int attempt = 1; answer == null; attempt++) {
      try {
        answer = Server.await(server.send(key, path, "{}"));
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
}
