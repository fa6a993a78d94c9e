package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the script {@code kubectl-sluice} makes of the answers of a cluster, which are played. */
class KubectlPluginTest {

  private static final long LIMIT_SECONDS = 60;

  @SuppressWarnings("NullAway.Init") // set by the extension
  @TempDir
  Path directory;

  private final Map<String, String> environment = new HashMap<>();

  @BeforeEach
  void playKubectl() throws Exception {
    Path kubectl = directory.resolve("kubectl");
    Files.writeString(
        kubectl,
        """
        #!/bin/sh
        printf '%s\\n' "$*" >> "$ASKED"
        case "$*" in
          "version --client") echo client ;;
          *"get deployments.apps kueue-controller-manager -n kueue-system "*) echo image ;;
          *"get rayjob/"*) printf cluster ;;
          *"get pods "*) echo pods ;;
          *explanation*) cat "$ANSWERS/explanation" ;;
          *"/usage?"*) cat "$ANSWERS/usage" ;;
          *"get budgets.sluice.dev"*) cat "$ANSWERS/budget" ;;
          *"get clusterqueues.kueue.x-k8s.io batch "*conditions*) cat "$ANSWERS/clusterqueue" ;;
          *"get capacityreservations.sluice.dev"*) cat "$ANSWERS/reservations" ;;
          *"get maintenancewindows.sluice.dev"*) cat "$ANSWERS/windows" ;;
          *"/quotaschedules?output=text"*) cat "$ANSWERS/factors" ;;
          *"get cohorts.kueue.x-k8s.io"*) cat "$ANSWERS/cohorts" ;;
          *"get clusterqueues.kueue.x-k8s.io -o"*) cat "$ANSWERS/clusterqueues" ;;
          *pendingworkloads*) cat "$ANSWERS/pending" ;;
          *" patch "* | "patch "* | *"delete "*) ;;
          *resourceVersion*) cat "$ANSWERS/version" ;;
          *ownerReferences*apiVersion* | *"apiVersion"*) cat "$ANSWERS/owners" ;;
          *jsonpath*uid*) printf uid-1 ;;
          *"get resourceflavors.kueue.x-k8s.io"*) cat "$ANSWERS/flavors" ;;
          *"get localqueues.kueue.x-k8s.io"*) cat "$ANSWERS/queues" ;;
          *"get workloads.kueue.x-k8s.io"*) cat "$ANSWERS/workloads" ;;
          *) exit 1 ;;
        esac
        """);
    Files.setPosixFilePermissions(kubectl, PosixFilePermissions.fromString("rwx------"));
    answer(
        "workloads",
        """
        Workload job-train-1a2b3 job-train-1a2b3
        Job train job-train-1a2b3
        Workload jobset-train-4c5d6 jobset-train-4c5d6
        JobSet train jobset-train-4c5d6
        Workload alone alone
        """);
    answer(
        "explanation",
        """
        position 2 in ClusterQueue cq, 1 in LocalQueue lq (1 is next), priority 0
        starts in about 10m (8m to 12m), at 2026-01-01T00:10:00Z, by declared run times; so it is
        """);
  }

  private void answer(String name, String text) throws Exception {
    Files.writeString(directory.resolve(name), text);
  }

  private List<String> asked() throws Exception {
    return Files.readAllLines(directory.resolve("asked"));
  }

  /** What it prints on both streams, and then its exit code. */
  private String run(String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("sh", "kubectl-sluice"));
    command.addAll(List.of(arguments));
    Path output = directory.resolve("output");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    builder.environment().merge("PATH", directory.toString(), (path, first) -> first + ":" + path);
    builder.environment().put("ANSWERS", directory.toString());
    builder.environment().put("ASKED", directory.resolve("asked").toString());
    builder.environment().putAll(environment);
    Process process = builder.start();
    assertThat(process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    return Files.readString(output, StandardCharsets.UTF_8) + "exit " + process.exitValue();
  }

  @Test
  void whenTellsOfWorkloadsOfJobsOfAnyKind() throws Exception {
    String starts = ": starts in about 10m (8m to 12m), at 2026-01-01T00:10:00Z";
    assertThat(run("when", "train", "-n", "team"))
        .contains("job-train-1a2b3" + starts, "jobset-train-4c5d6" + starts)
        .endsWith("exit 0");
    assertThat(run("when", "jobsets", "train", "-n", "team"))
        .contains("jobset-train-4c5d6" + starts)
        .doesNotContain("job-train-1a2b3");
    assertThat(run("when", "jobs.batch", "train", "-n", "team"))
        .contains("job-train-1a2b3" + starts)
        .doesNotContain("jobset-train-4c5d6");
    assertThat(run("when", "alone", "-n", "team")).startsWith("alone" + starts);
    assertThat(asked())
        .contains(
            "get --raw"
                + " /apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/team/workloads/alone/explanation?output=text");
  }

