package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.sluice.api.KubeQueueKeys;
import dev.sluice.api.config.KubeQueue;
import dev.sluice.api.config.KubeQueue.Policy;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kubequeue.QuotaSources.SourceNote;
import dev.sluice.kubequeue.SourceMark.Identity;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What Queues say of quotas: docs/kube-queue.md#queue-objects. Never throws for what it reads. Used
 * once for each reading.
 */
final class QueueOverrides {

  private static final List<String> AUTOMATIC =
      List.of("create-by-kubequeue", "create-by-koordqueue");

  /** Annotations that say nothing here; the value for no limit is no wish. */
  private static final List<String> WITHOUT_EFFECT = List.of("max-depth", "priority-threshold");

  private static final String UNLIMITED = "-1";
  private static final int LONGEST_CHECK = 316;
  private static final int MOST_CHECKS = 64;

  private final Map<Identity, GenericKubernetesResource> ours = new HashMap<>();
  private final Map<String, GenericKubernetesResource> automatic = new HashMap<>();
  private final Map<String, List<GenericKubernetesResource>> byNamespace = new HashMap<>();
  private final Map<QuotaSource, GenericKubernetesResource> elasticQuotas = new HashMap<>();
  private final List<SourceNote> notes = new ArrayList<>();

  /**
   * Reads Queues.
   *
   * @param queues all
   * @param quotas the ElasticQuotas, by the source that they are
   */
  QueueOverrides(
      KubeQueue settings,
      Collection<GenericKubernetesResource> queues,
      Map<QuotaSource, GenericKubernetesResource> quotas) {
    elasticQuotas.putAll(quotas);
    for (GenericKubernetesResource queue : queues) {
      String namespace = Objects.requireNonNullElse(queue.getMetadata().getNamespace(), "");
      if (isMirror(queue)) {
        boolean here = namespace.equals(settings.namespace());
        SourceMark.of(queue)
            .ifPresent(
                mark -> ours.merge(mark.identity(), queue, (one, other) -> here ? other : one));
      } else if (!namespace.equals(settings.namespace())) {
        byNamespace.computeIfAbsent(namespace, any -> new ArrayList<>()).add(queue);
      } else if (isAutomatic(queue)) {
        automatic.put(queue.getMetadata().getName(), queue);
        KubeQueueKeys.annotation(annotations(queue), "quota-fullname")
            .ifPresent(path -> automatic.putIfAbsent(path, queue));
      }
    }
  }

  /** Whether a Queue shows a quota. */
  static boolean isMirror(GenericKubernetesResource queue) {
    return "true".equals(labels(queue).get(QueueUnits.MIRROR));
  }

  private static boolean isAutomatic(GenericKubernetesResource queue) {
    return AUTOMATIC.stream().anyMatch(label -> "true".equals(labels(queue).get(label)));
  }

  private static Map<String, String> labels(GenericKubernetesResource object) {
    return Objects.requireNonNullElse(object.getMetadata().getLabels(), Map.of());
  }

  private static Map<String, String> annotations(GenericKubernetesResource object) {
    return Objects.requireNonNullElse(object.getMetadata().getAnnotations(), Map.of());
  }

  /** What is said to the people who wrote the Queues, of those that were asked for. */
  List<SourceNote> notes() {
    return notes;
  }

  /** What is said of the queue of a quota. */
  QueueOverride of(QuotaDeclaration quota) {
    if (QueueObjects.isElasticQuota(quota.source().kind())) {
      return ofElasticQuota(quota);
    }
    boolean resourceQuota = quota.source().kind().equals(ResourceQuotaReader.KIND);
    Optional<GenericKubernetesResource> queue = resourceQuota ? ofNamespace(quota) : shown(quota);
    if (queue.isEmpty()) {
      return QueueOverride.NONE;
    }
    String policy = spec(queue.get()).path("queuePolicy").asText();
    boolean edited =
        !QueueObjects.shown(policy).equals(annotations(queue.get()).get(QueueUnits.SHOWN));
    return override(quota, queue.get(), edited ? policy : "", priority(queue.get()), queue);
  }

  /** The Queue that shows the quota; in its place one that Kube Queue made for it. */
  private Optional<GenericKubernetesResource> shown(QuotaDeclaration quota) {
    SourceMark mark = SourceMark.of(quota.source(), quota.path());
    GenericKubernetesResource own = ours.get(mark.identity());
    return own != null
        ? Optional.of(own)
        : Optional.ofNullable(
            automatic.getOrDefault(
                NameAllocator.baseName(mark, quota.objectName()), automatic.get(quota.path())));
  }

  private Optional<GenericKubernetesResource> ofNamespace(QuotaDeclaration quota) {
    List<GenericKubernetesResource> all =
        byNamespace.getOrDefault(quota.source().namespace(), List.of());
    // one that is for some of the pods is served as its own Queue says
    boolean others = quota.source().scopes().isEmpty();
    Comparator<GenericKubernetesResource> named =
        Comparator.comparing(each -> !each.getMetadata().getName().equals(quota.source().name()));
    return all.stream()
        .filter(each -> others || each.getMetadata().getName().equals(quota.source().name()))
        .min(named.thenComparing(each -> each.getMetadata().getName()));
  }

