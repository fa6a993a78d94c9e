package dev.sluice.jobs.kind;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.sluice.api.KubernetesNames;
import dev.sluice.api.config.DeclaredJobKind;
import dev.sluice.api.config.DeclaredJobKind.PodSets;
import dev.sluice.api.config.DeclaredJobKind.Sign;
import dev.sluice.api.json.JsonFields;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** A kind of jobs that a JobKind declares by paths of its fields. */
public final class DeclaredJob extends TemplatedJob {

  private final DeclaredJobKind declaredKind;
  private final JobKind kind;

  /** Of a kind that was read without faults. */
  public DeclaredJob(DeclaredJobKind declaredKind) {
    this.declaredKind = declaredKind;
    kind =
        new JobKind(
            declaredKind.group(),
            declaredKind.version(),
            declaredKind.kind(),
            declaredKind.plural(),
            declaredKind.framework());
  }

  @Override
  public JobKind kind() {
    return kind;
  }

  @Override
  public List<String> suspendField() {
    return declaredKind.suspendField();
  }

  @Override
  public List<String> managedByField() {
    return declaredKind.managedByField();
  }

  /** A pod set of an object: where it is, and the pod set that the entry declares. */
  private record Place(String name, JsonPointer entry, PodSets podSets) {

    JsonPointer template() {
      return below(entry, podSets.template());
    }

    JsonPointer count() {
      return below(entry, podSets.count());
    }
  }

  private static JsonPointer below(JsonPointer start, List<String> path) {
    JsonPointer pointer = start;
    for (String field : path) {
      pointer = pointer.appendProperty(field);
    }
    return pointer;
  }

  private List<Place> places(JsonNode object) {
    List<Place> places = new ArrayList<>();
    for (PodSets each : declaredKind.podSets()) {
      if (each.forEach().isEmpty()) {
        places.add(new Place(each.name(), JsonPointer.empty(), each));
        continue;
      }
      JsonPointer start = below(JsonPointer.empty(), each.forEach());
      JsonNode entries = object.at(start);
      if (entries.isArray()) {
        for (int i = 0; i < entries.size() && places.size() <= PodSetTemplate.MOST; i++) {
          String name = text(entries.get(i), each.nameField());
          places.add(new Place(name, start.appendIndex(i), each));
        }
      } else if (entries.isObject()) {
        entries.properties().stream()
            .limit(PodSetTemplate.MOST + 1L)
            .forEach(
                entry ->
                    places.add(
                        new Place(
                            each.nameField().isEmpty()
                                ? entry.getKey()
                                : text(entry.getValue(), each.nameField()),
                            start.appendProperty(entry.getKey()),
                            each)));
      }
    }
    return places;
  }

  private static String text(JsonNode node, List<String> path) {
    return JsonFields.text(node, path.toArray(String[]::new));
  }

  @Override
  protected List<PodSetSlot> slots(JsonNode object) {
    return places(object).stream()
        .map(
            place ->
                PodSetSlot.of(
                    object,
                    place.name().toLowerCase(Locale.ROOT),
                    count(object, place),
                    place.template().toString(),
                    Index.of(place.podSets().indexLabel())))
        .toList();
  }

  private static long count(JsonNode object, Place place) {
    JsonNode count = object.at(place.count());
    return place.podSets().count().isEmpty() || count.isMissingNode() || count.isNull()
        ? 1
        : count.asLong();
  }

  @Override
  public List<InvalidField> validate(JsonNode object, boolean elastic) {
    List<InvalidField> invalid = new ArrayList<>(uncounted(object));
    JsonNode name = object.path("metadata").path("name");
    if (elastic && !KubernetesNames.isLabelValue(name.asText())) {
      invalid.add(
          new InvalidField(
              "metadata.name",
              name,
              "must be the value of a label, by which the pods of an elastic job name it: "
                  + KubernetesNames.LABEL_VALUE_RULE));
    }
    return invalid;
  }

  @Override
  public boolean canBeElastic() {
    return !declaredKind.podLabel().isEmpty();
  }

