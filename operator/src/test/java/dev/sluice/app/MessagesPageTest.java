package dev.sluice.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.Decision.PreemptionReason;
import dev.sluice.core.model.FlavorRejection;
import dev.sluice.core.model.FlavorRejection.TopologyShortage;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.Taint;
import dev.sluice.core.model.TopologyRequest.Spreading.ShareRule;
import dev.sluice.queues.mapping.InactiveReasonText;
import dev.sluice.visibility.ExplanationText;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/**
 * The pages below docs/messages have all texts of the code; with sluice.docs.write=true they are
 * renewed. Their index, docs/messages.md, names each of them, and docs/concepts.md explains each
 * reason.
 */
class MessagesPageTest {

  private static final Path INDEX = Path.of("docs", "messages.md");

  private static final Path DIRECTORY = Path.of("docs", "messages");

  private static final int LONGEST_INDEX = 200;

  private static final String CONFIGURATION = "configuration";

  /** The texts of series, which docs/metrics.md has. */
  private static final String SERIES = "metrics";

  private static final Set<MessageSources.Text> TEXTS = MessageSources.all();

  /**
   * A page of texts.
   *
   * @param help where such texts are seen, and what helps
   * @param directories of the sources whose texts are on the page
   */
  private record Area(String file, String title, String help, List<String> directories) {

    boolean has(MessageSources.Text text) {
      return text.level().isEmpty()
          && directories.stream().anyMatch(text.file()::startsWith)
          && (file.equals(CONFIGURATION) || !text.file().startsWith("api/config"));
    }
  }

  private static final List<Area> AREAS =
      List.of(
          new Area(
              "webhooks",
              "Answers of webhooks and conversion",
              "Seen by whoever writes an object: the write was refused, or has a warning. The text"
                  + " names the field and the rule: change the field. Who is asked about what:"
                  + " [webhooks](../webhooks.md).",
              List.of("webhooks", "api")),
          new Area(
              "jobs",
              "Messages about jobs and pods",
              "Seen in events and conditions of jobs and pods. What a job has to say for its kind:"
                  + " [kinds of jobs](../job-kinds.md); pods that are compared with their Workload:"
                  + " [pod accounting](../pod-accounting.md); nodes: [topology](../topology.md).",
              List.of("jobs", "accounting", "topology")),
          new Area(
              "workloads",
              "Messages about the life cycle of Workloads",
              "Seen in conditions and events of Workloads. What happens to a Workload, and what"
                  + " ends it: [life of a Workload](../workload-lifecycle.md).",
              List.of("workload")),
          new Area(
              "queues",
              "Messages about queues, and why a Workload waits",
              "Seen in conditions of queues, in `QuotaReserved=False`, and in the answers of"
                  + " `explain`. What helps, by reason:"
                  + " [concepts](../concepts.md#conditions-of-a-workload).",
              List.of("queues", "core", "visibility", "forecast", "kubequeue")),
          new Area(
              "checks",
              "Messages about worker clusters and admission checks",
              "Seen in the state of an admission check and in conditions of MultiKueueCluster and"
                  + " AdmissionCheck. When a cluster is away:"
                  + " [MultiKueue](../multikueue.md#a-worker-is-away); new nodes:"
                  + " [provisioning](../provisioning.md).",
              List.of("checks")),
          new Area(
              CONFIGURATION,
              "Errors in the configuration",
              "Seen when the operator starts, which then ends with exit code 2. The text names the"
                  + " field: [configuration](../configuration.md).",
              List.of("api/config")),
          new Area(
              "program",
              "Errors of the program",
              "Seen on the command line, in answers of the servers, and as the end of a process."
                  + " [Installing](../install.md), [operating](../operating.md).",
              List.of("app", "install", "journal", "kube", "ledger", "server", "dashboard")));

  @Test
  void thePagesAreWhatTheCodeSays() throws IOException {
    for (Map.Entry<Path, String> page : pages().entrySet()) {
      if (Boolean.getBoolean("sluice.docs.write")) {
        Files.createDirectories(DIRECTORY);
        Files.writeString(page.getKey(), page.getValue());
      }
      assertThat(page.getKey()).hasContent(page.getValue());
    }
  }