  /** The quota says what its Queue is; only the priority may be changed in the Queue. */
  private QueueOverride ofElasticQuota(QuotaDeclaration quota) {
    Optional<Integer> priority =
        shown(quota)
            .flatMap(QueueOverrides::priority)
            .or(() -> QueueObjects.defaultPriority(quota.source().kind()));
    GenericKubernetesResource object = elasticQuotas.get(quota.source());
    return object == null
        ? QueueOverride.NONE
        : override(
            quota,
            object,
            KubeQueueKeys.annotation(labels(object), "queue-policy").orElse(""),
            priority,
            shown(quota));
  }

  private QueueOverride override(
      QuotaDeclaration quota,
      GenericKubernetesResource object,
      String text,
      Optional<Integer> priority,
      Optional<GenericKubernetesResource> queue) {
    Map<String, String> annotations = annotations(object);
    Optional<Policy> policy = QueueObjects.policy(text, quota.source().kind());
    if (policy.isEmpty() && !text.isEmpty()) {
      note(
          object,
          QuotaSources.INVALID,
          "\"%s\" is no policy of a queue; it is served as configured".formatted(text));
    } else if (QueueObjects.isReplaced(text)) {
      note(object, QuotaSources.UNSUPPORTED, "policy " + text + ": it is served as Priority");
    }
    for (String key : WITHOUT_EFFECT) {
      KubeQueueKeys.annotation(annotations, key)
          .filter(value -> !value.equals(UNLIMITED))
          .ifPresent(value -> note(object, QuotaSources.UNSUPPORTED, key + " has no effect"));
    }
    return new QueueOverride(
        policy,
        text,
        priority,
        isTrue(annotations, "wait-for-pods-running"),
        isTrue(annotations, "enable-queueunit-preemption"),
        KubeQueueKeys.annotation(annotations, "available-quota").stream()
            .flatMap(list -> Arrays.stream(list.split(",", -1)))
            .map(String::strip)
            .filter(name -> !name.isEmpty())
            .toList(),
        queue.map(this::checks).orElseGet(TreeMap::new));
  }

  private SortedMap<String, JsonNode> checks(GenericKubernetesResource queue) {
    SortedMap<String, JsonNode> checks = new TreeMap<>();
    for (JsonNode check : JsonFields.list(spec(queue), QueueObjects.CHECKS)) {
      String name = JsonFields.text(check, "name");
      if (name.isEmpty() || name.length() > LONGEST_CHECK || checks.size() == MOST_CHECKS) {
        note(queue, QuotaSources.INVALID, "\"" + name + "\" can't be an admission check");
      } else {
        JsonNode selector = JsonFields.at(check, "labelSelector");
        checks.put(name, selector.isObject() ? selector : JsonNodeFactory.instance.objectNode());
      }
    }
    return checks;
  }

  private void note(GenericKubernetesResource object, String reason, String text) {
    notes.add(new SourceNote(QuotaSources.reference(object), reason, text));
  }

  private static boolean isTrue(Map<String, String> annotations, String key) {
    return KubeQueueKeys.annotation(annotations, key).filter("true"::equals).isPresent();
  }

  private static Optional<Integer> priority(GenericKubernetesResource queue) {
    JsonNode priority = spec(queue).path("priority");
    return priority.canConvertToInt() ? Optional.of(priority.intValue()) : Optional.empty();
  }

  private static JsonNode spec(GenericKubernetesResource object) {
    return JsonMappers.JSON.<JsonNode>valueToTree(object.getAdditionalProperties()).path("spec");
  }

  /**
   * What a Queue says of the ClusterQueue of its quota.
   *
   * @param policy how it is served; empty: as configured
   * @param policyText the policy as it was written; empty: the configured one
   * @param priority heads of queues with a higher one are tried earlier
   * @param blockUntilReady whether the next is admitted only when the pods of the one before run
   * @param preempts whether a Workload may preempt others of lower priority in the same queue
   * @param listed other quotas whose jobs may choose the queue; {@code *} is any
   * @param checks the admission checks that Workloads need, each with the selector of those that
   *     need it
   */
  public record QueueOverride(
      Optional<Policy> policy,
      String policyText,
      Optional<Integer> priority,
      boolean blockUntilReady,
      boolean preempts,
      List<String> listed,
      SortedMap<String, JsonNode> checks) {

    /** There is no Queue, or it says nothing. */
    public static final QueueOverride NONE =
        new QueueOverride(
            Optional.empty(), "", Optional.empty(), false, false, List.of(), new TreeMap<>());

    /** Keeps a copy. */
    public QueueOverride {
      listed = List.copyOf(listed);
      checks = Collections.unmodifiableSortedMap(new TreeMap<>(checks));
    }
  }
}