  @Test
  void explainTellsOfWorkloadsOfJobsOfAnyKind() throws Exception {
    String path =
        "get --raw"
            + " /apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/team/workloads/%s/explanation?output=text";
    assertThat(run("explain", "jobset", "train", "-n", "team"))
        .startsWith("position 2 in ClusterQueue cq")
        .endsWith("exit 0");
    assertThat(asked()).last().isEqualTo(path.formatted("jobset-train-4c5d6"));
    assertThat(run("explain", "job/train", "-n", "team")).endsWith("exit 0");
    assertThat(asked()).last().isEqualTo(path.formatted("job-train-1a2b3"));
    assertThat(run("explain", "workload", "unlisted", "-n", "team")).endsWith("exit 0");
    assertThat(asked()).last().isEqualTo(path.formatted("unlisted"));
    assertThat(run("explain", "train", "-n", "team")).endsWith("exit 0");
    assertThat(asked())
        .contains(path.formatted("job-train-1a2b3"), path.formatted("jobset-train-4c5d6"));
    assertThat(run("explain", "pytorchjob", "train", "-n", "team"))
        .contains("no pytorchjob team/train with a Workload was found")
        .endsWith("exit 1");
    assertThat(run("explain", "job", "pod/train", "-n", "team")).endsWith("exit 2");
  }

  @Test
  void explainTellsTheConditionsOfAClusterQueue() throws Exception {
    String told = "2 pending, 1 with quota, 1 admitted\nActive: True, Ready: Can admit\n";
    answer("clusterqueue", told);
    assertThat(run("explain", "clusterqueue", "batch")).isEqualTo(told + "exit 0");
    assertThat(run("explain", "cq/batch")).isEqualTo(told + "exit 0");
    assertThat(run("explain", "clusterqueue", "other")).endsWith("exit 1");
  }

  private void answerBudgets() throws Exception {
    answer(
        "budget",
        "B\tteam\tHold\t2026-11-22T23:00:00Z\t2026-11-29T23:00:00Z\t2026-11-28T14:10:05Z\n"
            + "L\tteam\tcpu\t\t2000\t1650\t340.5\t9.5\n"
            + "L\tteam\tnvidia.com/gpu\ta100,h100,\t168\t96\t12\t60\n"
            + "B\twrong\tHold\t\t\t\nF\twrong\tspec.scope: nothing\n"
            + "B\tnew\tWarn\t\t\t\n");
    answer(
        "workloads",
        "H\tvision\tjob-a-1\tBudgetExhausted: Budget team has 1650 spent\n"
            + "H\tvision\tjob-b-2\tcouldn't assign flavors: Budget team is large\n"
            + "H\tother\tjob-c-3\tBudgetExhausted: Budget hidden has 3 \"spent\"\n");
  }

  @Test
  void budgetsAreATableOfLimitsAndOfWhatTheyHold() throws Exception {
    answerBudgets();
    assertThat(run("budget"))
        .isEqualTo(
            """
            NAME                     RESOURCE             FLAVORS                 LIMIT        SPENT     RESERVED    REMAINING  PERIOD ENDS           HELD
            team                     cpu                                           2000         1650        340.5          9.5  2026-11-29T23:00:00Z     1
            team                     nvidia.com/gpu       a100,h100                 168           96           12           60  2026-11-29T23:00:00Z     1
            wrong counts nothing: spec.scope: nothing
            new has no status yet
            held:
              vision/job-a-1: BudgetExhausted: Budget team has 1650 spent
              other/job-c-3: BudgetExhausted: Budget hidden has 3 "spent"
            exit 0\
            """);
    answer("budget", "B\tteam\tHold\t\t\t\nF\tteam\tspec.scope: nothing\n");
    assertThat(run("budget", "team")).startsWith("Budget team counts nothing: spec.scope: nothing");
    answerBudgets();
    assertThat(run("budget", "team"))
        .startsWith(
            """
            Budget team, 2026-11-22T23:00:00Z to 2026-11-29T23:00:00Z, spent 2026-11-28T14:10:05Z at this rate
            RESOURCE                     FLAVORS                     LIMIT        SPENT     RESERVED    REMAINING
            cpu                                                       2000         1650        340.5          9.5
            nvidia.com/gpu               a100,h100                     168           96           12           60
            """)
        .endsWith(
            """
            held:
              vision/job-a-1: BudgetExhausted: Budget team has 1650 spent
            exit 0\
            """);
    assertThat(run("budget", "team", "-n", "vision")).contains("held in namespace vision:");
    assertThat(asked()).anyMatch(it -> it.startsWith("get workloads.kueue.x-k8s.io -n vision -o"));
    answer("usage", "NAMESPACE  LOCALQUEUE\nvision     train\n");
    assertThat(run("budget", "team"))
        .endsWith("spent by:\nNAMESPACE  LOCALQUEUE\nvision     train\nexit 0");
    assertThat(asked())
        .last()
        .asString()
        .endsWith("/usage?output=table&by=namespace,localqueue&budget=team");
  }

