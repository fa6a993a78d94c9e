package dev.sluice.webhooks.registration;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * An expression that reads a field which a request doesn't have fails, and the API server then
 * refuses the request. So what may be absent is only read behind a guard.
 */
class MatchConditionGuardsTest {

  /** What every request has, by the API of admission. */
  private static final Set<String> ALWAYS =
      Set.of("uid", "kind", "resource", "operation", "userInfo");

  private static final Pattern OF_REQUEST = Pattern.compile("\\brequest\\.(\\?)?(\\w+)");
  private static final Pattern OF_OBJECT = Pattern.compile("(?<![.\\w])(object|oldObject)\\.");

  /**
   * A match condition as shipped.
   *
   * @param where webhook and name of the condition
   * @param operations of all rules
   */
  record Condition(String where, Set<String> operations, String expression) {}

  static Stream<Condition> conditions() throws IOException {
    List<Condition> found = new ArrayList<>();
    for (String document : Files.readString(Path.of("deploy/sluice.yaml")).split("\n---\n")) {
      JsonNode object = JsonMappers.YAML.readTree(document);
      for (JsonNode webhook : object.path("webhooks")) {
        Set<String> operations = Set.copyOf(texts(webhook.path("rules"), "operations"));
        for (JsonNode each : webhook.path("matchConditions")) {
          found.add(
              new Condition(
                  webhook.path("name").asText() + " " + each.path("name").asText(),
                  operations,
                  each.path("expression").asText()));
        }
      }
    }
    return found.stream();
  }

  private static List<String> texts(JsonNode rules, String field) {
    List<String> texts = new ArrayList<>();
    rules.forEach(rule -> rule.path(field).forEach(text -> texts.add(text.asText())));
    return texts.stream().distinct().toList();
  }

  @Test
  void thereAreConditions() throws IOException {
    assertThat(conditions()).hasSizeGreaterThan(20);
  }

  @ParameterizedTest
  @MethodSource("conditions")
  void whatMayBeAbsentIsReadBehindAGuard(Condition condition) {
    assertThat(unguarded(condition.expression(), condition.operations()))
        .as(condition.where())
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      value = {
        "request.subResource == 'resize' ; UPDATE ; request.subResource",
        "has(request.subResource) || request.subResource == 'x' ; UPDATE ; request.subResource",
        "(has(request.name) && true) && request.name == 'x' ; UPDATE ; request.name",
        "has(request.name) && request.options.x == 'x' ; UPDATE ; request.options",
        "oldObject.spec != object.spec ; UPDATE,CREATE ; oldObject.",
        "oldObject == null && oldObject.spec ; CREATE ; oldObject.",
        "object.spec ; DELETE ; object.",
        "has(object.metadata.labels) ; UPDATE,DELETE ; object.",
        "has(request.subResource) && request.subResource == 'x' ; UPDATE ; ``",
        "has(request.name) && (true || request.name == 'x') ; UPDATE ; ``",
        "request.?subResource.orValue('') == 'x' ; UPDATE ; ``",
        "request.operation == 'CREATE' || request.userInfo.username != 'x' ; UPDATE ; ``",
        "oldObject == null || object.spec != oldObject.spec ; UPDATE,CREATE ; ``",
        "oldObject != null && oldObject.spec == 1 ; UPDATE,CREATE ; ``",
        "oldObject.spec != object.spec ; UPDATE ; ``",
      })
  void guardsAreRecognized(String expression, String operations, String found) {
    assertThat(unguarded(expression, Set.of(operations.split(","))))
        .containsExactlyElementsOf(found.isEmpty() ? List.of() : List.of(found));
  }

  /** What is read without a guard although it may be absent. */
  private static List<String> unguarded(String expression, Set<String> operations) {
    List<String> bad = new ArrayList<>();
    Matcher request = OF_REQUEST.matcher(expression);
    while (request.find()) {
      String field = "request." + request.group(2);
      boolean guards = expression.startsWith("has(", Math.max(0, request.start() - 4));
      if (!ALWAYS.contains(request.group(2))
          && request.group(1) == null
          && !guards
          && !isBehind(expression, "has(" + field + ") &&", request.start())) {
        bad.add(field);
      }
    }
    Matcher object = OF_OBJECT.matcher(expression);
    while (object.find()) {
      String name = object.group(1);
      boolean always =
          name.equals("object")
              ? !operations.contains("DELETE") && !operations.contains("CONNECT")
              : Set.of("UPDATE", "DELETE").containsAll(operations);
      if (!always
          && !isBehind(expression, name + " == null ||", object.start())
          && !isBehind(expression, name + " != null &&", object.start())) {
        bad.add(name + ".");
      }
    }
    return bad;
  }

  /**
   * Whether a guard is before a place, in the same parentheses or in outer ones, and no operator
   * ends what it guards.
   */
  private static boolean isBehind(String expression, String guard, int place) {
    for (int at = expression.indexOf(guard);
        at >= 0 && at < place;
        at = expression.indexOf(guard, at + 1)) {
      if (guards(expression.substring(at + guard.length(), place), guard.endsWith("&&"))) {
        return true;
      }
    }
    return false;
  }

  private static boolean guards(String between, boolean conjunction) {
    int depth = 0;
    for (int i = 0; i < between.length(); i++) {
      char c = between.charAt(i);
      depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
      if (depth < 0 || (conjunction && depth == 0 && between.startsWith("||", i))) {
        return false;
      }
    }
    return true;
  }
}
