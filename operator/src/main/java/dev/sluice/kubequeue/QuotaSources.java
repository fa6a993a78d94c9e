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

  /** The reason of an event about a source that is used although a rule is broken. */
  static final String EXCEEDED = "GuaranteeExceeded";

  /** The reason of an event about what has no effect. */
  static final String UNSUPPORTED = "UnsupportedAttribute";

  private static final String RESOURCE_QUOTAS = ResourceQuotaReader.KIND + " ";

  private final Map<String, List<QuotaTree>> lastGood = new HashMap<>();
  private final boolean plain;

  /**
   * Has read nothing yet.
   *
   * @param plain whether ResourceQuotas are queues without being asked for
   */
  QuotaSources(boolean plain) {
    this.plain = plain;
  }

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
    use(kind, kind, read.reading().tree().stream().toList(), result);
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
      quotas.computeIfAbsent(source.namespace(), any -> new ArrayList<>()).add(quota(source, each));
    }
    Set<String> keys = new HashSet<>();
    quotas.forEach(
        (namespace, all) -> {
          ResourceQuotaReader.Chosen chosen =
              ResourceQuotaReader.chosen(all, queues.getOrDefault(namespace, Set.of()), plain);
          chosen
              .notes()
              .forEach(
                  (source, text) ->
                      note(
                          Objects.requireNonNull(bySource.get(source)),
                          INVALID,
                          List.of(text),
                          result));
          if (!chosen.all().isEmpty()) {
            keys.add(RESOURCE_QUOTAS + namespace);
            readNamespace(RESOURCE_QUOTAS + namespace, chosen, bySource, result);
          }
        });
    lastGood.keySet().removeIf(key -> key.startsWith(RESOURCE_QUOTAS) && !keys.contains(key));
  }

  private void readNamespace(
      String key,
      ResourceQuotaReader.Chosen chosen,
      Map<QuotaSource, GenericKubernetesResource> bySource,
      Reading result) {
    Map<QuotaSource, List<String>> faults = new LinkedHashMap<>();
    List<QuotaTree> trees = ResourceQuotaReader.read(chosen, faults);
    faults.forEach(
        (source, texts) ->
            note(Objects.requireNonNull(bySource.get(source)), INVALID, texts, result));
    use(key, ResourceQuotaReader.KIND, faults.isEmpty() ? trees : List.of(), result);
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
    use(key, key, reading.tree().stream().toList(), result);
  }

  /** The trees that were read; none: what was read last counts. */
  private void use(String key, String kind, List<QuotaTree> trees, Reading result) {
    if (!trees.isEmpty()) {
      lastGood.put(key, trees);
      result.trees().addAll(trees);
      return;
    }
    List<QuotaTree> before = lastGood.get(key);
    if (before == null) {
      result.readable().remove(kind);
    } else {
      result.trees().addAll(before);
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
        Objects.requireNonNullElse(object.getMetadata().getUid(), ""),
        kind.equals(ResourceQuotaReader.KIND) ? scopes(object) : "");
  }

  private static String scopes(HasMetadata resourceQuota) {
    return resourceQuota instanceof GenericKubernetesResource generic
        ? PodScopes.of(json(generic).path("spec")).map(PodScopes::text).orElse("")
        : "";
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
