package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.events.ObjectReference;
import dev.sluice.kubequeue.ElasticQuotaReader.QuotaObject;
import dev.sluice.kubequeue.SourceObjects.Kind;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Reads all sources. A source that can't be used counts as it was when it last could be; if that
 * isn't known, what was made from it stays as it is. Used by one thread at a time.
 */
final class QuotaSources {

  /** The reason of an event about a source that can't be used. */
  static final String INVALID = "InvalidQuota";

  /** The reason of an event about a source that is used although a rule is broken. */
  static final String EXCEEDED = "GuaranteeExceeded";

  /** The reason of an event about what has no effect. */
  static final String UNSUPPORTED = "UnsupportedAttribute";

  private static final String RESOURCE_QUOTAS = ResourceQuotaReader.KIND + " ";

  private final Map<String, QuotaTree> lastGood = new HashMap<>();

  /**
   * What the sources say.
   *
   * @param trees the quotas
   * @param readable kinds of sources that could be used
   * @param notes for the people who wrote the sources
   */
  record Reading(List<QuotaTree> trees, Set<String> readable, List<SourceNote> notes) {}

  /** A note about a source. */
  record SourceNote(ObjectReference about, String reason, String note) {}

  /** Reads the sources. */
  Reading read(SourceObjects objects) {
    List<QuotaTree> trees = new ArrayList<>();
    Set<String> readable = objects.sources();
    List<SourceNote> notes = new ArrayList<>();
    Reading result = new Reading(trees, readable, notes);
    readTree(objects.all(Kind.TREE).stream().sorted(age()).toList(), result);
    readQuotas(ElasticQuotaReader.KOORDINATOR, objects.all(Kind.KOORDINATOR_QUOTA), result);
    readQuotas(ElasticQuotaReader.PLUGIN, objects.all(Kind.PLUGIN_QUOTA), result);
    readResourceQuotas(objects, result);
    return result;
  }

  private void readQuotas(
      String kind, Collection<GenericKubernetesResource> found, Reading result) {
    if (found.isEmpty()) {
      lastGood.remove(kind);
      return;
    }
    Map<QuotaSource, GenericKubernetesResource> bySource = new LinkedHashMap<>();
    found.stream().sorted(age()).forEach(each -> bySource.put(source(kind, each), each));
    List<QuotaObject> quotas =
        bySource.entrySet().stream().map(each -> quota(each.getKey(), each.getValue())).toList();
    ElasticQuotaReader.Result read =
        kind.equals(ElasticQuotaReader.PLUGIN)
            ? ElasticQuotaReader.plugin(quotas)
            : ElasticQuotaReader.koordinator(quotas);
    read.notes()
        .forEach(
            (source, texts) ->
                note(Objects.requireNonNull(bySource.get(source)), INVALID, texts, result));
    read.warnings()
        .forEach(
            (source, texts) ->
                note(Objects.requireNonNull(bySource.get(source)), EXCEEDED, texts, result));
    use(kind, kind, read.reading(), result);
  }

  private static void note(HasMetadata about, String reason, List<String> texts, Reading result) {
    if (!texts.isEmpty()) {
      result.notes().add(new SourceNote(reference(about), reason, String.join("; ", texts)));
    }
  }

  /** The ElasticQuotas of both groups, by the source that they are. */
  Map<QuotaSource, GenericKubernetesResource> elasticQuotas(SourceObjects objects) {
    Map<QuotaSource, GenericKubernetesResource> result = new HashMap<>();
    objects
        .all(Kind.KOORDINATOR_QUOTA)
        .forEach(each -> result.put(source(ElasticQuotaReader.KOORDINATOR, each), each));
    objects
        .all(Kind.PLUGIN_QUOTA)
        .forEach(each -> result.put(source(ElasticQuotaReader.PLUGIN, each), each));
    return result;
  }

  private void readResourceQuotas(SourceObjects objects, Reading result) {
    Map<String, Set<String>> queues = new HashMap<>();
    for (GenericKubernetesResource queue : objects.all(Kind.QUEUE)) {
      if (QueueOverrides.isMirror(queue)) {
        continue;
      }
      queues
          .computeIfAbsent(
              Objects.requireNonNullElse(queue.getMetadata().getNamespace(), ""),
              any -> new HashSet<>())
          .add(queue.getMetadata().getName());
    }
    Map<String, List<QuotaObject>> quotas = new TreeMap<>();
    Map<QuotaSource, GenericKubernetesResource> bySource = new HashMap<>();
    for (GenericKubernetesResource each : objects.all(Kind.RESOURCE_QUOTA)) {
      QuotaSource source = source(ResourceQuotaReader.KIND, each);
      bySource.put(source, each);
      if (queues.containsKey(source.namespace())) {
        quotas
            .computeIfAbsent(source.namespace(), any -> new ArrayList<>())
            .add(quota(source, each));
      }
    }
    List<QuotaObject> chosen =
        quotas.entrySet().stream()
            .flatMap(
                each ->
                    ResourceQuotaReader.chosen(
                        each.getValue(), queues.getOrDefault(each.getKey(), Set.of()))
                        .stream())
            .toList();
    Set<String> keys =
        chosen.stream().map(each -> key(each.source())).collect(Collectors.toUnmodifiableSet());
    lastGood.keySet().removeIf(key -> key.startsWith(RESOURCE_QUOTAS) && !keys.contains(key));
    for (QuotaObject quota : chosen) {
      QuotaReading reading = ResourceQuotaReader.read(quota);
      note(Objects.requireNonNull(bySource.get(quota.source())), INVALID, reading.faults(), result);
      use(key(quota.source()), ResourceQuotaReader.KIND, reading, result);
    }
  }

