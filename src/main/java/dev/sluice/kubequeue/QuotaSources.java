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

/**
 * Reads all sources. A source that can't be used counts as it was when it last could be; if that
 * isn't known, what was made from it stays as it is. Used by one thread at a time.
 */
final class QuotaSources {

  /** The reason of an event about a source that can't be used. */
  static final String INVALID = "InvalidQuota";

  /** The reason of an event about what has no effect. */
  static final String UNSUPPORTED = "UnsupportedAttribute";

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
                result
                    .notes()
                    .add(
                        new SourceNote(
                            reference(Objects.requireNonNull(bySource.get(source))),
                            INVALID,
                            String.join("; ", texts))));
    use(kind, read.reading(), result);
  }

  private void readResourceQuotas(SourceObjects objects, Reading result) {
    Map<String, Set<String>> queues = new HashMap<>();
    for (GenericKubernetesResource queue : objects.all(Kind.QUEUE)) {
      queues
          .computeIfAbsent(
              Objects.requireNonNullElse(queue.getMetadata().getNamespace(), ""),
              any -> new HashSet<>())
          .add(queue.getMetadata().getName());
    }
    Map<String, List<QuotaObject>> quotas = new TreeMap<>();
    for (GenericKubernetesResource each : objects.all(Kind.RESOURCE_QUOTA)) {
      QuotaSource source = source(ResourceQuotaReader.KIND, each);
      if (queues.containsKey(source.namespace())) {
        quotas
            .computeIfAbsent(source.namespace(), any -> new ArrayList<>())
            .add(quota(source, each));
      }
    }
    quotas.forEach(
        (namespace, all) ->
            ResourceQuotaReader.chosen(all, queues.getOrDefault(namespace, Set.of()))
                .map(ResourceQuotaReader::read)
                .flatMap(QuotaReading::tree)
                .ifPresent(result.trees()::add));
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
    if (reading.tree().isEmpty()) {
      String faults = String.join("; ", reading.faults());
      result.notes().add(new SourceNote(reference(object), INVALID, faults));
    }
    use(key, reading, result);
  }

  private void use(String key, QuotaReading reading, Reading result) {
    if (reading.tree().isPresent()) {
      lastGood.put(key, reading.tree().get());
      result.trees().add(reading.tree().get());
      return;
    }
    QuotaTree before = lastGood.get(key);
    if (before == null) {
      result.readable().remove(key);
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

  private static ObjectReference reference(HasMetadata object) {
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