  @Test
  void aRollingWindowHasNoEnd() throws Exception {
    answer(
        "budget",
        "B\tteam\tHold\t2026-11-22T23:00:00Z\t\t\nL\tteam\tcpu\t\t2000\t1650\t340.5\t9.5\n");
    answer("workloads", "");
    assertThat(run("budget")).containsPattern("9.5  rolling +0\n");
    assertThat(run("budget", "team")).startsWith("Budget team, since 2026-11-22T23:00:00Z\n");
  }

  @Test
  void budgetsAreJson() throws Exception {
    answerBudgets();
    JsonNode json = new ObjectMapper().readTree(run("budget", "-o", "json").replace("exit 0", ""));
    assertThat(json.findValuesAsText("name")).containsExactly("team", "wrong", "new", "hidden");
    JsonNode team = json.path(0);
    assertThat(team.path("periodEnd").asText()).isEqualTo("2026-11-29T23:00:00Z");
    assertThat(team.path("expectedExhaustion").asText()).isEqualTo("2026-11-28T14:10:05Z");
    assertThat(team.path("limits").path(1).toString())
        .isEqualTo(
            """
            {"resource":"nvidia.com/gpu","flavors":["a100","h100"],"limit":"168","spent":"96",\
            "reserved":"12","remaining":"60"}\
            """);
    assertThat(team.path("held").path(0).path("workload").asText()).isEqualTo("vision/job-a-1");
    assertThat(json.path(1).path("fault").asText()).isEqualTo("spec.scope: nothing");
    assertThat(json.path(3).path("held").path(0).path("message").asText())
        .endsWith("has 3 \"spent\"");
    assertThat(run("budget", "-o", "yaml")).endsWith("exit 2");
  }

  @Test
  void whoMayNotReadBudgetsSeesWhatHoldsHisWorkloads() throws Exception {
    answerBudgets();
    Files.delete(directory.resolve("budget"));
    assertThat(run("budget", "-n", "vision"))
        .contains("held in namespace vision:\n  vision/job-a-1: BudgetExhausted: Budget team has")
        .doesNotContain("RESOURCE")
        .endsWith("exit 1");
  }

  private void answerCalendar() throws Exception {
    answer(
        "reservations",
        "2026-12-01T08:00:00Z\t2026-12-01T18:00:00Z\tUpcoming\tCapacityReservation\tdemo"
            + "\tcourse/students,class demo,\tresearch: a100 cpu 8,\tlent while unused\n"
            + "F\tdemo\tno LocalQueue course/students of ClusterQueue research\n");
    answer(
        "windows",
        "2026-11-05T06:00:00Z\t2026-11-05T12:00:00Z\tCurrent\tMaintenanceWindow\track\tnobody"
            + "\ta, b, \t\n"
            + "2026-11-06T06:00:00Z\t2026-11-06T12:00:00Z\tUpcoming\tMaintenanceWindow\tr7"
            + "\tnobody\tnodes rack=r7, \t\n");
    answer(
        "factors",
        "2026-11-05T08:00:00Z\t2026-11-05T18:00:00Z\tUpcoming\tquota-schedule\tbatch"
            + "\teverybody\tClusterQueue batch: factor 0.5\n");
  }

  @Test
  void theCalendarIsInOrder() throws Exception {
    answerCalendar();
    assertThat(run("calendar"))
        .isEqualTo(
            """
            START                  END                    STATE     KIND                 NAME                     FOR                      KEEPS
            2026-11-05T06:00:00Z   2026-11-05T12:00:00Z   Current   MaintenanceWindow    rack                     nobody                   a, b
            2026-11-05T08:00:00Z   2026-11-05T18:00:00Z   Upcoming  quota-schedule       batch                    everybody                ClusterQueue batch: factor 0.5
            2026-11-06T06:00:00Z   2026-11-06T12:00:00Z   Upcoming  MaintenanceWindow    r7                       nobody                   nodes rack=r7
            2026-12-01T08:00:00Z   2026-12-01T18:00:00Z   Upcoming  CapacityReservation  demo                     course/students,class demo research: a100 cpu 8, lent while unused
            demo: no LocalQueue course/students of ClusterQueue research
            exit 0\
            """);
  }