  @Test
  void theIndexNamesEachPageAndNoOther() throws IOException {
    String index = Files.readString(INDEX);
    List<Path> files;
    try (Stream<Path> found = Files.list(DIRECTORY)) {
      files = found.sorted().toList();
    }

    assertThat(files).containsExactlyInAnyOrderElementsOf(pages().keySet());
    assertThat(files)
        .allSatisfy(file -> assertThat(index).contains("(messages/" + file.getFileName() + ")"));
    assertThat(index.lines()).hasSizeLessThanOrEqualTo(LONGEST_INDEX);
  }

  @Test
  void everyTextIsOnAPage() {
    assertThat(TEXTS)
        .filteredOn(text -> text.level().isEmpty() && !text.file().startsWith(SERIES))
        .allSatisfy(text -> assertThat(AREAS).filteredOn(area -> area.has(text)).hasSize(1));
  }

  @Test
  void everyReasonIsOnTheIndexAndExplained() throws IOException, IllegalAccessException {
    String index = Files.readString(INDEX);
    String concepts = Files.readString(Path.of("docs", "concepts.md"));

    for (String reason : reasons()) {
      assertThat(index).contains("`" + reason + "`");
      assertThat(concepts).as("docs/concepts.md").contains("`" + reason + "`");
    }
  }

  /** The reasons of QuotaReserved=False, Preempted, and a ClusterQueue's Active. */
  private static List<String> reasons() throws IllegalAccessException {
    List<String> reasons = new ArrayList<>();
    for (PendingReason reason : PendingReason.values()) {
      reasons.add(reason.apiReason());
    }
    for (PreemptionReason reason : PreemptionReason.values()) {
      reasons.add(reason.apiReason());
    }
    for (Field field : InactiveReasonText.class.getFields()) {
      if (Modifier.isStatic(field.getModifiers()) && field.getType() == String.class) {
        reasons.add(String.valueOf(field.get(null)));
      }
    }
    return reasons;
  }

  private static Map<Path, String> pages() {
    Map<Path, String> pages = new LinkedHashMap<>();
    for (Area area : AREAS) {
      List<String> lines = page(area.title(), area.help());
      if (area.file().equals("queues")) {
        flavors(lines);
      }
      if (area.file().equals("program")) {
        exitCodes(lines);
      }
      section(lines, "Texts", "text | of");
      rows(lines, TEXTS.stream().filter(area::has));
      pages.put(DIRECTORY.resolve(area.file() + ".md"), String.join("\n", lines) + "\n");
    }
    pages.put(DIRECTORY.resolve("events-and-log.md"), String.join("\n", eventsAndLog()) + "\n");
    return pages;
  }

  private static List<String> page(String title, String help) {
    return new ArrayList<>(
        List.of(
            "# " + title,
            "",
            help,
            "",
            "Generated by `MessagesPageTest`. How to read it: [messages](../messages.md)."));
  }

  private static void flavors(List<String> lines) {
    section(lines, "What is wrong with a flavor", "part of the message, with sample amounts");
    for (FlavorRejection rejection : rejections()) {
      lines.add("| " + ExplanationText.obstacle(rejection) + " |");
    }
  }

  private static List<String> eventsAndLog() {
    List<String> lines =
        page(
            "Events, and lines of the log",
            "Which event is written when: [events](../workload-semantics.md#events). Lines of the"
                + " log name the object first and the reason last. At ERROR a fault of the operator"
                + " is told, at WARN something that somebody should look at, at INFO a decision.");
    section(lines, "Events of an admission", "note, with sample names");
    lines.add("| " + ExplanationText.quotaReserved("cq", Duration.ofSeconds(2), List.of()) + " |");
    lines.add("| " + ExplanationText.admitted("cq", Duration.ofSeconds(1)) + " |");
    logged(lines, "Events", "event, as reason: note", MessageSources.EVENT);
    logged(lines, "Lines of the log at ERROR", "line", "error");
    logged(lines, "Lines of the log at WARN", "line", "warn");
    logged(lines, "Lines of the log at INFO", "line", "info");
    return lines;
  }

