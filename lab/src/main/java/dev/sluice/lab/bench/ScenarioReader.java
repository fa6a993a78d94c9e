package dev.sluice.lab.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.lab.bench.Scenario.Form;
import dev.sluice.lab.bench.Scenario.Nodes;
import dev.sluice.lab.bench.Scenario.PodPlacing;
import dev.sluice.lab.bench.Scenario.Queue;
import dev.sluice.lab.bench.Scenario.WorkClass;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Reads scenarios: built-in ones by name, others from files. */
public final class ScenarioReader {

  /** The names of the built-in scenarios. */
  public static final List<String> BUILT_IN =
      List.of(
          "baseline",
          "large",
          "jobs",
          "jobs-small",
          "jobs-mini",
          "jobs-topology",
          "baseline-small",
          "topology",
          "mini",
          "mini-topology");

  private static final List<String> RECLAIM = List.of("Never", "LowerPriority", "Any");
  private static final List<String> WITHIN =
      List.of("Never", "LowerPriority", "LowerOrNewerEqualPriority");

  private ScenarioReader() {}

  /**
   * The scenario of a name or file.
   *
   * @throws BenchException when it does not exist or is invalid
   */
  public static Scenario find(String nameOrFile) {
    if (BUILT_IN.contains(nameOrFile)) {
      return builtIn(nameOrFile);
    }
    Path file = Path.of(nameOrFile);
    if (!Files.isRegularFile(file)) {
      throw new BenchException(
          "scenario \"%s\": neither a file nor one of %s"
              .formatted(nameOrFile, String.join(", ", BUILT_IN)));
    }
    try {
      return parse(String.valueOf(file.getFileName()), Files.readString(file));
    } catch (IOException e) {
      throw new BenchException("can't read scenario " + file + ": " + e.getMessage(), e);
    }
  }

  private static Scenario builtIn(String name) {
    try (InputStream in = ScenarioReader.class.getResourceAsStream("/bench/" + name + ".yaml")) {
      if (in == null) {
        throw new IllegalStateException("/bench/" + name + ".yaml is not on the class path");
      }
      return parse(name, new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new BenchException("can't read scenario " + name, e);
    }
  }

  /**
   * Parses a scenario.
   *
   * @throws BenchException with field, value and what is allowed
   */
  static Scenario parse(String name, String yaml) {
    JsonNode root;
    try {
      root = JsonMappers.YAML.readTree(yaml);
    } catch (JsonProcessingException e) {
      throw new BenchException("scenario " + name + " is no YAML: " + e.getOriginalMessage(), e);
    }
    Section top = new Section(name, "", root);
    top.allow(
        "description",
        "form",
        "cohorts",
        "clusterQueuesPerCohort",
        "clusterQueue",
        "nodes",
        "classes");
    return new Scenario(
        name,
        root.path("description").asText(""),
        form(top),
        top.number("cohorts", 1, 1000),
        top.number("clusterQueuesPerCohort", 1, 10_000),
        queue(new Section(name, "clusterQueue.", root.path("clusterQueue"))),
        root.has("nodes")
            ? Optional.of(nodes(new Section(name, "nodes.", root.path("nodes"))))
            : Optional.empty(),
        classes(name, root.path("classes")));
  }

  private static Form form(Section section) {
    String word = section.word("form", List.of(Form.WORKLOAD.word(), Form.JOB.word()));
    return word.equals(Form.JOB.word()) ? Form.JOB : Form.WORKLOAD;
  }

  private static Queue queue(Section section) {
    section.allow("nominalCpu", "borrowingLimitCpu", "reclaimWithinCohort", "withinClusterQueue");
    return new Queue(
        section.number("nominalCpu", 1, 1_000_000),
        section.number("borrowingLimitCpu", 0, 1_000_000),
        section.word("reclaimWithinCohort", RECLAIM),
        section.word("withinClusterQueue", WITHIN));
  }

  private static Nodes nodes(Section section) {
    section.allow("racks", "perRack", "cpu");
    return new Nodes(
        section.number("racks", 1, 10_000),
        section.number("perRack", 1, 10_000),
        section.number("cpu", 1, 1_000_000));
  }

  private static PodPlacing placement(Section section) {
    String word =
        section.json().has("placement")
            ? section.word(
                "placement", Arrays.stream(PodPlacing.values()).map(PodPlacing::word).toList())
            : "";
    return Arrays.stream(PodPlacing.values())
        .filter(each -> each.word().equals(word))
        .findFirst()
        .orElse(PodPlacing.ANYWHERE);
  }

  private static List<WorkClass> classes(String scenario, JsonNode list) {
    if (!list.isArray() || list.isEmpty()) {
      throw new BenchException(
          "scenario %s: classes: must be a list of at least one".formatted(scenario));
    }
    List<WorkClass> classes = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (JsonNode each : list) {
      Section section = new Section(scenario, "classes[" + classes.size() + "].", each);
      section.allow(
          "name", "count", "pods", "placement", "cpu", "priority", "runMillis", "everyMillis");
      WorkClass parsed =
          new WorkClass(
              each.path("name").asText(""),
              section.number("count", 1, 1_000_000),
              each.has("pods") ? section.number("pods", 1, 100_000) : 1,
              placement(section),
              section.number("cpu", 1, 1_000_000),
              section.number("priority", Integer.MIN_VALUE, Integer.MAX_VALUE),
              section.number("runMillis", 0, 86_400_000),
              section.number("everyMillis", 0, 86_400_000));
      if (!parsed.name().matches("[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?")
          || !names.add(parsed.name())) {
        throw section.wrong(
            "name", parsed.name(), "a DNS label of at most 32 characters, unlike the others");
      }
      classes.add(parsed);
    }
    return classes;
  }

  /** A section of a scenario; {@code prefix} is its path in messages. */
  private record Section(String scenario, String prefix, JsonNode json) {

    void allow(String... fields) {
      List<String> allowed = List.of(fields);
      json.fieldNames()
          .forEachRemaining(
              field -> {
                if (!allowed.contains(field)) {
                  throw new BenchException(
                      "scenario %s: %s%s: unknown field; known are %s"
                          .formatted(scenario, prefix, field, String.join(", ", allowed)));
                }
              });
    }

    int number(String field, int least, int most) {
      JsonNode value = json.path(field);
      if (!value.canConvertToInt()
          || !value.isIntegralNumber()
          || value.asInt() < least
          || value.asInt() > most) {
        throw wrong(field, value.asText("nothing"), "a whole number, " + least + " to " + most);
      }
      return value.asInt();
    }

    String word(String field, List<String> allowed) {
      String value = json.path(field).asText("");
      if (!allowed.contains(value)) {
        throw wrong(field, value, "one of " + String.join(", ", allowed));
      }
      return value;
    }

    BenchException wrong(String field, String value, String allowed) {
      return new BenchException(
          "scenario %s: %s%s is \"%s\", must be %s"
              .formatted(scenario, prefix, field, value, allowed));
    }
  }
}
