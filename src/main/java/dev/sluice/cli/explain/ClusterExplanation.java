package dev.sluice.cli.explain;

import dev.sluice.api.ApiVersions;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Explains a Workload from the objects of the API server: its conditions, its queues, and the
 * Workloads that hold its ClusterQueue's quota. What the reader isn't allowed to see is left out,
 * and a line says so.
 */
final class ClusterExplanation {

  private static final int HOLDERS = 5;
  private static final List<String> TOLD =
      List.of(
          "Finished",
          "Evicted",
          "Preempted",
          "Admitted",
          "QuotaReserved",
          "PodsReady",
          "Requeued",
          "DeactivationTarget");

  private final KubernetesClient client;

  ClusterExplanation(KubernetesClient client) {
    this.client = client;
  }

  /** What can be said, line by line; empty if there is no such Workload. */
  Optional<List<String>> lines(String namespace, String name) {
    GenericKubernetesResource workload =
        client
            .genericKubernetesResources(kind("Workload", "workloads", true))
            .inNamespace(namespace)
            .withName(name)
            .get();
    return Optional.ofNullable(workload).map(this::lines);
  }

  private List<String> lines(GenericKubernetesResource workload) {
    List<String> lines = new ArrayList<>();
    String namespace = workload.getMetadata().getNamespace();
    String queue = text(workload, "spec", "queueName");
    lines.add("Workload " + namespace + "/" + workload.getMetadata().getName());
    String clusterQueue = queues(lines, workload, namespace, queue);
    conditions(workload).forEach(lines::add);
    if (waits(workload)) {
      lines.add(position(workload, namespace, queue));
      lines.addAll(quota(clusterQueue));
    }
    return lines;
  }

  private String queues(
      List<String> lines, GenericKubernetesResource workload, String namespace, String queue) {
    String admittedBy = text(workload, "status", "admission", "clusterQueue");
    if (!admittedBy.isEmpty()) {
      lines.add("  LocalQueue " + queue + ", holds quota of ClusterQueue " + admittedBy);
      return admittedBy;
    }
    if (queue.isEmpty()) {
      lines.add("  has no queue name: it is not queued");
      return "";
    }
    GenericKubernetesResource local =
        client
            .genericKubernetesResources(kind("LocalQueue", "localqueues", true))
            .inNamespace(namespace)
            .withName(queue)
            .get();
    if (local == null) {
      lines.add("  LocalQueue " + queue + " does not exist in namespace " + namespace);
      return "";
    }
    String clusterQueue = text(local, "spec", "clusterQueue");
    lines.add("  LocalQueue " + queue + " of ClusterQueue " + clusterQueue);
    conditionLine(local, "Active", "False").ifPresent(line -> lines.add("  LocalQueue " + line));
    return clusterQueue;
  }

  private static List<String> conditions(GenericKubernetesResource workload) {
    List<String> lines = new ArrayList<>();
    if (Boolean.FALSE.equals(workload.get("spec", "active"))) {
      lines.add("  spec.active is false: it is not queued until it is set to true");
    }
    for (String type : TOLD) {
      condition(workload, type).map(ClusterExplanation::line).ifPresent(lines::add);
    }
    if (lines.isEmpty()) {
      lines.add("  no condition yet: it was not evaluated");
    }
    return lines;
  }

  private String position(GenericKubernetesResource workload, String namespace, String queue) {
    List<GenericKubernetesResource> waiting =
        client
            .genericKubernetesResources(kind("Workload", "workloads", true))
            .inNamespace(namespace)
            .list()
            .getItems()
            .stream()
            .filter(each -> waits(each) && text(each, "spec", "queueName").equals(queue))
            .sorted(inOrder())
            .toList();
    for (int i = 0; i < waiting.size(); i++) {
      if (uid(waiting.get(i)).equals(uid(workload))) {
        return "  position %d of %d in LocalQueue %s (0 is next), by priority and age"
            .formatted(i, waiting.size(), queue);
      }
    }
    return "  it does not wait any more";
  }

  private List<String> quota(String clusterQueue) {
    if (clusterQueue.isEmpty()) {
      return List.of();
    }
    List<String> lines = new ArrayList<>();
    try {
      GenericKubernetesResource queue =
          client
              .genericKubernetesResources(kind("ClusterQueue", "clusterqueues", false))
              .withName(clusterQueue)
              .get();
      if (queue == null) {
        return List.of("  ClusterQueue " + clusterQueue + " does not exist");
      }
      conditionLine(queue, "Active", "False")
          .ifPresent(line -> lines.add("  ClusterQueue " + line));
      lines.addAll(reserved(queue));
      lines.addAll(holders(clusterQueue));
    } catch (KubernetesClientException e) {
      lines.add("  (who holds its quota can't be read: " + e.getMessage() + ")");
    }
    return lines;
  }