  @Override
  public Optional<String> podSelector(JsonNode object) {
    String name = object.path("metadata").path("name").asText();
    return canBeElastic() && !name.isEmpty() && KubernetesNames.isLabelValue(name)
        ? Optional.of(declaredKind.podLabel() + "=" + name)
        : Optional.empty();
  }

  /** A pod set of which no field tells the number of pods has one, always. */
  @Override
  public boolean keepsSize(String podSet) {
    return declaredKind.podSets().stream()
        .anyMatch(each -> each.name().equals(podSet) && each.count().isEmpty());
  }

  /** What the kind's controller would make pods of, and what can't be read as the kind says. */
  @Override
  protected List<InvalidField> uncounted(JsonNode object) {
    List<InvalidField> uncounted = new ArrayList<>();
    List<Place> places = places(object);
    if (places.size() > PodSetTemplate.MOST) {
      uncounted.add(
          new InvalidField(
              "spec",
              object.path("spec"),
              "must have at most " + PodSetTemplate.MOST + " pod sets"));
    }
    for (PodSets each : declaredKind.podSets()) {
      JsonPointer list = below(JsonPointer.empty(), each.forEach());
      JsonNode entries = object.at(list);
      if (!each.forEach().isEmpty()
          && !entries.isMissingNode()
          && !entries.isNull()
          && !entries.isContainerNode()) {
        uncounted.add(
            new InvalidField(InvalidField.path(list), entries, "must be a list or a map"));
      }
    }
    Set<String> names = new HashSet<>();
    for (Place place : places) {
      String name = place.name().toLowerCase(Locale.ROOT);
      JsonNode template = object.at(place.template());
      JsonNode count = object.at(place.count());
      if (!KubernetesNames.isDnsLabel(name) || !names.add(name)) {
        uncounted.add(
            new InvalidField(
                InvalidField.path(place.template()),
                TextNode.valueOf(place.name()),
                "must be of a pod set that is named as no other: "
                    + KubernetesNames.DNS_LABEL_RULE));
      }
      if (!template.path("spec").isObject()) {
        uncounted.add(
            new InvalidField(
                InvalidField.path(place.template()), template, "must be a pod template"));
      }
      if (!place.podSets().count().isEmpty() && !isCount(count)) {
        uncounted.add(
            new InvalidField(
                InvalidField.path(place.count()), count, "must be a whole number of at least 0"));
      }
    }
    return uncounted;
  }

  private static boolean isCount(JsonNode count) {
    return count.isMissingNode()
        || count.isNull()
        || count.isIntegralNumber() && count.canConvertToInt() && count.asInt() >= 0;
  }

  @Override
  protected boolean active(JsonNode object) {
    return isTold(object, declaredKind.status().running());
  }

  @Override
  protected boolean podsReady(JsonNode object) {
    return isTold(object, declaredKind.status().ready());
  }

  @Override
  protected Optional<JobState.End> end(JsonNode object) {
    return end(object, declaredKind.status().succeeded(), true)
        .or(() -> end(object, declaredKind.status().failed(), false));
  }

  private Optional<JobState.End> end(JsonNode object, List<Sign> signs, boolean succeeded) {
    return signs.stream()
        .filter(sign -> isTold(object, sign))
        .findFirst()
        .map(
            sign -> {
              List<String> field = declaredKind.status().messageField();
              String message = field.isEmpty() ? "" : text(object, field);
              return new JobState.End(
                  succeeded,
                  message.isEmpty()
                      ? JobConditions.whenTrue(object, sign.condition())
                          .map(condition -> JsonFields.text(condition, "message"))
                          .orElse("")
                      : message);
            });
  }

  private static boolean isTold(JsonNode object, List<Sign> signs) {
    return signs.stream().anyMatch(sign -> isTold(object, sign));
  }

  private static boolean isTold(JsonNode object, Sign sign) {
    if (!sign.condition().isEmpty()) {
      return JobConditions.isTrue(object, sign.condition());
    }
    JsonNode value = object.at(below(JsonPointer.empty(), sign.field()));
    return sign.values().isEmpty()
        ? value.isNumber() && value.asDouble() > 0 || value.isBoolean() && value.asBoolean()
        : value.isTextual() && sign.values().contains(value.asText());
  }
}
