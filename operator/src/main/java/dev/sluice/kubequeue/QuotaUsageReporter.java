package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.Quantities;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.core.engine.FlavorUsage;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.Futures;
import dev.sluice.kube.client.ObjectPath;
import dev.sluice.kube.controller.WorkQueue;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.kubequeue.SourceObjects.Kind;
import dev.sluice.queues.cache.InformerCaches;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes into the status of quota trees and ElasticQuotas what their queues use, after fifteen
 * seconds at most. A field that another program writes is left to it: the status is applied without
 * force, and an object where that conflicts isn't written any more.
 */
public final class QuotaUsageReporter implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(QuotaUsageReporter.class);

  private static final String ALL = "status of quotas of kube-queue";
  private static final String APPLY = "application/apply-patch+yaml";
  private static final Duration EVERY = Duration.ofSeconds(15);

  private final Dependencies dependencies;
  private final SourceObjects objects;
  private final WorkQueue<String> work;
  private final Set<String> ofOthers = new HashSet<>();

  /**
   * What the reporter reads and writes.
   *
   * @param leading whether this process may write
   */
  public record Dependencies(
      InformerCaches caches,
      SchedulerViews views,
      ApiClient apiClient,
      BooleanSupplier leading,
      WorkQueueSettings work) {}

  /** Does nothing before {@link #start}. */
  public QuotaUsageReporter(Dependencies dependencies, SourceObjects objects) {
    this.dependencies = dependencies;
    this.objects = objects;
    work = new WorkQueue<>(any -> report(), dependencies.work());
  }

  /** Begins: this process leads. */
  public void start() {
    work.enqueue(ALL);
  }

  private Optional<Duration> report() throws InterruptedException {
    if (!dependencies.leading().getAsBoolean()) {
      return Optional.empty();
    }
    Map<SourceMark, SortedMap<String, Long>> used = used();
    for (GenericKubernetesResource tree : objects.all(Kind.TREE)) {
      Map<String, SortedMap<String, Long>> byPath = new HashMap<>();
      used.forEach(
          (mark, amounts) -> {
            if (mark.kind().equals(QuotaTreeReader.KIND)
                && mark.name().equals(tree.getMetadata().getName())) {
              byPath.merge(mark.path(), amounts, QuotaUsageReporter::sum);
            }
          });
      if (!byPath.isEmpty()) {
        ObjectNode status = JsonNodeFactory.instance.objectNode();
        status.set("root", node(json(tree).path("spec").path("root"), "", sums(byPath)));
        write(Kind.TREE, tree, status);
      }
    }
    reportQuotas(Kind.KOORDINATOR_QUOTA, ElasticQuotaReader.KOORDINATOR, used);
    reportQuotas(Kind.PLUGIN_QUOTA, ElasticQuotaReader.PLUGIN, used);
    return Optional.of(EVERY);
  }

  /** What the queue of each quota uses, without those of the quotas below. */
  private Map<SourceMark, SortedMap<String, Long>> used() {
    Map<SourceMark, SortedMap<String, Long>> result = new HashMap<>();
    for (ClusterQueue queue : dependencies.caches().clusterQueues().all()) {
      Optional<SourceMark> mark = SourceMark.of(queue);
      if (mark.isPresent()) {
        SortedMap<String, Long> amounts =
            result.computeIfAbsent(mark.get(), any -> new TreeMap<>());
        dependencies
            .views()
            .clusterQueue(queue.getMetadata().getName())
            .ifPresent(view -> view.usage().forEach(each -> add(amounts, each)));
      }
    }
    return result;
  }

  private static SortedMap<String, Long> sum(
      SortedMap<String, Long> one, SortedMap<String, Long> other) {
    SortedMap<String, Long> result = new TreeMap<>(one);
    addAll(result, other);
    return result;
  }

  private static void addAll(SortedMap<String, Long> sum, SortedMap<String, Long> amounts) {
    amounts.forEach((resource, amount) -> sum.merge(resource, amount, ResourceAmounts::add));
  }

  private static void add(SortedMap<String, Long> amounts, FlavorUsage usage) {
    amounts.merge(usage.resource(), usage.reserved(), ResourceAmounts::add);
  }

  /** What is used of each quota with all that is used below it, by its path. */
  static Map<String, SortedMap<String, Long>> sums(Map<String, SortedMap<String, Long>> used) {
    Map<String, SortedMap<String, Long>> result = new HashMap<>();
    used.forEach(
        (path, amounts) -> {
          for (int end = path.length(); end >= 0; end = path.lastIndexOf('/', end - 1)) {
            addAll(result.computeIfAbsent(path.substring(0, end), any -> new TreeMap<>()), amounts);
          }
        });
    return result;
  }

  /** A quota of a tree as its status has it. */
  static ObjectNode node(
      JsonNode spec, String above, Map<String, SortedMap<String, Long>> sumsByPath) {
    String name = spec.path("name").asText(above.isEmpty() ? "root" : "");
    String path = above + name;
    ObjectNode result = JsonNodeFactory.instance.objectNode();
    result.put("name", name);
    JsonNode namespaces = spec.path("namespaces");
    if (!namespaces.isEmpty()) {
      result.set("namespaces", namespaces.deepCopy());
    }
    result.set("used", amounts(sumsByPath.getOrDefault(path, new TreeMap<>())));
    if (!spec.path("children").isEmpty()) {
      ArrayNode children = result.putArray("children");
      spec.path("children").forEach(child -> children.add(node(child, path + "/", sumsByPath)));
    }
    return result;
  }

  private void reportQuotas(Kind kind, String source, Map<SourceMark, SortedMap<String, Long>> used)
      throws InterruptedException {
    Map<String, SortedMap<String, Long>> own = new HashMap<>();
    used.forEach(
        (mark, amounts) -> {
          if (mark.kind().equals(source)) {
            own.merge(key(mark.namespace(), mark.name()), amounts, QuotaUsageReporter::sum);
          }
        });
    Map<String, List<String>> below = new HashMap<>();
    Map<String, String> byName = new HashMap<>();
    for (GenericKubernetesResource quota : objects.all(kind)) {
      byName.put(quota.getMetadata().getName(), key(quota));
    }
    for (GenericKubernetesResource quota : objects.all(kind)) {
      Map<String, String> labels =
          Objects.requireNonNullElse(quota.getMetadata().getLabels(), Map.of());
      String parent = byName.get(labels.getOrDefault(ElasticQuotaReader.PARENT, ""));
      if (parent != null && kind == Kind.KOORDINATOR_QUOTA) {
        below.computeIfAbsent(parent, any -> new ArrayList<>()).add(key(quota));
      }
    }
    for (GenericKubernetesResource quota : objects.all(kind)) {
      // one that is ignored has no queue, and nobody is charged to it
      if (own.containsKey(key(quota))) {
        SortedMap<String, Long> sum = new TreeMap<>();
        sum(key(quota), own, below, sum, new HashSet<>());
        ObjectNode status = JsonNodeFactory.instance.objectNode();
        status.set("used", amounts(sum));
        write(kind, quota, status);
      }
    }
  }

  private static void sum(
      String quota,
      Map<String, SortedMap<String, Long>> own,
      Map<String, List<String>> below,
      SortedMap<String, Long> sum,
      Set<String> seen) {
    if (seen.add(quota)) {
      addAll(sum, own.getOrDefault(quota, new TreeMap<>()));
      below.getOrDefault(quota, List.of()).forEach(each -> sum(each, own, below, sum, seen));
    }
  }

  private static String key(GenericKubernetesResource quota) {
    return key(
        Objects.requireNonNullElse(quota.getMetadata().getNamespace(), ""),
        quota.getMetadata().getName());
  }

  private static String key(String namespace, String name) {
    return namespace + "/" + name;
  }

  private static ObjectNode amounts(SortedMap<String, Long> amounts) {
    ObjectNode result = JsonNodeFactory.instance.objectNode();
    amounts.forEach(
        (resource, amount) -> result.put(resource, Quantities.format(resource, amount)));
    return result;
  }

  private void write(Kind kind, GenericKubernetesResource object, ObjectNode status)
      throws InterruptedException {
    String uid = Objects.requireNonNullElse(object.getMetadata().getUid(), "");
    if (ofOthers.contains(uid) || contains(json(object).path("status"), status)) {
      return;
    }
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    body.put("apiVersion", kind.apiVersion()).put("kind", kind.kind());
    body.putObject("metadata")
        .put("name", object.getMetadata().getName())
        .put("namespace", object.getMetadata().getNamespace())
        .put("uid", uid);
    body.set("status", status);
    String path =
        new ObjectPath(
                kind.apiVersion(),
                object.getMetadata().getNamespace(),
                kind.plural(),
                object.getMetadata().getName())
            .object();
    // what is lost is written the next time
    ApiOutcome outcome =
        Futures.forResult(
            dependencies
                .apiClient()
                .send(
                    new ApiRequest(
                        "PATCH",
                        path + "/status?fieldManager=" + SourceMark.FIELD_OWNER,
                        APPLY,
                        body.toString())));
    String reason =
        switch (outcome) {
          case ApiOutcome.Gone gone -> gone.message();
          case ApiOutcome.Conflict conflict -> conflict.message();
          case ApiOutcome.Refused refused -> refused.message();
          case ApiOutcome.Unreachable unreachable -> "";
          case ApiOutcome.Written written -> "";
        };
    if (!reason.isEmpty()) {
      LOG.info("{}={} status=left reason=\"{}\"", kind.plural(), key(object), reason);
      ofOthers.add(uid);
    }
  }

  /** Whether all that is to be written is there, among what others may have written. */
  private static boolean contains(JsonNode all, JsonNode part) {
    if (!part.isObject()) {
      return part.isArray()
          ? all.size() == part.size() && containsEach(all, part)
          : all.asText().equals(part.asText());
    }
    return part.properties().stream()
        .allMatch(
            each -> all.has(each.getKey()) && contains(all.get(each.getKey()), each.getValue()));
  }

  private static boolean containsEach(JsonNode all, JsonNode part) {
    for (int i = 0; i < part.size(); i++) {
      if (!contains(all.get(i), part.get(i))) {
        return false;
      }
    }
    return true;
  }

  private static JsonNode json(GenericKubernetesResource object) {
    return JsonMappers.JSON.valueToTree(object.getAdditionalProperties());
  }

  @Override
  public void close() {
    work.close();
  }
}