  @Test
  void whatCannotBeReadIsNotAnEmptyCalendarOrTree() throws Exception {
    answerCalendar();
    for (String forbidden : List.of("reservations", "windows", "factors")) {
      Files.delete(directory.resolve(forbidden));
      assertThat(run("calendar"))
          .as(forbidden)
          .contains("No such file", "START")
          .endsWith("exit 1");
      answerCalendar();
    }
    answer("cohorts", "C all \nC team all\n");
    answer("clusterqueues", "Q batch team 2 1\n");
    assertThat(run("tree"))
        .isEqualTo("cohort all\n  cohort team\n    batch: 2 pending, 1 admitted\nexit 0");
    Files.delete(directory.resolve("clusterqueues"));
    assertThat(run("tree")).contains("cohort team").endsWith("exit 1");
    assertThat(run("top")).endsWith("exit 1");
    answer("clusterqueues", "");
    Files.delete(directory.resolve("cohorts"));
    assertThat(run("tree")).endsWith("exit 1");
  }

  @Test
  void topTellsTheFactorThatHolds() throws Exception {
    answer(
        "clusterqueues",
        """
        Q batch 2 1
        N batch a100 cpu 100
        F batch quota is at factor 0.5 until 2026-01-05T17:00:00Z
        U batch a100 cpu 40 0
        Q other 0 0
        N other a100 cpu 7
        """);
    assertThat(run("top"))
        .containsPattern("RESOURCE +NOMINAL +FACTOR +RESERVED +BORROWED\n")
        .containsPattern("batch +2 +1 +a100 +cpu +100 +0.5 +40 +0\n")
        .containsPattern("other +0 +0 +a100 +cpu +7 +1 +0 +0\n")
        .endsWith("exit 0");
  }

  @Test
  void whenTellsWhyThereIsNoTime() throws Exception {
    answer("explanation", "not pending: admitted\nruns about 10m\n");
    assertThat(run("when", "alone", "-n", "team"))
        .isEqualTo("alone: not pending: admitted\nexit 0");
    answer("explanation", "position 1\nnever starts, as it is: it is too large\n");
    assertThat(run("when", "alone", "-n", "team"))
        .isEqualTo("alone: never starts, as it is: it is too large\nexit 0");
    answer("explanation", "position 1\n");
    assertThat(run("when", "alone", "-n", "team"))
        .isEqualTo("alone: not computed yet, ask again\nexit 0");
    assertThat(run("when", "none", "-n", "team")).contains("team/none").endsWith("exit 1");
    assertThat(run("when")).endsWith("exit 2");
  }

  @Test
  void usageIsWhatTheOperatorAnswers() throws Exception {
    answer("usage", "QUEUE  FLAVOR\n");
    assertThat(run("usage")).isEqualTo("QUEUE  FLAVOR\nexit 0");
    assertThat(
            run(
                "usage",
                "-n",
                "team",
                "--by",
                "label:example.com/team,day",
                "--since=7d",
                "-o",
                "csv"))
        .endsWith("exit 0");
    assertThat(asked())
        .containsExactly(
            "get --raw /apis/visibility.kueue.x-k8s.io/v1beta2/usage?output=table&by=queue",
            "get --raw /apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/team/usage"
                + "?output=csv&by=label:example.com/team,day&since=7d");
    assertThat(run("usage", "--by", "a&b")).endsWith("exit 2");
    run("usage", "--budget", "team");
    assertThat(asked()).last().asString().endsWith("/usage?output=table&by=queue&budget=team");
    assertThat(run("usage", "--budget", "team", "-n", "team")).endsWith("exit 2");
    assertThat(run("top", "--since", "7d")).contains("options of usage").endsWith("exit 2");
  }

  @Test
  void pendingHasAColumnWithStarts() throws Exception {
    answer(
        "pending",
        """
        {"kind":"PendingWorkloadsSummary","items":[\
        {"metadata":{"name":"a","namespace":"team","ownerReferences":[{"name":"j"}]},\
        "priority":7,"localQueueName":"lq","positionInClusterQueue":0,"positionInLocalQueue":0,\
        "estimatedStartTime":"2026-01-01T00:10:00Z","estimateBasis":"Learned"},\
        {"metadata":{"name":"b","namespace":"team"},\
        "priority":7,"localQueueName":"lq","positionInClusterQueue":1,"positionInLocalQueue":1,\
        "estimateBasis":"Never"},\
        {"metadata":{"name":"c","namespace":"team"},\
        "priority":7,"localQueueName":"lq","positionInClusterQueue":2,"positionInLocalQueue":2}]}
        """);

    assertThat(run("pending", "lq", "-n", "team"))
        .containsPattern("LOCALQUEUE +STARTS\n")
        .containsPattern("1 +7 +team +a +lq +2026-01-01T00:10:00Z\n")
        .containsPattern("2 +7 +team +b +lq +never\n")
        .containsPattern("3 +7 +team +c +lq +-\n");
    assertThat(asked().getLast()).endsWith("/localqueues/lq/pendingworkloads?estimates=true");
  }