  private static List<String> reserved(GenericKubernetesResource queue) {
    List<String> lines = new ArrayList<>();
    for (Map<?, ?> flavor : maps(queue.get("status", "flavorsReservation"))) {
      for (Map<?, ?> resource : maps(flavor.get("resources"))) {
        lines.add(
            "  ClusterQueue %s has reserved %s %s of flavor %s, %s of it borrowed"
                .formatted(
                    queue.getMetadata().getName(),
                    string(resource.get("total"), "0"),
                    string(resource.get("name"), ""),
                    string(flavor.get("name"), ""),
                    string(resource.get("borrowed"), "0")));
      }
    }
    return lines;
  }

  private List<String> holders(String clusterQueue) {
    return client
        .genericKubernetesResources(kind("Workload", "workloads", true))
        .inAnyNamespace()
        .withField("status.admission.clusterQueue", clusterQueue)
        .list()
        .getItems()
        .stream()
        .filter(each -> !isTrue(each, "Finished"))
        .sorted(Comparator.comparing(ClusterExplanation::cpu).reversed())
        .limit(HOLDERS)
        .map(ClusterExplanation::holder)
        .toList();
  }

  private static String holder(GenericKubernetesResource holder) {
    return "  held by %s/%s: %s"
        .formatted(
            holder.getMetadata().getNamespace(), holder.getMetadata().getName(), usage(holder));
  }

  private static String usage(GenericKubernetesResource holder) {
    Map<String, BigDecimal> sums = new TreeMap<>();
    for (Map<?, ?> podSet : maps(holder.get("status", "admission", "podSetAssignments"))) {
      if (podSet.get("resourceUsage") instanceof Map<?, ?> used) {
        used.forEach(
            (name, amount) -> sums.merge(name.toString(), number(amount), BigDecimal::add));
      }
    }
    return String.join(
        ", ",
        sums.entrySet().stream()
            .map(each -> each.getKey() + " " + each.getValue().stripTrailingZeros().toPlainString())
            .toList());
  }

  private static BigDecimal cpu(GenericKubernetesResource holder) {
    BigDecimal sum = BigDecimal.ZERO;
    for (Map<?, ?> podSet : maps(holder.get("status", "admission", "podSetAssignments"))) {
      if (podSet.get("resourceUsage") instanceof Map<?, ?> used && used.get("cpu") != null) {
        sum = sum.add(number(used.get("cpu")));
      }
    }
    return sum;
  }

  private static BigDecimal number(Object quantity) {
    return Quantity.getAmountInBytes(Quantity.parse(quantity.toString()));
  }

  private static Comparator<GenericKubernetesResource> inOrder() {
    return Comparator.comparingLong(ClusterExplanation::priority)
        .reversed()
        .thenComparing(each -> each.getMetadata().getCreationTimestamp())
        .thenComparing(ClusterExplanation::uid);
  }

  private static long priority(GenericKubernetesResource workload) {
    return workload.get("spec", "priority") instanceof Number number ? number.longValue() : 0;
  }

  private static String uid(GenericKubernetesResource workload) {
    return workload.getMetadata().getUid();
  }

  private static boolean waits(GenericKubernetesResource workload) {
    return !isTrue(workload, "QuotaReserved")
        && !isTrue(workload, "Finished")
        && !Boolean.FALSE.equals(workload.get("spec", "active"));
  }

  private static boolean isTrue(GenericKubernetesResource object, String type) {
    return condition(object, type).filter(c -> "True".equals(c.get("status"))).isPresent();
  }

  private static Optional<String> conditionLine(
      GenericKubernetesResource object, String type, String status) {
    return condition(object, type)
        .filter(found -> status.equals(found.get("status")))
        .map(ClusterExplanation::line)
        .map(String::strip);
  }

  private static String line(Map<?, ?> condition) {
    String message = string(condition.get("message"), "");
    return "  %s=%s %s since %s%s"
        .formatted(
            string(condition.get("type"), ""),
            string(condition.get("status"), ""),
            string(condition.get("reason"), ""),
            string(condition.get("lastTransitionTime"), "an unknown time"),
            message.isEmpty() ? "" : ": " + message);
  }

  private static Optional<Map<?, ?>> condition(GenericKubernetesResource object, String type) {
    for (Map<?, ?> condition : maps(object.get("status", "conditions"))) {
      if (type.equals(condition.get("type"))) {
        return Optional.of(condition);
      }
    }
    return Optional.empty();
  }

  private static List<Map<?, ?>> maps(@Nullable Object list) {
    List<Map<?, ?>> result = new ArrayList<>();
    if (list instanceof List<?> items) {
      for (Object item : items) {
        if (item instanceof Map<?, ?> map) {
          result.add(map);
        }
      }
    }
    return result;
  }

  private static String text(GenericKubernetesResource object, Object... path) {
    return string(object.get(path), "");
  }

  private static String string(@Nullable Object value, String otherwise) {
    return value == null ? otherwise : value.toString();
  }

  /** A kind of the project's API, for a client that knows none of its types. */
  static ResourceDefinitionContext kind(String kind, String plural, boolean namespaced) {
    return new ResourceDefinitionContext.Builder()
        .withGroup(ApiVersions.GROUP)
        .withVersion(ApiVersions.V1BETA2)
        .withKind(kind)
        .withPlural(plural)
        .withNamespaced(namespaced)
        .build();
  }
}
