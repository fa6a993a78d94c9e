package dev.sluice.api.sluice;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.KubernetesNames;
import dev.sluice.api.config.DeclaredJobKind;
import dev.sluice.api.config.DeclaredJobKind.PodSets;
import dev.sluice.api.config.DeclaredJobKind.Sign;
import dev.sluice.api.config.DeclaredJobKind.Status;
import dev.sluice.api.json.JsonFields;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Reads the spec of a JobKind, whoever wrote it, and says what is wrong with it
 * (docs/declared-kinds.md). Never throws; the time is linear in the length of the spec.
 */
public final class JobKindReader {

  /** The name of the resource. */
  public static final String PLURAL = "jobkinds";

  private static final int MOST_ITEMS = 16;
  private static final int MOST_CHARACTERS = 253;
  private static final int MOST_KIND = 63;
  private static final Pattern KIND = Pattern.compile("[A-Z][A-Za-z0-9]*");
  private static final Pattern FIELD = Pattern.compile("[A-Za-z_$][A-Za-z0-9_$-]*");
  private static final String PATH_RULE =
      "must be a dot and the name of a field, up to 16 times, such as .spec.template";
  private static final String SIGN_RULE =
      "must have condition, or field, which may have 1 to 16 values";

  /** Groups whose kinds nobody else starts or stops. */
  private static final Set<String> OWN_GROUPS = Set.of(ApiVersions.GROUP, ApiVersions.SLUICE_GROUP);

  /**
   * A spec that was read.
   *
   * @param declaration what it says; empty if anything is wrong
   * @param faults what is wrong
   */
  public record Reading(Optional<DeclaredJobKind> declaration, List<SpecFault> faults) {

    public Reading {
      faults = List.copyOf(faults);
    }
  }

  private final List<SpecFault> faults = new ArrayList<>();

  private JobKindReader() {}

  /**
   * Reads an object.
   *
   * @param name the name of the object
   */
  public static Reading read(String name, JsonNode spec) {
    return new JobKindReader().of(name, spec);
  }

  private Reading of(String name, JsonNode spec) {
    int dot = name.indexOf('.');
    String group = name.substring(dot + 1);
    if (dot <= 0 || group.indexOf('.') < 0 || !KubernetesNames.isSubdomain(name)) {
      fault("metadata.name", name, "must be plural and group of the kind, as its definition has");
    } else if (OWN_GROUPS.contains(group)) {
      fault("metadata.name", name, "must not be of a group whose objects are no jobs");
    }
    String version = JsonFields.text(spec, "version");
    if (!KubernetesNames.isDns1035Label(version)) {
      fault("spec.version", version, "must be a version such as v1");
    }
    String kind = JsonFields.text(spec, "kind");
    if (kind.length() > MOST_KIND || !KIND.matcher(kind).matches()) {
      fault("spec.kind", kind, "must be a kind such as Flow, of at most 63 characters");
    }
    List<String> suspend =
        spec.has("suspendField")
            ? path("spec.suspendField", spec.path("suspendField"))
            : List.of("spec", "suspend");
    List<String> managedBy = optional("spec.managedByField", spec.path("managedByField"));
    String podLabel = label("spec.podLabel", spec, "podLabel");
    List<PodSets> podSets = podSets(spec.path("podSets"));
    Status status = status(spec.path("status"));
    return new Reading(
        faults.isEmpty()
            ? Optional.of(
                new DeclaredJobKind(
                    name, version, kind, suspend, managedBy, podLabel, podSets, status))
            : Optional.empty(),
        faults);
  }

  private void fault(String path, String value, String rule) {
    faults.add(new SpecFault(path, value, rule));
  }

  /** The entries of a list of 1 to 16; none, and a fault, for another. */
  private List<JsonNode> items(String path, JsonNode list) {
    if (!list.isArray() || list.isEmpty() || list.size() > MOST_ITEMS) {
      fault(path, Integer.toString(list.size()), "must have 1 to 16 entries");
      return List.of();
    }
    List<JsonNode> items = new ArrayList<>();
    list.forEach(items::add);
    return items;
  }

  private List<PodSets> podSets(JsonNode list) {
    List<PodSets> podSets = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (JsonNode each : items("spec.podSets", list)) {
      String path = "spec.podSets[" + podSets.size() + "]";
      String name = JsonFields.text(each, "name");
      List<String> forEach = optional(path + ".forEach", each.path("forEach"));
      if (each.has("name") == each.has("forEach")) {
        fault(path, name, "must have either name or forEach");
      } else if (each.has("name") && !KubernetesNames.isDnsLabel(name)) {
        fault(path + ".name", name, KubernetesNames.DNS_LABEL_RULE);
      } else if (!name.isEmpty() && !names.add(name)) {
        fault(path + ".name", name, "must be another one than those before");
      }
      if (each.has("nameField") && !each.has("forEach")) {
        fault(path + ".nameField", JsonFields.text(each, "nameField"), "needs forEach");
      }
      podSets.add(
          new PodSets(
              name,
              forEach,
              optional(path + ".nameField", each.path("nameField")),
              path(path + ".template", each.path("template")),
              optional(path + ".count", each.path("count")),
              label(path + ".indexLabel", each, "indexLabel")));
    }
    return podSets;
  }

  private Status status(JsonNode status) {
    List<Sign> running = signs("running", status);
    return new Status(
        running,
        status.has("ready") ? signs("ready", status) : running,
        signs("succeeded", status),
        signs("failed", status),
        optional("spec.status.messageField", status.path("messageField")));
  }

  private List<Sign> signs(String field, JsonNode status) {
    List<Sign> signs = new ArrayList<>();
    for (JsonNode each : items("spec.status." + field, status.path(field))) {
      signs.add(sign("spec.status." + field + "[" + signs.size() + "]", each));
    }
    return signs;
  }

  private Sign sign(String path, JsonNode sign) {
    String condition = JsonFields.text(sign, "condition");
    JsonNode listed = sign.path("values");
    List<String> values = JsonFields.texts(sign, "values");
    boolean isCondition = !condition.isEmpty();
    if (isCondition == sign.has("field")
        || condition.length() > MOST_CHARACTERS
        || sign.has("values")
            && (isCondition
                || values.isEmpty()
                || values.size() != listed.size()
                || values.size() > MOST_ITEMS)) {
      fault(path, condition, SIGN_RULE);
    }
    return new Sign(condition, optional(path + ".field", sign.path("field")), values);
  }

  /** The key of a label; empty if the field isn't there. */
  private String label(String path, JsonNode holder, String field) {
    String key = JsonFields.text(holder, field);
    if (holder.has(field) && !KubernetesNames.isLabelKey(key)) {
      fault(path, key, KubernetesNames.LABEL_KEY_RULE);
    }
    return key;
  }

  private List<String> optional(String path, JsonNode value) {
    return value.isMissingNode() ? List.of() : path(path, value);
  }

  private List<String> path(String path, JsonNode value) {
    String text = value.asText();
    List<String> fields =
        value.isTextual() && text.length() <= MOST_CHARACTERS && text.startsWith(".")
            ? Stream.of(text.substring(1).split("\\.", -1)).toList()
            : List.of();
    if (fields.isEmpty()
        || fields.size() > MOST_ITEMS
        || !fields.stream().allMatch(field -> FIELD.matcher(field).matches())) {
      fault(path, text, PATH_RULE);
    }
    return fields;
  }
}