  @Test
  void queuesAreStoppedHeldAndResumed() throws Exception {
    assertThat(run("stop", "localqueue", "lq", "-n", "team")).endsWith("exit 0");
    assertThat(run("stop", "cq", "pool", "--keep-already-running")).endsWith("exit 0");
    assertThat(run("hold", "lq", "lq", "-n", "team")).endsWith("exit 0");
    assertThat(run("resume", "clusterqueue", "pool", "--dry-run=server")).endsWith("exit 0");
    assertThat(asked())
        .containsExactly(
            "patch localqueues.kueue.x-k8s.io -n team lq --type=merge -p"
                + " {\"spec\":{\"stopPolicy\":\"HoldAndDrain\"}}",
            "patch clusterqueues.kueue.x-k8s.io pool --type=merge -p"
                + " {\"spec\":{\"stopPolicy\":\"Hold\"}}",
            "patch localqueues.kueue.x-k8s.io -n team lq --type=merge -p"
                + " {\"spec\":{\"stopPolicy\":\"Hold\"}}",
            "patch clusterqueues.kueue.x-k8s.io pool --type=merge -p"
                + " {\"spec\":{\"stopPolicy\":\"None\"}} --dry-run=server");
    assertThat(run("stop", "rf", "any")).contains("takes a workload").endsWith("exit 2");
  }

  @Test
  void workloadsAreStoppedAndHeldOnlyWithoutQuota() throws Exception {
    assertThat(run("stop", "workload", "w", "-n", "team")).endsWith("exit 0");
    answer("version", "17 ");
    assertThat(run("hold", "workload", "w", "-n", "team")).endsWith("exit 0");
    assertThat(asked().getLast())
        .endsWith("{\"metadata\":{\"resourceVersion\":\"17\"},\"spec\":{\"active\":false}}");
    answer("version", "17 pool");
    assertThat(run("hold", "workload", "w", "-n", "team"))
        .contains("Workload team/w has quota")
        .endsWith("exit 1");
  }

  @Test
  void theJobsOfAWorkloadAreDeletedIfTheyAreStillThose() throws Exception {
    answer(
        "owners",
        """
        batch/v1 Job train uid-1
        v1 Pod member uid-1
        batch/v1 Job again uid-0
        batch/v1 Job $(reboot) uid-1
        """);

    assertThat(run("delete", "workload", "w", "-n", "team")).endsWith("exit 1");
    assertThat(asked()).noneMatch(line -> line.startsWith("delete"));
    assertThat(run("delete", "workload", "w", "-n", "team", "-y"))
        .contains("Job.v1.batch/again is another one of this name; it is left")
        .endsWith("exit 0");
    assertThat(asked().stream().filter(line -> line.startsWith("delete")))
        .containsExactly("delete Job.v1.batch -n team train", "delete Pod -n team member");
    answer("owners", "");
    assertThat(run("delete", "workload", "w", "x y", "-n", "team", "-y")).endsWith("exit 0");
    assertThat(asked())
        .contains(
            "delete workloads.kueue.x-k8s.io -n team w",
            "delete workloads.kueue.x-k8s.io -n team x y");
  }

  /** Visibility and command line of the contract, section 2. */
  @Test
  void dryRunsAndFormatsAreOfChangesAlone() throws Exception {
    answer("version", "17 ");
    answer("owners", "batch/v1 Job train uid-1\n");

    assertThat(run("hold", "kwl", "w", "-n", "team", "--dry-run", "server", "-oname"))
        .endsWith("exit 0");
    assertThat(asked().getFirst()).doesNotContain("--dry-run").doesNotContain("-o name");
    assertThat(asked().getLast()).endsWith("{\"active\":false}} --dry-run=server -o name");
    assertThat(run("delete", "workload", "w", "-n", "team", "--dry-run=client"))
        .as("nobody is asked")
        .endsWith("exit 0");
    assertThat(asked().stream().filter(line -> line.contains("--dry-run=client")))
        .containsExactly("delete Job.v1.batch -n team train --dry-run=client");
    assertThat(run("resume", "cq", "pool", "--dry-run=all")).contains("all").endsWith("exit 2");
    assertThat(run("list", "cq", "--dry-run=server")).endsWith("exit 2");
    assertThat(run("top", "-o", "json")).endsWith("exit 2");
  }

