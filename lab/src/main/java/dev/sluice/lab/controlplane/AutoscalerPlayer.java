package dev.sluice.lab.controlplane;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Plays an autoscaler with pools of nodes: makes a node of a pool for each pod that the scheduler
 * found no place for and that selects the pool, beyond those that are free, and the nodes of a
 * ProvisioningRequest all at once. A pool has a limit: pods beyond it get nothing, requests beyond
 * it fail. Nodes are never taken back.
 */
public final class AutoscalerPlayer implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(AutoscalerPlayer.class);
  private static final String API = "autoscaling.x-k8s.io/v1";
  private static final String REQUEST = "ProvisioningRequest";
  private static final long PERIOD_MILLIS = 200;

  private final KubernetesClient client;
  private final List<Pool> pools;
  private final Map<String, Integer> made = new HashMap<>();
  private final Set<String> served = new HashSet<>();
  private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();

  /**
   * A pool of nodes.
   *
   * @param group what its nodes are like; its count is without meaning
   * @param limit the most nodes
   */
  public record Pool(NodeGroup group, int limit) {}

  /** Plays for these pools, until it is closed. */
  public AutoscalerPlayer(KubernetesClient client, List<Pool> pools) {
    this.client = client;
    this.pools = List.copyOf(pools);
    var unused = thread.scheduleWithFixedDelay(this::look, 0, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void look() {
    try {
      List<Pod> pods = client.pods().inAnyNamespace().list().getItems();
      pools.forEach(pool -> serve(pool, pods));
      client
          .genericKubernetesResources(API, REQUEST)
          .inAnyNamespace()
          .list()
          .getItems()
          .forEach(this::answer);
    } catch (KubernetesClientException e) {
      LOG.debug("the cluster can't be read, or has no such requests", e);
    }
  }

  private static boolean isUnschedulable(Pod pod) {
    return pod.getStatus() != null
        && pod.getStatus().getConditions().stream()
            .anyMatch(
                it ->
                    "PodScheduled".equals(it.getType())
                        && "False".equals(it.getStatus())
                        && "Unschedulable".equals(it.getReason()));
  }

  /**
   * Whoever comes first takes a node: what counts is how many wait, and how many nodes are free.
   */
  private void serve(Pool pool, List<Pod> pods) {
    long waiting =
        pods.stream()
            .filter(AutoscalerPlayer::isUnschedulable)
            .filter(pod -> selects(pod.getSpec().getNodeSelector(), pool))
            .count();
    int present = made.getOrDefault(pool.group().name(), 0);
    long taken =
        pods.stream()
            .map(pod -> pod.getSpec().getNodeName())
            .filter(node -> node != null && node.startsWith(pool.group().name() + "-"))
            .distinct()
            .count();
    add(
        pool,
        (int) Math.clamp(waiting - (present - taken), 0, Math.max(0, pool.limit() - present)));
  }

  private static boolean selects(Map<String, String> selector, Pool pool) {
    return !selector.isEmpty() && pool.group().labels().entrySet().containsAll(selector.entrySet());
  }

  private void add(Pool pool, int count) {
    for (int i = 0; i < count; i++) {
      int number = made.merge(pool.group().name(), 1, Integer::sum);
      NodeGroup group = pool.group();
      FakeNodes.of(
              new NodeGroup(
                  group.name() + "-" + number, 1, group.capacity(), group.labels(), group.taints()))
          .forEach(node -> client.resource(node).create());
    }
  }

  private void answer(GenericKubernetesResource request) {
    if (!served.add(request.getMetadata().getUid())) {
      return;
    }
    Map<String, Integer> wanted = new LinkedHashMap<>();
    JsonNode object = client.getKubernetesSerialization().convertValue(request, JsonNode.class);
    for (JsonNode podSet : object.at("/spec/podSets")) {
      String name = podSet.at("/podTemplateRef/name").asText();
      var template =
          client
              .v1()
              .podTemplates()
              .inNamespace(request.getMetadata().getNamespace())
              .withName(name)
              .get();
      if (template == null) {
        served.remove(request.getMetadata().getUid()); // it comes after the request
        return;
      }
      pools.stream()
          .filter(pool -> selects(template.getTemplate().getSpec().getNodeSelector(), pool))
          .findFirst()
          .ifPresent(
              pool ->
                  wanted.merge(pool.group().name(), podSet.path("count").asInt(), Integer::sum));
    }
    boolean possible =
        pools.stream()
            .allMatch(
                pool ->
                    made.getOrDefault(pool.group().name(), 0)
                            + wanted.getOrDefault(pool.group().name(), 0)
                        <= pool.limit());
    if (possible) {
      pools.forEach(pool -> add(pool, wanted.getOrDefault(pool.group().name(), 0)));
    }
    client
        .genericKubernetesResources(API, REQUEST)
        .inNamespace(request.getMetadata().getNamespace())
        .withName(request.getMetadata().getName())
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            """
            {"status": {"conditions": [{"type": "%s", "status": "True", "reason": "Played",
              "message": "%s", "lastTransitionTime": "%s"}]}}
            """
                .formatted(
                    possible ? "Provisioned" : "Failed",
                    possible ? "the nodes are there" : "the pool is at its limit",
                    Instant.ofEpochMilli(System.currentTimeMillis())));
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