  private static String key(QuotaSource resourceQuota) {
    return RESOURCE_QUOTAS + resourceQuota.namespace() + "/" + resourceQuota.name();
  }

  private static QuotaObject quota(QuotaSource source, GenericKubernetesResource object) {
    return new QuotaObject(
        source,
        Objects.requireNonNullElse(object.getMetadata().getLabels(), Map.of()),
        Objects.requireNonNullElse(object.getMetadata().getAnnotations(), Map.of()),
        json(object).path("spec"));
  }

  private void readTree(List<GenericKubernetesResource> objects, Reading result) {
    if (objects.isEmpty()) {
      lastGood.remove(QuotaTreeReader.KIND);
      return;
    }
    GenericKubernetesResource oldest = objects.getFirst();
    objects.stream()
        .skip(1)
        .forEach(
            other ->
                result
                    .notes()
                    .add(
                        new SourceNote(
                            reference(other),
                            INVALID,
                            "it is ignored: %s is older"
                                .formatted(oldest.getMetadata().getName()))));
    QuotaReading reading = QuotaTreeReader.read(source(QuotaTreeReader.KIND, oldest), json(oldest));
    accept(QuotaTreeReader.KIND, oldest, reading, result);
  }

  private void accept(String key, HasMetadata object, QuotaReading reading, Reading result) {
    reading
        .unsupported()
        .forEach(
            what ->
                result
                    .notes()
                    .add(new SourceNote(reference(object), UNSUPPORTED, what + " has no effect")));
    note(object, INVALID, reading.faults(), result);
    note(object, EXCEEDED, reading.warnings(), result);
    use(key, key, reading, result);
  }

  /** Each ResourceQuota is a tree of its own; all other kinds have one. */
  private void use(String key, String kind, QuotaReading reading, Reading result) {
    if (reading.tree().isPresent()) {
      lastGood.put(key, reading.tree().get());
      result.trees().add(reading.tree().get());
      return;
    }
    QuotaTree before = lastGood.get(key);
    if (before == null) {
      result.readable().remove(kind);
    } else {
      result.trees().add(before);
    }
  }

  private static Comparator<HasMetadata> age() {
    return Comparator.comparing(
            (HasMetadata each) ->
                Objects.requireNonNullElse(each.getMetadata().getCreationTimestamp(), ""))
        .thenComparing(each -> each.getMetadata().getName())
        .thenComparing(each -> Objects.requireNonNullElse(each.getMetadata().getNamespace(), ""));
  }

  private static JsonNode json(GenericKubernetesResource object) {
    return JsonMappers.JSON.valueToTree(object.getAdditionalProperties());
  }

  private static QuotaSource source(String kind, HasMetadata object) {
    return new QuotaSource(
        kind,
        Objects.requireNonNullElse(object.getMetadata().getNamespace(), ""),
        object.getMetadata().getName(),
        Objects.requireNonNullElse(object.getMetadata().getUid(), ""));
  }

  /** Names an object for an event. */
  static ObjectReference reference(HasMetadata object) {
    return new ObjectReference(
        object.getApiVersion(),
        object.getKind(),
        Objects.requireNonNullElse(object.getMetadata().getNamespace(), ""),
        object.getMetadata().getName(),
        Objects.requireNonNullElse(object.getMetadata().getUid(), ""));
  }

  /** Names a source for an event. */
  static ObjectReference reference(QuotaSource source) {
    Kind kind =
        switch (source.kind()) {
          case ElasticQuotaReader.KOORDINATOR -> Kind.KOORDINATOR_QUOTA;
          case ElasticQuotaReader.PLUGIN -> Kind.PLUGIN_QUOTA;
          case ResourceQuotaReader.KIND -> Kind.RESOURCE_QUOTA;
          default -> Kind.TREE;
        };
    return new ObjectReference(
        kind.apiVersion(), kind.kind(), source.namespace(), source.name(), source.uid());
  }
}