  /** kubectl can't print a path where it is given a template, too. */
  @Test
  void templateIsForWhatIsPrinted() throws Exception {
    assertThat(run("stop", "lq", "main", "-o", "go-template", "--template={{.kind}}"))
        .endsWith("exit 0");
    assertThat(asked().getLast()).contains("patch ").endsWith("--template={{.kind}}");
    assertThat(asked().stream().filter(line -> line.contains("--template="))).hasSize(1);
  }

  /** Visibility and command line of the contract, section 2. */
  @Test
  void allAreDeletedAfterOneQuestion() throws Exception {
    answer("workloads", "team w1\nother w2\n");
    answer("owners", "batch/v1 Job train uid-1\n");

    assertThat(run("delete", "workload", "--all", "-A"))
        .contains("team w1\nother w2\n", "Delete all these Workloads, and their jobs? [y/N]")
        .endsWith("exit 1");
    assertThat(asked()).noneMatch(line -> line.startsWith("delete"));
    assertThat(run("delete", "workload", "--all", "-A", "-y")).endsWith("exit 0");
    assertThat(asked().stream().filter(line -> line.startsWith("delete")))
        .containsExactly("delete Job.v1.batch -n team train", "delete Job.v1.batch -n other train");
    answer("owners", "");
    run("delete", "workload", "--all", "-n", "team", "--yes");
    assertThat(asked()).contains("delete workloads.kueue.x-k8s.io -n team w1 --ignore-not-found");
    answer("flavors", "- any\n- other\n");
    assertThat(run("delete", "rf", "--all", "-y")).endsWith("exit 0");
    assertThat(asked())
        .endsWith(
            "delete resourceflavors.kueue.x-k8s.io any --ignore-not-found",
            "delete resourceflavors.kueue.x-k8s.io other --ignore-not-found");
    assertThat(run("delete", "workload", "w", "--all")).contains("no name").endsWith("exit 2");
    assertThat(run("delete", "workload", "w", "-A")).contains("--all").endsWith("exit 2");
    Files.delete(directory.resolve("owners"));
    long deletions = asked().stream().filter(line -> line.startsWith("delete")).count();
    assertThat(run("delete", "workload", "w", "-n", "team", "-y")).endsWith("exit 1");
    assertThat(asked().stream().filter(line -> line.startsWith("delete")))
        .as("a Workload whose jobs aren't known is left")
        .hasSize((int) deletions);
  }

  /** Visibility and command line of the contract, section 2: the selectors of each kind. */
  @ParameterizedTest
  @CsvSource({
    "job/a, 'batch.kubernetes.io/job-name=a'",
    "jobs.batch/a, 'batch.kubernetes.io/job-name=a'",
    "JobSet/a, 'jobset.sigs.k8s.io/jobset-name=a'",
    "trainjob/a, 'jobset.sigs.k8s.io/jobset-name=a'",
    "pytorchjob.kubeflow.org/a, 'training.kubeflow.org/job-name=a,"
        + "training.kubeflow.org/operator-name=pytorchjob-controller'",
    "mpijob/a, 'training.kubeflow.org/job-name=a,"
        + "training.kubeflow.org/operator-name=mpi-operator'",
    "raycluster/a, 'ray.io/cluster=a'",
    "rayjob/a, 'ray.io/cluster=cluster'",
    "sparkapplication/a, 'sparkoperator.k8s.io/app-name=a'",
    "pod/a, 'kueue.x-k8s.io/pod-group-name=a'"
  })
  void podsOfAJobAreListed(String job, String labels) throws Exception {
    assertThat(run("list", "po", "--for", job, "-n", "team", "-l", "x=y"))
        .isEqualTo("pods\nexit 0");
    assertThat(asked().getLast()).isEqualTo("get pods -n team -l x=y," + labels);
  }

  @Test
  void whatKubectlDoesIsLeftToIt() throws Exception {
    assertThat(run("list", "pods", "--for", "cronjob/a")).contains("cronjob/a").endsWith("exit 2");
    assertThat(run("list", "pods")).contains("TYPE/NAME").endsWith("exit 2");
    assertThat(run("version")).isEqualTo("client\nimage\nexit 0");
    run("describe", "workload", "w", "-v", "6");
    assertThat(asked().getLast()).isEqualTo("describe workload w -v 6");
  }

