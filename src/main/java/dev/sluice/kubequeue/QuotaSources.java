package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.events.ObjectReference;
import dev.sluice.kubequeue.SourceObjects.Kind;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

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
   * @param frozen kinds of sources that can't be used
   * @param notes for the people who wrote the sources
   */
  record Reading(List<QuotaTree> trees, Set<String> frozen, List<SourceNote> notes) {}

  /** A note about a source. */
  record SourceNote(ObjectReference about, String reason, String note) {}

  /** Reads the sources. */
  Reading read(SourceObjects objects) {
    List<QuotaTree> trees = new ArrayList<>();
    Set<String> frozen = new HashSet<>();
    List<SourceNote> notes = new ArrayList<>();
    Reading result = new Reading(trees, frozen, notes);
    readTree(objects.all(Kind.TREE).stream().sorted(age()).toList(), result);
    return result;
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
    if (reading.tree().isPresent()) {
      lastGood.put(key, reading.tree().get());
      result.trees().add(reading.tree().get());
      return;
    }
    result
        .notes()
        .add(new SourceNote(reference(object), INVALID, String.join("; ", reading.faults())));
    QuotaTree before = lastGood.get(key);
    if (before == null) {
      result.frozen().add(key);
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
    Kind kind = source.kind().equals(QuotaTreeReader.KIND) ? Kind.TREE : Kind.QUEUE;
    return new ObjectReference(
        kind.apiVersion(), kind.kind(), source.namespace(), source.name(), source.uid());
  }
}
