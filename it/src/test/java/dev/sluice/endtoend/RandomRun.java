package dev.sluice.endtoend;

import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.net.HttpURLConnection;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/**
 * One small world in which things happen at random, through the API only: Jobs and bare Workloads
 * come, end and go, are switched off and on, get other priorities, and quotas change. Bare
 * Workloads have somebody outside who runs them: he stops them when they are evicted.
 */
final class RandomRun {

  private static final String QUEUES = "kueue.x-k8s.io/v1beta2";

  /** Who is to be picked. */
  private enum Who {
    HOLDING,
    WAITING,
    ANYBODY
  }

  private final TestCluster cluster;
  private final RandomQueues queues;
  private final Random random;
  private int made;

  /** Sets the world up. */
  RandomRun(TestCluster cluster, int number, Random random) {
    this.cluster = cluster;
    this.random = random;
    String namespace = cluster.createNamespace("world-" + number);
    this.queues = RandomQueues.of(cluster.name("w" + number), namespace, random);
    queues.objects().forEach(cluster::applyText);
  }

  /** One thing that happens. */
  synchronized void step() {
    int thrown = random.nextInt(100);
    if (thrown < 56) {
      submit();
    } else if (thrown < 62) {
      submitJob();
    } else if (thrown < 74) {
      pick(Who.HOLDING).ifPresent(this::finish);
    } else if (thrown < 79) {
      pick(Who.ANYBODY).ifPresent(name -> workload(name).delete());
    } else if (thrown < 83) {
      pick(Who.ANYBODY).ifPresent(name -> merge(name, "{\"spec\": {\"active\": false}}"));
    } else if (thrown < 88) {
      pick(Who.ANYBODY).ifPresent(name -> merge(name, "{\"spec\": {\"active\": true}}"));
    } else if (thrown < 92) {
      String priority = "{\"spec\": {\"priority\": %d}}".formatted(random.nextInt(4));
      pick(Who.WAITING).ifPresent(name -> merge(name, priority));
    } else if (thrown < 98) {
      cluster.applyText(queues.queueObject(random.nextInt(queues.queues())));
    } else {
      cluster.applyText(queues.cohortObject(random.nextInt(queues.cohorts())));
    }
  }