  private static String ago(Duration duration) {
    return Instant.now().minus(duration).truncatedTo(ChronoUnit.SECONDS).toString();
  }

  private void answerLists() throws Exception {
    String old = "\t" + ago(Duration.ofHours(74)) + "\t";
    answer("queues", "Q\tteam/lq\tpool\nQ\tteam/other\tbig\n");
    answer(
        "workloads",
        "W\tteam\twaits\tlq\t\ttrue\t,"
            + old
            + "uid-1\t\n"
            + "W\tteam\truns\tlq\tpool\ttrue\t,QuotaReserved=2026-01-01T00:00:00Z,Admitted="
            + ago(Duration.ofMinutes(185))
            + ","
            + old
            + "\tJob/b/uid-1 \n"
            + "W\tteam\theld\tother\t\tfalse\t,"
            + old
            + "\tPod/c/uid-3 Pod/d/uid-4 \n"
            + "W\tteam\tended\tlq\tpool\ttrue\t,Admitted=2024-02-28T23:59:00Z"
            + ",Finished=2024-03-01T00:04:30Z,"
            + old
            + "\t\n");
    answer(
        "pending",
        """
        {"kind":"PendingWorkloadsSummary","items":[\
        {"metadata":{"name":"first","namespace":"team","ownerReferences":[{"name":"waits"}]},\
        "priority":7,"localQueueName":"lq","positionInClusterQueue":5,"positionInLocalQueue":0},\
        {"metadata":{"name":"waits","namespace":"team"},\
        "priority":7,"localQueueName":"lq","positionInClusterQueue":9,"positionInLocalQueue":1}]}
        """);
  }

  /** Visibility and command line, section 2; changes of 0.20, section 7. */
  @Test
  void workloadsAreListedInTheOrderOfTheContract() throws Exception {
    answerLists();

    assertThat(run("list", "workloads", "-n", "team"))
        .containsPattern(
            "^NAME +JOB TYPE +JOB NAME +LOCALQUEUE +CLUSTERQUEUE +STATUS +POSITION IN QUEUE"
                + " +EXEC TIME +AGE +ACTIVE\n")
        .containsPattern("\nwaits +- +- +lq +pool +PENDING +2 +- +3d2h +true\n")
        .containsPattern("\nruns +Job +b +lq +pool +ADMITTED +- +3h5m +3d2h +true\n")
        .containsPattern("\nheld +Pod +c and 1 more +other +big +PENDING +- +- +3d2h +false\n")
        .containsPattern("\nended +- +- +lq +pool +FINISHED +- +24h +3d2h +true\n")
        .endsWith("exit 0");
    assertThat(asked().stream().filter(line -> line.contains("pendingworkloads")))
        .containsExactly(
            "get --raw /apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/team/localqueues/lq"
                + "/pendingworkloads?limit=100000");
    Files.delete(directory.resolve("pending"));
    assertThat(run("list", "workloads", "-A"))
        .containsPattern("^NAMESPACE +NAME +JOB TYPE ")
        .containsPattern("\nteam +waits +- +- +lq +pool +PENDING +- ")
        .endsWith("exit 0");
  }

  @Test
  void workloadsAreChosen() throws Exception {
    answerLists();

    assertThat(run("list", "kueueworkload", "-n=team", "--status", "Pending", "--state=finished"))
        .contains("waits ", "held ", "ended ")
        .doesNotContain("runs ");
    assertThat(run("list", "kwl", "-nteam", "--status=stopped"))
        .contains("held ")
        .doesNotContain("waits ", "runs ", "ended ");
    assertThat(run("list", "wl", "-n", "team", "-c=big"))
        .contains("held ")
        .doesNotContain("waits ");
    assertThat(run("list", "workloads", "-A", "-qlq", "-l", "user=it's", "--field-selector=a=b"))
        .contains("waits ")
        .doesNotContain("held ");
    assertThat(asked())
        .anyMatch(
            line ->
                line.contains("get workloads")
                    && line.contains("--all-namespaces -l user=it's --field-selector a=b "));
    assertThat(run("list", "workloads", "-n", "team", "--for", "job.batch/b"))
        .contains("waits ", "runs ")
        .doesNotContain("held ", "ended ");
    assertThat(asked()).contains("get job.batch/b -n team -o jsonpath={.metadata.uid}");
    run("list", "workloads", "-n", "team", "--status", "admitted");
    assertThat(asked())
        .last()
        .asString()
        .as("no place is asked for where nothing waits")
        .startsWith("get workloads.kueue.x-k8s.io -n team -o");
    assertThat(run("list", "workloads", "--state=ready")).contains("ready").endsWith("exit 2");
    assertThat(run("list", "workloads", "--for", "b")).contains("TYPE/NAME").endsWith("exit 2");
    assertThat(run("list")).endsWith("exit 2");
  }

