package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Which pods of its namespace a ResourceQuota is about: all that meet each of its scopes. Judged by
 * pod templates, with the rules of the API server for pods.
 *
 * @param requirements the scopes; none: it is about all pods
 */
record PodScopes(List<Requirement> requirements) {

  /** About all pods. */
  static final PodScopes ALL = new PodScopes(List.of());

  private static final String EXISTS = "Exists";
  private static final String BETWEEN = "; ";

  /** The scopes that pods are judged by. */
  private static final Set<String> KNOWN =
      Set.of(
          "Terminating",
          "NotTerminating",
          "BestEffort",
          "NotBestEffort",
          "PriorityClass",
          "CrossNamespacePodAffinity");

  private static final Set<String> MAKE_QUALITY = Set.of("cpu", "memory");
  private static final Pattern ZERO = Pattern.compile("0*\\.?0*[a-zA-Z]{0,2}");

  /** One scope. */
  record Requirement(String scope, String operator, List<String> values) {

    private String text() {
      boolean plain = operator.equals(EXISTS);
      return plain ? scope : scope + " " + operator + String.join("", prefixed(values));
    }

    private static List<String> prefixed(List<String> values) {
      return values.stream().map(value -> " " + value).toList();
    }
  }

  PodScopes {
    requirements = List.copyOf(requirements);
  }

  /** The scopes of a quota; empty if one of them isn't about pods, or isn't known. */
  static Optional<PodScopes> of(JsonNode spec) {
    List<Requirement> found = new ArrayList<>();
    for (JsonNode scope : spec.path("scopes")) {
      found.add(new Requirement(scope.asText(), EXISTS, List.of()));
    }
    for (JsonNode each : spec.path("scopeSelector").path("matchExpressions")) {
      List<String> values = new ArrayList<>();
      each.path("values").forEach(value -> values.add(value.asText()));
      found.add(
          new Requirement(each.path("scopeName").asText(), each.path("operator").asText(), values));
    }
    return found.stream().allMatch(each -> KNOWN.contains(each.scope()))
        ? Optional.of(new PodScopes(found))
        : Optional.empty();
  }

  /** The scopes that {@link #text} wrote. */
  static PodScopes parse(String text) {
    List<Requirement> found = new ArrayList<>();
    for (String each : text.isEmpty() ? new String[0] : text.split(BETWEEN, -1)) {
      List<String> words = List.of(each.split(" ", -1));
      found.add(
          new Requirement(
              words.getFirst(),
              words.size() > 1 ? words.get(1) : EXISTS,
              words.size() > 2 ? words.subList(2, words.size()) : List.of()));
    }
    return new PodScopes(found);
  }

  /** The scopes in one line, such as {@code NotTerminating; PriorityClass In high urgent}. */
  String text() {
    return String.join(BETWEEN, requirements.stream().map(Requirement::text).toList());
  }

  /** Whether pods of this template are meant. */
  boolean include(JsonNode template) {
    JsonNode spec = template.path("spec");
    return requirements.stream().allMatch(each -> isMet(each, spec));
  }

  private static boolean isMet(Requirement requirement, JsonNode spec) {
    return switch (requirement.scope()) {
      case "Terminating" -> isTerminating(spec);
      case "NotTerminating" -> !isTerminating(spec);
      case "BestEffort" -> isBestEffort(spec);
      case "NotBestEffort" -> !isBestEffort(spec);
      case "CrossNamespacePodAffinity" -> crossesNamespaces(spec);
      case "PriorityClass" -> hasPriorityClass(requirement, spec);
      default -> false;
    };
  }

  private static boolean hasPriorityClass(Requirement requirement, JsonNode spec) {
    String name = spec.path("priorityClassName").asText();
    return switch (requirement.operator()) {
      case EXISTS -> !name.isEmpty();
      case "DoesNotExist" -> name.isEmpty();
      case "In" -> !name.isEmpty() && requirement.values().contains(name);
      case "NotIn" -> name.isEmpty() || !requirement.values().contains(name);
      default -> false;
    };
  }

  private static boolean isTerminating(JsonNode spec) {
    JsonNode deadline = spec.path("activeDeadlineSeconds");
    return deadline.isNumber() && deadline.asLong() >= 0;
  }

  private static boolean isBestEffort(JsonNode spec) {
    return Stream.of(
            Stream.of(spec), stream(spec.path("containers")), stream(spec.path("initContainers")))
        .flatMap(each -> each)
        .map(each -> each.path("resources"))
        .noneMatch(
            each -> makesQuality(each.path("requests")) || makesQuality(each.path("limits")));
  }

  private static boolean makesQuality(JsonNode amounts) {
    return amounts.properties().stream()
        .anyMatch(
            each ->
                MAKE_QUALITY.contains(each.getKey())
                    && !ZERO.matcher(each.getValue().asText()).matches());
  }

  private static boolean crossesNamespaces(JsonNode spec) {
    return Stream.of("podAffinity", "podAntiAffinity")
        .map(each -> spec.path("affinity").path(each))
        .flatMap(
            each ->
                Stream.concat(
                    stream(each.path("requiredDuringSchedulingIgnoredDuringExecution")),
                    stream(each.path("preferredDuringSchedulingIgnoredDuringExecution"))
                        .map(preferred -> preferred.path("podAffinityTerm"))))
        .anyMatch(term -> !term.path("namespaces").isEmpty() || term.has("namespaceSelector"));
  }

  private static Stream<JsonNode> stream(JsonNode array) {
    List<JsonNode> all = new ArrayList<>();
    array.forEach(all::add);
    return all.stream();
  }
}