  private void submit() {
    String name = "bare-" + made++;
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: %s, namespace: "%s"}
        spec:
          queueName: %s
          priority: %d
          podSets:
          - name: main
            count: %d
            template:
              spec:
                restartPolicy: Never
                containers:
                - {name: main, image: none, resources: {requests: {%s}}}
        """
            .formatted(
                name,
                queues.namespace(),
                RandomQueues.localQueue(random.nextInt(queues.queues())),
                random.nextInt(4),
                1 + random.nextInt(2),
                requests()));
  }

  private String requests() {
    String cpu = "cpu: \"%d\"".formatted(1 + random.nextInt(3));
    return random.nextInt(3) == 0 ? cpu + ", memory: %dGi".formatted(1 + random.nextInt(4)) : cpu;
  }

  private void submitJob() {
    int pods = 1 + random.nextInt(2);
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: job-%d
          namespace: "%s"
          labels: {kueue.x-k8s.io/queue-name: %s}
        spec:
          parallelism: %d
          completions: %d
          template:
            metadata: {annotations: {sluice.dev/run-for: "%ds"}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(
                made++,
                queues.namespace(),
                RandomQueues.localQueue(random.nextInt(queues.queues())),
                pods,
                pods,
                3 + random.nextInt(12)));
  }

  private Optional<String> pick(Who who) {
    List<String> some =
        all().stream()
            .filter(each -> each.getMetadata().getName().startsWith("bare-"))
            .filter(each -> !is(each, "Finished"))
            .filter(
                each ->
                    switch (who) {
                      case HOLDING -> is(each, "QuotaReserved");
                      case WAITING -> !is(each, "QuotaReserved");
                      case ANYBODY -> true;
                    })
            .map(each -> each.getMetadata().getName())
            .toList();
    return some.isEmpty() ? Optional.empty() : Optional.of(some.get(random.nextInt(some.size())));
  }

  /** Says that a Workload has come to its end. */
  private void finish(String name) {
    writeStatus(
        name,
        workload ->
            is(workload, "QuotaReserved")
                && set(workload, "Finished", "True", "Succeeded", "it is done"));
  }

  /** Stops those who are evicted, as whoever runs them has to. */
  void stopTheEvicted() {
    for (GenericKubernetesResource each : all()) {
      String name = each.getMetadata().getName();
      if (name.startsWith("bare-") && leaves(each)) {
        writeStatus(name, RandomRun::stop);
      }
    }
  }

  private static boolean leaves(GenericKubernetesResource workload) {
    return is(workload, "Evicted") && is(workload, "QuotaReserved") && !is(workload, "Finished");
  }

  private static boolean stop(GenericKubernetesResource workload) {
    if (!leaves(workload)) {
      return false;
    }
    String reason = String.valueOf(condition(workload, "Evicted").get("reason"));
    status(workload).remove("admission");
    boolean again = reason.equals("Preempted");
    return set(workload, "QuotaReserved", "False", "PendingEvaluation", "it has stopped")
        && set(workload, "Requeued", again ? "True" : "False", reason, "it has stopped");
  }

  /** A change of a Workload's status; false if there is nothing to change. */
  private interface Change {
    boolean make(GenericKubernetesResource workload);
  }

  /** Reads, changes and writes until nobody else has written in between. */
  private void writeStatus(String name, Change change) {
    for (int attempt = 0; attempt < 20; attempt++) {
      GenericKubernetesResource workload = workload(name).get();
      if (workload == null || !change.make(workload)) {
        return;
      }
      try {
        client()
            .genericKubernetesResources(QUEUES, "Workload")
            .inNamespace(queues.namespace())
            .resource(workload)
            .updateStatus();
        return;
      } catch (KubernetesClientException e) {
        if (e.getCode() != HttpURLConnection.HTTP_CONFLICT
            && e.getCode() != HttpURLConnection.HTTP_NOT_FOUND) {
          throw e;
        }
      }
    }
    throw new IllegalStateException("somebody else writes " + name + " all the time");
  }

  private List<GenericKubernetesResource> all() {
    return client()
        .genericKubernetesResources(QUEUES, "Workload")
        .inNamespace(queues.namespace())
        .list()
        .getItems();
  }

  private Resource<GenericKubernetesResource> workload(String name) {
    return client()
        .genericKubernetesResources(QUEUES, "Workload")
        .inNamespace(queues.namespace())
        .withName(name);
  }

  private void merge(String name, String json) {
    try {
      workload(name).patch(PatchContext.of(PatchType.JSON_MERGE), json);
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_NOT_FOUND) {
        throw e;
      }
    }
  }

  private KubernetesClient client() {
    return cluster.client();
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> status(GenericKubernetesResource workload) {
    return (Map<String, Object>)
        workload
            .getAdditionalProperties()
            .computeIfAbsent("status", any -> new LinkedHashMap<String, Object>());
  }

  @SuppressWarnings("unchecked")
  private static List<Map<String, Object>> conditions(GenericKubernetesResource workload) {
    return (List<Map<String, Object>>)
        status(workload).computeIfAbsent("conditions", any -> new ArrayList<Map<String, Object>>());
  }

  private static Map<String, Object> condition(GenericKubernetesResource workload, String type) {
    return conditions(workload).stream()
        .filter(each -> type.equals(each.get("type")))
        .findFirst()
        .orElse(Map.of());
  }

  private static boolean is(GenericKubernetesResource workload, String type) {
    return "True".equals(condition(workload, type).get("status"));
  }

  private static boolean set(
      GenericKubernetesResource workload,
      String type,
      String status,
      String reason,
      String message) {
    conditions(workload).removeIf(each -> type.equals(each.get("type")));
    return conditions(workload)
        .add(
            Map.of(
                "type",
                type,
                "status",
                status,
                "reason",
                reason,
                "message",
                message,
                "lastTransitionTime",
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString()));
  }
}