  /** Visibility and command line, section 2; changes of 0.20, section 7. */
  @Test
  void queuesAndFlavorsAreListedInTheOrderOfTheContract() throws Exception {
    String old = "\t" + ago(Duration.ofSeconds(400)) + "\t";
    answer(
        "clusterqueues",
        "\tpool\tall\t2\t1"
            + old
            + "None\tTrue\tReady\n\tbig\t\t0\t0"
            + old
            + "Hold\tFalse\tStopped\n\tnew\t\t0\t0"
            + old
            + "None\t\n");
    answer("queues", "team\tlq\tpool\t2\t1" + old + "None\tTrue\tReady\n");
    answer("flavors", "a100\tgpu=a100,zone=b,\t" + old.strip() + "\nany\t\t" + old.strip() + "\n");

    assertThat(run("list", "cq", "--active", "true,false", "-o", "wide"))
        .containsPattern(
            "^NAME +COHORT +PENDING WORKLOADS +ADMITTED WORKLOADS +ACTIVE +AGE +REASON"
                + " +STOPPOLICY\n")
        .containsPattern("\npool +all +2 +1 +true +6m4[0-9]s +Ready +None\n")
        .containsPattern("\nbig +- +0 +0 +false +6m4[0-9]s +Stopped +Hold\n")
        .containsPattern("\nnew +- +0 +0 +false +6m4[0-9]s +- +None\n");
    assertThat(run("list", "clusterqueue", "--active=False"))
        .contains("big ", "new ")
        .doesNotContain("pool ");
    assertThat(run("list", "clusterqueue", "--active=true", "--active=false")).contains("pool ");
    assertThat(run("list", "clusterqueue", "--active=yes")).contains("yes").endsWith("exit 2");
    assertThat(run("list", "lq", "--all-namespaces", "--active", "true"))
        .containsPattern(
            "^NAMESPACE +NAME +CLUSTERQUEUE +PENDING WORKLOADS +ADMITTED WORKLOADS +AGE +ACTIVE"
                + " +REASON +STOPPOLICY\n")
        .containsPattern("\nteam +lq +pool +2 +1 +6m4[0-9]s +true +Ready +None\n");
    assertThat(run("list", "rf", "-l", "a=b"))
        .containsPattern("^NAME +NODE LABELS +AGE\n")
        .containsPattern("\na100 +gpu=a100,zone=b +6m4[0-9]s\n")
        .containsPattern("\nany +- +6m4[0-9]s\n");
    assertThat(asked().getLast()).startsWith("get resourceflavors.kueue.x-k8s.io -l a=b -o");
  }

  @Test
  void listsAndOptionsArePassedOnToKubectl() throws Exception {
    answer("queues", "localqueue.kueue.x-k8s.io/lq\n");

    assertThat(run("--context", "lab", "list", "lq", "-n", "team", "-oname", "-s", "https://a:1"))
        .isEqualTo("localqueue.kueue.x-k8s.io/lq\nexit 0");
    assertThat(asked())
        .containsExactly(
            "--context=lab --server=https://a:1 get localqueues.kueue.x-k8s.io -n team -o name");
    assertThat(run("list", "lq", "-n", "team", "-o", "json", "--active", "true"))
        .contains("-o json takes no other choice")
        .endsWith("exit 2");
    assertThat(run("list", "lq", "--context")).contains("--context needs").endsWith("exit 2");
    assertThat(run("list", "lq", "--verbose")).contains("--verbose").endsWith("exit 2");
    assertThat(run("list", "lq", "-x")).contains("-x").endsWith("exit 2");
    assertThat(run("list", "lq", "-A=maybe")).contains("maybe").endsWith("exit 2");
  }

  /** The contract's page of the command line: the variable is the size of a page of a list. */
  @Test
  void listsComeInPagesOfTheSizeThatIsAskedFor() throws Exception {
    environment.put("KUEUECTL_LIST_REQUEST_LIMIT", "7");
    answer("queues", "");
    answer("workloads", "");
    answer("flavors", "");
    run("list", "lq", "-n", "team", "-l", "tier=a");
    run("list", "workloads", "-n", "team");
    run("list", "rf");
    run("list", "lq", "-n", "team", "-o", "name");
    run("delete", "lq", "-n", "team", "--all", "-y");

    assertThat(asked())
        .filteredOn(line -> !line.contains("--raw"))
        .hasSize(6)
        .allSatisfy(line -> assertThat(line).contains(" --chunk-size=7 "));
  }
}
