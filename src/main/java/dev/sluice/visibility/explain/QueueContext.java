package dev.sluice.visibility.explain;

import static dev.sluice.visibility.explain.ClusterExplanation.kind;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Context of a pending Workload: its ClusterQueue with the cohort hierarchy, the pending Workloads,
 * and the Workloads that hold quota. Read once.
 */
final class QueueContext {

  private final String clusterQueue;
  private final String namespace;
  private final String localQueue;
  private final List<GenericKubernetesResource> inLine = new ArrayList<>();
  private final List<GenericKubernetesResource> holding = new ArrayList<>();
  private final List<String> remarks = new ArrayList<>();
  private final FairSharingOrder fairSharingOrder = new FairSharingOrder();
  private boolean strict;

  QueueContext(KubernetesClient client, String clusterQueue, String namespace, String localQueue) {
    this.clusterQueue = clusterQueue;
    this.namespace = namespace;
    this.localQueue = localQueue;
    List<GenericKubernetesResource> workloads =
        client
            .genericKubernetesResources(kind("Workload", "workloads", true))
            .inNamespace(namespace)
            .list()
            .getItems();
    Set<String> queues = Set.of(namespace + "/" + localQueue);
    try {
      Set<String> tree = readTree(client);
      queues = localQueues(client);
      workloads =
          client
              .genericKubernetesResources(kind("Workload", "workloads", true))
              .inAnyNamespace()
              .list()
              .getItems();
      for (GenericKubernetesResource each : workloads) {
        if (!JsonPaths.isTrue(each, "Finished")
            && tree.contains(JsonPaths.text(each, "status", "admission", "clusterQueue"))) {
          holding.add(each);
        }
      }
    } catch (KubernetesClientException e) {
      remarks.add("  (who else is in line and holds quota can't be read: " + e.getMessage() + ")");
    }
    for (GenericKubernetesResource each : workloads) {
      String in =
          each.getMetadata().getNamespace() + "/" + JsonPaths.text(each, "spec", "queueName");
      if (queues.contains(in) && WorkloadStatusText.inLine(each)) {
        inLine.add(each);
      }
    }
    inLine.sort(
        fairSharingOrder
            .order()
            .thenComparing(Comparator.comparingLong(JsonPaths::priority).reversed())
            .thenComparing(each -> each.getMetadata().getCreationTimestamp())
            .thenComparing(JsonPaths::uid));
  }

  /**
   * Reads the ClusterQueue and returns the names of all ClusterQueues that share quota with it,
   * including itself.
   */
  private Set<String> readTree(KubernetesClient client) {
    if (clusterQueue.isEmpty()) {
      return Set.of();
    }
    List<GenericKubernetesResource> queues =
        client
            .genericKubernetesResources(kind("ClusterQueue", "clusterqueues", false))
            .list()
            .getItems();
    Map<String, String> parents = new HashMap<>();
    for (GenericKubernetesResource cohort :
        client.genericKubernetesResources(kind("Cohort", "cohorts", false)).list().getItems()) {
      parents.put(cohort.getMetadata().getName(), JsonPaths.text(cohort, "spec", "parentName"));
    }
    Set<String> tree = new HashSet<>(Set.of(clusterQueue));
    queues.stream()
        .filter(queue -> queue.getMetadata().getName().equals(clusterQueue))
        .findFirst()
        .ifPresentOrElse(
            own -> {
              readQueue(own);
              String root = root(own, parents);
              queues.stream()
                  .filter(other -> !root.isEmpty() && root(other, parents).equals(root))
                  .forEach(other -> tree.add(other.getMetadata().getName()));
            },
            () -> remarks.add("  ClusterQueue " + clusterQueue + " does not exist"));
    return tree;
  }

  private void readQueue(GenericKubernetesResource queue) {
    fairSharingOrder.observe(queue);
    strict = JsonPaths.text(queue, "spec", "queueingStrategy").equals("StrictFIFO");
    JsonPaths.conditionLine(queue, "Active", "False")
        .ifPresent(line -> remarks.add("  ClusterQueue " + line));
    for (Map<?, ?> flavor : JsonPaths.maps(queue.get("status", "flavorsReservation"))) {
      for (Map<?, ?> resource : JsonPaths.maps(flavor.get("resources"))) {
        remarks.add(
            "  ClusterQueue %s has reserved %s %s of flavor %s, %s of it borrowed"
                .formatted(
                    clusterQueue,
                    JsonPaths.string(resource.get("total"), "0"),
                    JsonPaths.string(resource.get("name"), ""),
                    JsonPaths.string(flavor.get("name"), ""),
                    JsonPaths.string(resource.get("borrowed"), "0")));
      }
    }
  }

  private static String root(GenericKubernetesResource queue, Map<String, String> parents) {
    String root = JsonPaths.text(queue, "spec", "cohortName");
    Set<String> passed = new HashSet<>();
    while (passed.add(root) && !parents.getOrDefault(root, "").isEmpty()) {
      root = parents.getOrDefault(root, "");
    }
    return root;
  }

  /** The LocalQueues of the ClusterQueue, with their namespaces. */
  private Set<String> localQueues(KubernetesClient client) {
    Set<String> result = new HashSet<>(Set.of(namespace + "/" + localQueue));
    for (GenericKubernetesResource each :
        client
            .genericKubernetesResources(kind("LocalQueue", "localqueues", true))
            .inAnyNamespace()
            .list()
            .getItems()) {
      if (!clusterQueue.isEmpty()
          && JsonPaths.text(each, "spec", "clusterQueue").equals(clusterQueue)) {
        result.add(JsonPaths.fullName(each));
        fairSharingOrder.used(each);
      }
    }
    return result;
  }

  /** Whether the ClusterQueue uses StrictFIFO. */
  boolean strict() {
    return strict;
  }

  /**
   * The clause that other Workloads are ahead because their LocalQueues used less; empty if none
   * are.
   */
  String turn(GenericKubernetesResource workload) {
    return fairSharingOrder.sentence(workload, inLine);
  }

  /** The Workloads that hold quota which the ClusterQueue could use. */
  List<GenericKubernetesResource> holding() {
    return holding;
  }

  /** The pending Workloads before a Workload, in queue order. */
  List<GenericKubernetesResource> ahead(GenericKubernetesResource workload) {
    int place = place(inLine, workload);
    return place < 0 ? List.of() : inLine.subList(0, place);
  }

  /** The Workload's position and a description of its ClusterQueue. */
  List<String> lines(GenericKubernetesResource workload) {
    List<String> lines = new ArrayList<>();
    List<GenericKubernetesResource> local =
        inLine.stream()
            .filter(each -> each.getMetadata().getNamespace().equals(namespace))
            .filter(each -> JsonPaths.text(each, "spec", "queueName").equals(localQueue))
            .toList();
    int place = place(local, workload);
    lines.add(
        place < 0
            ? "  not in line at the moment"
            : "  position %d of %d in LocalQueue %s (0 is next), by priority and age"
                .formatted(place, local.size(), localQueue));
    fairSharingOrder.line(workload, inLine).ifPresent(lines::add);
    lines.addAll(remarks);
    return lines;
  }

  private static int place(
      List<GenericKubernetesResource> line, GenericKubernetesResource workload) {
    for (int i = 0; i < line.size(); i++) {
      if (JsonPaths.uid(line.get(i)).equals(JsonPaths.uid(workload))) {
        return i;
      }
    }
    return -1;
  }
}
