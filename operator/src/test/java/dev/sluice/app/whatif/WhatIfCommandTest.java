package dev.sluice.app.whatif;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.app.Main;
import dev.sluice.core.engine.EngineOptions;
import dev.sluice.forecast.whatif.RandomPast;
import dev.sluice.journal.SegmentListener;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.xml.sax.InputSource;
import picocli.CommandLine;

/** The example of docs/what-if.md does what the page says, and the command refuses the rest. */
class WhatIfCommandTest {

  @TempDir private Path directory = Path.of("");

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private String page = "";

  @BeforeEach
  void files() throws IOException {
    page = Files.readString(Path.of("docs/what-if.md"));
    List<String> yaml = blocks("yaml");
    Files.writeString(directory.resolve("cluster.yaml"), yaml.get(0));
    Files.writeString(directory.resolve("changed.yaml"), yaml.get(1));
    Files.writeString(directory.resolve("jobs.swf"), blocks("swf").getFirst());
  }

  private List<String> blocks(String language) {
    List<String> blocks = new ArrayList<>();
    Matcher matcher =
        Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL).matcher(page);
    while (matcher.find()) {
      blocks.add(matcher.group(1));
    }
    return blocks;
  }

  private int run(String... arguments) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    CommandLine line = Main.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    return line.execute(arguments);
  }

  private String file(String name) {
    return directory.resolve(name).toString();
  }

  private String[] example(String... more) {
    List<String> arguments = new ArrayList<>(List.of("what-if", "-f", file("changed.yaml")));
    arguments.addAll(List.of("--trace", file("jobs.swf"), "--cluster", file("cluster.yaml")));
    arguments.addAll(List.of(more));
    return arguments.toArray(String[]::new);
  }

  @Test
  void theExampleOfThePagePrintsWhatThePageShows() {
    assertThat(run(example())).as(err.toString()).isZero();

    assertThat(out).hasToString(blocks("text").getFirst());
  }

  @Test
  void theDocumentHasTheFigures() throws Exception {
    assertThat(run(example("-o", "json"))).isZero();

    JsonNode document = JsonMappers.JSON.readTree(out.toString());
    assertThat(document.at("/changes/0").asText()).isEqualTo("ClusterQueue research");
    assertThat(document.at("/before/waits/0/clusterQueue").asText()).isEqualTo("*");
    assertThat(document.at("/before/preemptions").size()).isZero();
    assertThat(document.at("/after/preemptions/batch/InCohortReclamation").asInt()).isPositive();
    assertThat(document.at("/after/waits/0/percentileSeconds").size()).isEqualTo(101);
  }

  @Test
  void thePageIsWholeAndAsksNobody() throws Exception {
    assertThat(run(example("--html", file("report.html")))).isZero();

    String html = Files.readString(directory.resolve("report.html"));
    assertThat(html).doesNotContain("<script", "http://", "https://", "@import", "url(", " src=");
    assertThat(html).contains("prefers-color-scheme: dark", "<td>research</td>");
    Matcher plots = Pattern.compile("<svg.*?</svg>", Pattern.DOTALL).matcher(html);
    int count = 0;
    while (plots.find()) {
      var unused =
          DocumentBuilderFactory.newDefaultInstance()
              .newDocumentBuilder()
              .parse(new InputSource(new StringReader(plots.group())));
      assertThat(plots.group()).doesNotContain("NaN", "Infinity");
      count++;
    }
    assertThat(count).isEqualTo(5);
  }

  @Test
  void aJournalWithNothingChangedIsThePast() throws Exception {
    Files.writeString(directory.resolve("nothing.yaml"), "");
    try (SegmentListener listener =
        new SegmentListener(
            directory.resolve("journal"), RandomPast.BEGIN, EngineOptions.DEFAULT, 100_000)) {
      var unused = new RandomPast(4, true, 50, listener);
    }

    assertThat(run("what-if", "-f", file("nothing.yaml"), "--journal", file("journal"))).isZero();

    assertThat(out.toString()).contains("changed: nothing").doesNotContain("→");
    Matcher said =
        Pattern.compile("(\\d+) of (\\d+) Workloads that started").matcher(out.toString());
    assertThat(said.find()).isTrue();
    assertThat(said.group(1)).isEqualTo(said.group(2));
    assertThat(Integer.parseInt(said.group(1))).isGreaterThan(30);
  }

  @Test
  void withoutAClusterThereIsOneQueueAsLargeAsTheTrace() throws Exception {
    Files.writeString(directory.resolve("nothing.yaml"), "");

    assertThat(
            run("what-if", "-f", file("nothing.yaml"), "--trace", file("jobs.swf"), "-o", "json"))
        .isZero();
    JsonNode one = JsonMappers.JSON.readTree(out.toString());
    // jobs 1 to 4 ran at the same time, if none of them waited
    assertThat(one.at("/before/uses/0/nominalMean").asDouble()).isEqualTo(18);
    assertThat(one.at("/before/waits/0/maxSeconds").asDouble()).isZero();

    Files.writeString(directory.resolve("jobs.swf"), loaded());
    assertThat(
            run(
                "what-if",
                "-f",
                file("nothing.yaml"),
                "--trace",
                file("jobs.swf"),
                "--load",
                "4",
                "-o",
                "json"))
        .isZero();
    JsonNode pressed = JsonMappers.JSON.readTree(out.toString());
    assertThat(pressed.at("/before/waits/0/maxSeconds").asDouble()).isPositive();
  }

  /** Jobs of ten minutes, one after the other. */
  private static String loaded() {
    StringBuilder lines = new StringBuilder();
    for (int i = 1; i <= 10; i++) {
      lines.append("%d %d -1 600 4 -1 -1 4 -1 -1 1 1 1 1 1 -1 -1 -1\n".formatted(i, i * 600));
    }
    return lines.toString();
  }

  @Test
  void anObjectIsTakenAway() throws Exception {
    Files.writeString(
        directory.resolve("changed.yaml"),
        """
        apiVersion: kueue.x-k8s.io/v1beta1
        kind: ClusterQueue
        metadata: {name: research, annotations: {sluice.dev/what-if: removed}}
        """);

    assertThat(run(example("-o", "json"))).as(err.toString()).isZero();

    JsonNode document = JsonMappers.JSON.readTree(out.toString());
    assertThat(document.at("/changes/0").asText()).isEqualTo("ClusterQueue research removed");
    assertThat(document.at("/before/waits/0/waiting").asInt()).isZero();
    // the three of research, and the two jobs of eight CPUs: no more than six are left
    assertThat(document.at("/after/waits/0/waiting").asInt()).isEqualTo(5);
  }

  @Test
  void quotaFollowsItsScheduleInBothPlays() throws Exception {
    String queue = blocks("yaml").get(1);
    assertThat(queue).contains("  name: research\n");
    String scheduled =
        queue.replace(
            "  name: research\n",
            "  name: research\n  annotations: {sluice.dev/quota-schedule: 00:00-00:20 0.5}\n");
    Files.writeString(directory.resolve("changed.yaml"), scheduled);

    assertThat(run(example("-o", "json"))).as(err.toString()).isZero();
    JsonNode changed = JsonMappers.JSON.readTree(out.toString());
    assertThat(changed.at("/before/uses/1/nominalMean").asDouble()).isEqualTo(4);
    // two for twenty minutes of eighty, four for the rest
    assertThat(changed.at("/after/uses/1/nominalMean").asDouble()).isEqualTo(3.5);

    Files.writeString(
        directory.resolve("cluster.yaml"), blocks("yaml").getFirst() + "---\n" + scheduled);
    Files.writeString(directory.resolve("changed.yaml"), queue);
    assertThat(run(example("-o", "json"))).as(err.toString()).isZero();
    JsonNode given = JsonMappers.JSON.readTree(out.toString());
    assertThat(given.at("/before/uses/1/nominalMean").asDouble()).isEqualTo(3.5);
    assertThat(given.at("/after/uses/1/nominalMean").asDouble()).isEqualTo(4);
  }

  /** A large job that waits for a long one, and a small one behind it, with and without limits. */
  @Test
  void limitsOfATraceLetSmallJobsStartBeforeTheHead() throws Exception {
    Files.writeString(
        directory.resolve("cluster.yaml"), backfilled("sluice.dev/what-if-unused: \"\""));
    Files.writeString(
        directory.resolve("changed.yaml"), backfilled("sluice.dev/backfill: HeadOnly"));
    Files.writeString(directory.resolve("jobs.swf"), backfillJobs("7200", "3600", "900"));

    assertThat(run(example("-o", "json"))).as(err.toString()).isZero();
    JsonNode limited = JsonMappers.JSON.readTree(out.toString());
    // the small one waited for the head's start, and the head is no later than before
    assertThat(limited.at("/before/waits/0/medianSeconds").asDouble()).isPositive();
    assertThat(limited.at("/after/waits/0/medianSeconds").asDouble()).isZero();
    assertThat(limited.at("/after/waits/0/maxSeconds").asDouble())
        .isEqualTo(limited.at("/before/waits/0/maxSeconds").asDouble());
    assertThat(limited.at("/remarks").toString())
        .doesNotContain("at most")
        .contains("1 jobs ran longer than the limit");

    Files.writeString(directory.resolve("jobs.swf"), backfillJobs("7200", "-1", "-1"));
    assertThat(run(example("-o", "json"))).as(err.toString()).isZero();
    JsonNode unlimited = JsonMappers.JSON.readTree(out.toString());
    assertThat(unlimited.at("/after/waits/0/medianSeconds").asDouble()).isPositive();
    assertThat(unlimited.at("/remarks").toString())
        .contains("nobody knows how long 2 of 3 Workloads of ClusterQueue one run at most");
  }

  private static String backfilled(String annotation) {
    return """
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: ResourceFlavor
    metadata: {name: any}
    ---
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: ClusterQueue
    metadata: {name: one, annotations: {%s}}
    spec:
      namespaceSelector: {}
      queueingStrategy: StrictFIFO
      resourceGroups:
      - {coveredResources: [cpu], flavors: [{name: any, resources: [{name: cpu, nominalQuota: 4}]}]}
    ---
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: LocalQueue
    metadata: {name: default, namespace: team}
    spec: {clusterQueue: one}
    """
        .formatted(annotation);
  }

  /** Three CPUs for an hour, four for half an hour, one for twenty minutes, with their limits. */
  private static String backfillJobs(String... limits) {
    return """
    1 0   -1 3600 3 -1 -1 3 %s -1 1 1 1 1 1 -1 -1 -1
    2 60  -1 1800 4 -1 -1 4 %s -1 1 1 1 1 1 -1 -1 -1
    3 120 -1 1200 1 -1 -1 1 %s -1 1 1 1 1 1 -1 -1 -1
    """
        .formatted((Object[]) limits);
  }

  @Test
  void whatIsNotUnderstoodIsRefusedWithTheReason() throws Exception {
    refused("kind: Job\napiVersion: batch/v1\nmetadata: {name: a}\n", "Job a: apiVersion");
    refused(
        "kind: Quota\napiVersion: kueue.x-k8s.io/v1beta2\nmetadata: {name: a}\n",
        "kind \"Quota\" of a is none of");
    refused(
        "kind: Budget\napiVersion: kueue.x-k8s.io/v1beta2\nmetadata: {name: a}\n",
        "Budget a: apiVersion \"kueue.x-k8s.io/v1beta2\" must be sluice.dev/v1alpha1");
    refused(
        "kind: Budget\napiVersion: sluice.dev/v1alpha1\nmetadata: {name: a}\n"
            + "spec: {scope: {cohort: all}}\n",
        "Budget a: spec.limits");
    refused("kind: ClusterQueue\n", "has no metadata.name");
    refused("- a\n", "is no object");
    refused("{", "changed.yaml: ");
    refused(
        "kind: ClusterQueue\napiVersion: kueue.x-k8s.io/v1beta2\n"
            + "metadata: {name: a, annotations: {sluice.dev/what-if: gone}}\n",
        "\"gone\" must be \"removed\"");
    refused(
        "kind: ClusterQueue\napiVersion: kueue.x-k8s.io/v1beta2\nmetadata: {name: a}\n"
            + "spec: {resourceGroups: 7}\n",
        "resourceGroups");
    refused(
        "kind: LocalQueue\napiVersion: kueue.x-k8s.io/v1beta2\nmetadata: {name: a}\n",
        "has no metadata.namespace");
    assertThat(run("what-if", "-f", file("cluster.yaml"))).isEqualTo(2);
    assertThat(run("what-if", "-f", file("none.yaml"), "--trace", file("jobs.swf"))).isEqualTo(3);
    assertThat(run(example("--load", "0"))).isEqualTo(2);
    assertThat(run(example("--format", "csv"))).isEqualTo(2);
  }

  /** Two pods of a half GPU each run together on the one that there is, and a third one waits. */
  @Test
  void aTraceOfAlibabaRunsOnItsNodes() throws Exception {
    String header =
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,qos,pod_phase,creation_time,deletion_time,"
            + "scheduled_time\n";
    StringBuilder trace = new StringBuilder(header);
    for (int i = 0; i < 3; i++) {
      trace.append("p%d,1000,1024,1,500,LS,Succeeded,100,400,100\n".formatted(i));
    }
    Files.writeString(directory.resolve("pods.csv"), trace);
    Files.writeString(
        directory.resolve("nodes.csv"), "sn,cpu_milli,memory_mib,gpu,model\nn1,8000,8192,1,T4\n");
    Files.writeString(directory.resolve("nothing.yaml"), "");
    String[] arguments = {
      "what-if",
      "-f",
      file("nothing.yaml"),
      "--trace",
      file("pods.csv"),
      "--format",
      "alibaba",
      "--cluster",
      file("nodes.csv"),
      "-o",
      "json"
    };
    assertThat(run(arguments)).as(err.toString()).isZero();
    JsonNode waits = JsonMappers.JSON.readTree(out.toString()).at("/before/waits/0");
    assertThat(waits.path("started").asInt()).isEqualTo(3);
    assertThat(waits.path("maxSeconds").asDouble()).isEqualTo(300);

    Files.writeString(directory.resolve("nodes.csv"), "sn,model\n");
    assertThat(run(arguments)).isEqualTo(1);
    assertThat(err.toString())
        .contains("nodes.csv: line 1: the header lacks cpu_milli, memory_mib, gpu");

    // the name of a directory doesn't make a table of what is in it
    arguments[8] =
        Files.createDirectory(directory.resolve("trace.csv.d")).resolve("cluster.yaml").toString();
    Files.copy(directory.resolve("cluster.yaml"), Path.of(arguments[8]));
    assertThat(run(arguments)).isEqualTo(1);
    assertThat(err.toString()).contains("no LocalQueue is named \"LS\"");
  }

  /** Time axis, section 5: budgets may be changed, too. */
  @Test
  void whoHasSpentTheBudgetStartsNoMore() throws Exception {
    String[] arguments = example("-o", "json");
    arguments[2] = file("budget.yaml");
    budget("1000", "");
    assertThat(run(arguments)).as(err.toString()).isZero();
    JsonNode large = JsonMappers.JSON.readTree(out.toString());
    budget("0.5", "");
    assertThat(run(arguments)).as(err.toString()).isZero();
    JsonNode small = JsonMappers.JSON.readTree(out.toString());
    budget("0.5", ", annotations: {sluice.dev/what-if: removed}");
    assertThat(run(arguments)).as(err.toString()).isZero();
    JsonNode removed = JsonMappers.JSON.readTree(out.toString());
    assertThat(small.path("changes").toString()).isEqualTo("[\"Budget all\"]");
    assertThat(removed.path("changes").toString()).isEqualTo("[\"Budget all removed\"]");
    assertThat(large.path("after")).isEqualTo(large.path("before"));
    assertThat(removed.path("after")).isEqualTo(removed.path("before"));
    assertThat(started(small, "after")).isBetween(1, started(small, "before") - 1);
  }

  /** Without a word on the charge the whole run is charged, which field 9 of a job tells. */
  @Test
  void limitsOfATraceAreChargedToBudgets() throws Exception {
    Files.writeString(
        directory.resolve("cluster.yaml"), backfilled("sluice.dev/what-if-unused: \"\""));
    Files.writeString(
        directory.resolve("changed.yaml"),
        "{apiVersion: sluice.dev/v1alpha1, kind: Budget, metadata: {name: all}, spec: {scope:"
            + " {clusterQueue: one}, period: Yearly, limits: [{resource: cpu, hours: 100}]}}");
    Files.writeString(directory.resolve("jobs.swf"), smallJobs("7200", "3600"));
    assertThat(run(example("-o", "json"))).as(err.toString()).isZero();
    JsonNode limited = JsonMappers.JSON.readTree(out.toString());
    assertThat(started(limited, "after")).isEqualTo(2);
    assertThat(limited.at("/remarks").toString()).doesNotContain("Budget");

    Files.writeString(directory.resolve("jobs.swf"), smallJobs("7200", "-1"));
    assertThat(run(example("-o", "json"))).as(err.toString()).isZero();
    JsonNode unlimited = JsonMappers.JSON.readTree(out.toString());
    assertThat(started(unlimited, "before")).isEqualTo(2);
    assertThat(started(unlimited, "after")).isEqualTo(1);
    assertThat(unlimited.at("/remarks").toString())
        .contains("how long 1 of 2 Workloads run: those in the scope of Budget all are held");
  }

  private static String smallJobs(String... limits) {
    return """
    1 0   -1 3600 1 -1 -1 1 %s -1 1 1 1 1 1 -1 -1 -1
    2 60  -1 1800 1 -1 -1 1 %s -1 1 1 1 1 1 -1 -1 -1
    """
        .formatted((Object[]) limits);
  }

  private void budget(String hours, String more) throws IOException {
    Files.writeString(
        directory.resolve("budget.yaml"),
        "{apiVersion: sluice.dev/v1alpha1, kind: Budget, metadata: {name: all%s}, spec: {scope:"
                .formatted(more)
            + " {clusterQueue: research}, charge: AsUsed, period: Yearly,"
            + " limits: [{resource: cpu, hours: %s}]}}".formatted(hours));
  }

  private static int started(JsonNode document, String play) {
    return document.at("/" + play + "/waits/0/started").asInt();
  }

  private void refused(String yaml, String message) throws IOException {
    Files.writeString(directory.resolve("changed.yaml"), yaml);
    assertThat(run(example())).as(yaml).isEqualTo(1);
    assertThat(err.toString()).contains(message);
    assertThat(err.toString().lines()).hasSize(1);
  }

  @Test
  void classesOfPrioritiesAreKnownInAClusterOnly() throws IOException {
    Files.writeString(
        directory.resolve("class.yaml"),
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: high},"
            + " value: 5}");
    assertThat(run("what-if", "-f", file("class.yaml"), "--trace", file("jobs.swf"))).isEqualTo(1);
    assertThat(err.toString()).contains("WorkloadPriorityClass high: only with --for");
    Files.writeString(
        directory.resolve("class.yaml"),
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: high},"
            + " value: 5000000000}");
    assertThat(run("what-if", "-f", file("class.yaml"), "--trace", file("jobs.swf"))).isEqualTo(1);
    assertThat(err.toString()).contains("value: 5000000000 must be a whole number of 32 bits");
  }

  @Test
  void oneOriginAndItsDurations() {
    assertThat(
            run("what-if", "-f", file("changed.yaml"), "--trace", file("jobs.swf"), "--for", "1h"))
        .isEqualTo(2);
    assertThat(run("what-if", "-f", file("changed.yaml"), "--for", "soon")).isEqualTo(2);
    assertThat(err.toString()).contains("--for: \"soon\" must be a duration");
    assertThat(run("what-if", "-f", file("changed.yaml"), "--for", "1h", "--run-time", "-1h"))
        .isEqualTo(2);
    assertThat(
            run("what-if", "-f", file("changed.yaml"), "--for", "1h", "--kubeconfig", file("none")))
        .isEqualTo(3);
  }

  @Test
  void whatIsUsedIsPricedByFlavor() throws Exception {
    Files.writeString(
        directory.resolve("priced.yaml"),
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: any,"
            + " annotations: {sluice.dev/price: cpu=0.50/h}}}");
    String[] arguments = example("-o", "json");
    arguments[2] = file("priced.yaml");
    assertThat(run(arguments)).as(err.toString()).isZero();
    JsonNode document = JsonMappers.JSON.readTree(out.toString());
    assertThat(document.path("changes").toString()).isEqualTo("[\"ResourceFlavor any\"]");
    assertThat(document.at("/before/uses/0/cost").asDouble()).isZero();
    // 7.5 CPUs for 80 minutes
    assertThat(document.at("/after/uses/0/cost").asDouble()).isCloseTo(5.0, within(0.001));
    arguments[8] = "table";
    assertThat(run(arguments)).isZero();
    assertThat(out.toString()).contains("cost", "0.00 → 5.00");
    Files.writeString(
        directory.resolve("priced.yaml"),
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: any,"
            + " annotations: {sluice.dev/price: cheap}}}");
    assertThat(run(arguments)).isEqualTo(1);
    assertThat(err.toString()).contains("ResourceFlavor any: annotation sluice.dev/price: ");
  }
}