  private static void logged(List<String> lines, String title, String column, String level) {
    section(lines, title, column + " | of");
    rows(lines, TEXTS.stream().filter(text -> text.level().equals(level)));
  }

  private static void rows(List<String> lines, Stream<MessageSources.Text> texts) {
    List<String> rows =
        texts
            .map(
                text ->
                    "| `%s` | %s |"
                        .formatted(
                            text.text().strip().replace("`", "'").replace("|", "\\|"), text.type()))
            .distinct()
            .toList();
    assertThat(rows).isNotEmpty();
    lines.addAll(rows);
  }

  private static void section(List<String> lines, String title, String column) {
    lines.addAll(
        List.of(
            "",
            "## " + title,
            "",
            "| " + column + " |",
            column.contains("|") ? "|---|---|" : "|---|"));
  }

  private static List<FlavorRejection> rejections() {
    return List.of(
        new FlavorRejection.FlavorMissing(),
        new FlavorRejection.UntoleratedTaint(new Taint("spot", "true", "NoSchedule")),
        new FlavorRejection.PlacementMismatch(),
        new FlavorRejection.NodesRefused(),
        new FlavorRejection.OfAnotherVariant(),
        new FlavorRejection.NoTopology(),
        new FlavorRejection.OnlyByTopology(),
        new FlavorRejection.GrowsByTopology(),
        new FlavorRejection.UnevenSlices(10, 4),
        new FlavorRejection.OtherTopologyFlavor("gpu"),
        new FlavorRejection.TopologyLevelMissing("racks", "", List.of()),
        new FlavorRejection.TopologyLevelMissing(
            "racks", "example.com/row", List.of("example.com/block", "example.com/rack")),
        new FlavorRejection.NoPlacement(
            new TopologyShortage(
                "example.com/rack",
                16,
                1,
                "kubernetes.io/hostname",
                "r3",
                12,
                "example.com/block",
                31,
                70,
                9,
                2,
                false),
            false,
            List.of()),
        new FlavorRejection.NoPlacement(
            new TopologyShortage(
                "example.com/rack", 4, 1, "kubernetes.io/hostname", "r3", 2, "", 0, 2, 3, 0, false),
            false,
            List.of(
                new FlavorRejection.Crowding(
                    new ShareRule("example.com/rack", 45, true), 2, List.of("r1", "r2"), 2))),
        new FlavorRejection.ResourceNotCovered("example.com/gpu", 2),
        new FlavorRejection.ExceedsMaximum("pods", 3001, 1000),
        new FlavorRejection.InsufficientQuota("cpu", 2000, 500, 8000),
        new FlavorRejection.InsufficientGuarantee("cpu", 2000, 500, 4000));
  }

  private static void exitCodes(List<String> lines) {
    lines.addAll(List.of("", "## Exit codes", "", "| command | code | meaning |", "|---|---|---|"));
    CommandLine sluice = Main.commandLine();
    exitCodes(lines, "operator", subcommand(sluice, "operator"));
    exitCodes(lines, "uninstall", subcommand(sluice, "uninstall"));
    exitCodes(lines, "explain workload", subcommand(subcommand(sluice, "explain"), "workload"));
    exitCodes(lines, "explain topology", subcommand(subcommand(sluice, "explain"), "topology"));
  }

  private static CommandLine subcommand(CommandLine command, String name) {
    return Objects.requireNonNull(command.getSubcommands().get(name));
  }

  private static void exitCodes(List<String> lines, String name, CommandLine command) {
    Arrays.stream(command.getCommandSpec().usageMessage().exitCodeList().keySet().toArray())
        .forEach(
            code ->
                lines.add(
                    "| `%s` | %s | %s |"
                        .formatted(
                            name,
                            code,
                            command
                                .getCommandSpec()
                                .usageMessage()
                                .exitCodeList()
                                .get(code.toString()))));
  }
}
