package dev.sluice.api.crd;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A rule that a definition's schema states as an expression.
 *
 * @param kind the kind it belongs to
 * @param field an expression for the path of the field that the API server names
 * @param words parts of the message that don't depend on the object
 * @param rule the expression
 */
public record SchemaRule(String kind, String field, List<String> words, String rule) {

  private static final Pattern LITERAL = Pattern.compile("'([^']*)'");

  /** Shorter ones are parts of the computation, such as the default of an absent field. */
  private static final int SHORTEST = 12;

  /** All rules of the definitions in a version. */
  public static List<SchemaRule> all(String version) {
    List<SchemaRule> rules = new ArrayList<>();
    ObjectMapper yaml = new YAMLMapper();
    try {
      for (String text : new CrdFiles().all().values()) {
        JsonNode spec = yaml.readTree(text).path("spec");
        for (JsonNode served : spec.path("versions")) {
          if (served.path("name").asText().equals(version)) {
            add(spec.at("/names/kind").asText(), served.at("/schema/openAPIV3Schema"), rules);
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return rules;
  }

  private static void add(String kind, JsonNode schema, List<SchemaRule> rules) {
    for (SchemaPlace place : SchemaPlace.of(schema)) {
      for (JsonNode rule : place.schema().path("x-kubernetes-validations")) {
        String below = rule.path("fieldPath").asText();
        String field =
            path(place.steps())
                + Pattern.quote(place.steps().isEmpty() ? below.replaceFirst("^\\.", "") : below);
        rules.add(new SchemaRule(kind, field, words(rule), rule.path("rule").asText()));
      }
    }
  }

  private static String path(List<String> steps) {
    StringBuilder path = new StringBuilder();
    for (String step : steps) {
      switch (step) {
        case "[]" -> path.append("\\[\\d+\\]");
        case "{}" -> path.append("\\..+");
        default -> path.append(path.isEmpty() ? "" : "\\.").append(step);
      }
    }
    return path.toString();
  }

  private static List<String> words(JsonNode rule) {
    if (rule.has("message")) {
      return List.of(rule.path("message").asText());
    }
    List<String> words = new ArrayList<>();
    Matcher literals = LITERAL.matcher(rule.path("messageExpression").asText());
    while (literals.find()) {
      for (String part : literals.group(1).split("%[ds]")) {
        if (part.length() >= SHORTEST) {
          words.add(part);
        }
      }
    }
    return words;
  }

  /** Whether the API server's answer says that an object of this kind breaks this rule. */
  public boolean isBrokenIn(JsonNode answer) {
    return answer.at("/details/kind").asText().equals(kind)
        && answer.at("/details/causes").valueStream().anyMatch(this::isBrokenAt);
  }

  private boolean isBrokenAt(JsonNode cause) {
    String named = cause.path("field").asText();
    String message = cause.path("message").asText();
    return named.matches(field) && !words.isEmpty() && words.stream().allMatch(message::contains);
  }

  @Override
  public String toString() {
    return "%s %s: %s".formatted(kind, field, words);
  }
}
