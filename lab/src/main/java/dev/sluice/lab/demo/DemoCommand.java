package dev.sluice.lab.demo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.controlplane.ApiClients;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.ControlPlaneSpec;
import dev.sluice.lab.controlplane.Lifetime;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.controlplane.NodeGroup.NodeTaint;
import dev.sluice.lab.controlplane.binaries.Binaries;
import dev.sluice.lab.controlplane.binaries.BinariesMissingException;
import dev.sluice.lab.controlplane.binaries.DefaultBinarySources.DirectoryTree;
import dev.sluice.lab.demo.DemoCommand.MultiClusterCommand;
import dev.sluice.lab.demo.DemoOutput.StepTimer;
import dev.sluice.lab.demo.FirstJobScenario.DemoEnvironment;
import dev.sluice.lab.demo.FirstJobScenario.FirstJobExpectation;
import dev.sluice.lab.demo.FirstJobScenario.ScenarioObjects;
import dev.sluice.lab.demo.MultiClusterScenario.ScenarioClusters;
import dev.sluice.lab.demo.PoolDashboard.EventLog;
import dev.sluice.lab.demo.Screens.Dashboard;
import dev.sluice.lab.demo.Screens.Screen;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** {@code sluice demo}: runs the scenario of the first Job. */
@Command(
    name = "demo",
    subcommands = {
      MultiClusterCommand.class,
      PoolDemo.KindsDemo.class,
      PoolDemo.KubeQueueDemo.class,
      PoolDemo.AutoscalerDemo.class,
      PoolDemo.TimeDemo.class,
      PoolDemo.PromisesDemo.class,
      PoolDemo.BudgetDemo.class
    },
    description = {
      "Tells the story of the first Job on a real control plane: starts one on this machine, starts"
          + " the operator, applies manifests, and judges six expectations. Ends by itself after"
          + " about a minute.",
      "The first time, the control plane's programs are fetched or built; progress is shown."
    })
public final class DemoCommand extends StoryCommand {

  @Option(
      names = "--kubeconfig",
      paramLabel = "FILE",
      description = {
        "Tells it in this cluster instead, and leaves nothing behind. Its API server must reach"
            + " this machine at 127.0.0.1, unless the cluster has an operator already. Pods don't"
            + " run there, so Jobs are ended by deleting them."
      })
  private @Nullable Path kubeconfig;

  @Option(
      names = "--without-operator",
      description = "The cluster has an operator already; with --kubeconfig only.")
  private boolean withoutOperator;

  @Option(
      names = "--keep",
      description = "Leaves cluster, operator and objects as they are at the end.")
  private boolean keep;

  @Option(
      names = "--api-version",
      paramLabel = "VERSION",
      description = "In which the queues are written: ${COMPLETION-CANDIDATES} (${DEFAULT-VALUE}).")
  private ScenarioManifests.Version version = ScenarioManifests.Version.V1BETA2;

  @Option(
      names = "--queue-name-as",
      paramLabel = "FORM",
      description = "How Jobs name their queue: ${COMPLETION-CANDIDATES} (${DEFAULT-VALUE}).")
  private ScenarioManifests.Form form = ScenarioManifests.Form.LABEL;

  @Override
  public Integer call() {
    if (withoutOperator && kubeconfig == null) {
      throw new ParameterException(
          spec.commandLine(), "--without-operator: allowed together with --kubeconfig only");
    }
    return DemoOutput.exitCode(spec, Optional.ofNullable(kubeconfig), this::run);
  }

  private List<ExpectationResult> run(PrintWriter out) throws BinariesMissingException {
    DemoRun run =
        new DemoRun(new ScenarioManifests(version, form), keep, out, InstantSource.system());
    List<ExpectationResult> results =
        kubeconfig == null
            ? run.onOwnControlPlane(binaries.obtain())
            : run.inCluster(kubeconfig, !withoutOperator);
    Screens.nowTry(out);
    return results;
  }

  /** {@code sluice demo multi-cluster}: runs the multi-cluster scenario. */
  @Command(
      name = "multi-cluster",
      description = {
        "Tells the story of many clusters on three real control planes: starts a manager and two"
            + " workers on this machine, an operator in each, applies manifests, cuts one worker"
            + " off for a while, and judges nine expectations. Ends by itself after about two"
            + " minutes."
      },
      exitCodeList = {
        "0:every expectation held",
        "1:one did not hold, or the story could not be told; the message says why",
        "2:the command line is wrong",
        "3:the control planes' programs can't be had, or a cluster can't be reached"
      })
  public static final class MultiClusterCommand extends StoryCommand {

    private static final Duration LOST_TIMEOUT = Duration.ofSeconds(10);

    @Option(
        names = "--keep",
        description = "Leaves clusters, operators and objects as they are at the end.")
    private boolean keep;

    @Override
    public Integer call() {
      return DemoOutput.exitCode(spec, this::run);
    }

    private List<ExpectationResult> run(PrintWriter out) throws BinariesMissingException {
      try (MultiClusterEnvironment stage =
          new MultiClusterEnvironment(
              binaries.obtain(),
              keep ? Lifetime.UNTIL_STOPPED : Lifetime.WITH_THIS_PROCESS,
              LOST_TIMEOUT,
              InstantSource.system())) {
        Screens.announce(out, List.of(MultiClusterExpectation.values()));
        try (StepTimer timer =
            StepTimer.of(
                out, "starting a manager, a site and a remote cluster, each with its operator")) {
          stage.start();
        }
        List<ExpectationResult> results = tell(stage, out);
        if (keep) {
          stage.whatStays().forEach(line -> DemoOutput.say(out, line));
        }
        Screens.nowTry(out);
        return results;
      }
    }

    private static List<ExpectationResult> tell(MultiClusterEnvironment stage, PrintWriter out) {
      InstantSource clock = InstantSource.system();
      Instant begin = clock.instant();
      ScenarioClusters clusters = stage.clusters();
      List<ExpectationResult> expectationResults;
      try (EventLog events =
              new EventLog(clusters.manager().client(), MultiClusterScenario.NAMESPACE);
          Screen screen =
              Screens.open(
                  out,
                  new ClusterDashboard(clusters, events),
                  List.of(MultiClusterExpectation.values()),
                  clock)) {
        expectationResults = stage.tell(screen);
      }
      Screens.summary(
          out,
          expectationResults,
          Duration.between(begin, clock.instant()),
          "a manager and two workers");
      return expectationResults;
    }
  }

  /** Present state of clusters and Jobs, and the manager's events, as lines of text. */
  private static final class ClusterDashboard implements Dashboard {

    private static final List<String> SHOWN = List.of("cpu", "nvidia.com/gpu");

    private static final String FINISHED = "finished";

    private final ScenarioClusters clusters;
    private final EventLog events;

    ClusterDashboard(ScenarioClusters clusters, EventLog events) {
      this.clusters = clusters;
      this.events = events;
    }

    @Override
    public List<Section> sections() {
      return List.of(
          new Section("CLUSTERS", "cluster", members().stream().map(Row::of).toList()),
          new Section("JOBS", "job", jobs()));
    }

    @Override
    public List<String> events() {
      return events.lines();
    }

    private List<String> members() {
      return Stream.concat(Stream.of(clusters.manager()), clusters.workers().values().stream())
          .map(this::member)
          .toList();
    }

    private String member(ScenarioMember member) {
      String link =
          member == clusters.manager()
              ? "decides"
              : clusters.proxy(member.name()).isDisconnected() ? "CUT OFF" : "connected";
      List<String> used = new ArrayList<>();
      for (JsonNode queue : member.recorder().current(AuditedKind.CLUSTER_QUEUE)) {
        for (String resource : SHOWN) {
          used.add(
              "%s %s of %s"
                  .formatted(
                      resource,
                      total(queue.at("/status/flavorsReservation"), resource, "total"),
                      total(queue.at("/spec/resourceGroups/0/flavors"), resource, "nominalQuota")));
        }
      }
      return "%-8s %-10s %s".formatted(member.name(), link, String.join(", ", used));
    }

    private static String total(JsonNode flavors, String resource, String field) {
      BigDecimal sum = BigDecimal.ZERO;
      for (JsonNode flavor : flavors) {
        for (JsonNode each : flavor.path("resources")) {
          if (each.path("name").asText().equals(resource)) {
            sum = sum.add(Quantity.getAmountInBytes(Quantity.parse(each.path(field).asText("0"))));
          }
        }
      }
      return sum.stripTrailingZeros().toPlainString();
    }

    private List<Row> jobs() {
      return clusters.manager().recorder().current(AuditedKind.JOB).stream()
          .sorted(
              Comparator.comparing((JsonNode job) -> job.at("/metadata/creationTimestamp").asText())
                  .thenComparing(job -> job.at("/metadata/name").asText()))
          .map(this::job)
          .toList();
    }

    private Row job(JsonNode job) {
      String name = job.at("/metadata/name").asText();
      ClusterJob both = new ClusterJob(clusters, name);
      String standing =
          both.workload().map(workload -> standing(both, workload)).orElse("has no Workload");
      List<String> pods = new ArrayList<>();
      for (String worker : clusters.workers().keySet()) {
        int running = both.runningIn(worker);
        if (running > 0) {
          pods.add(running + " on " + worker);
        }
      }
      String text =
          "%-17s %-28s active %-2d succeeded %-2d pods: %s"
              .formatted(
                  name,
                  standing,
                  both.activeHere(),
                  job.at("/status/succeeded").asInt(),
                  pods.isEmpty() ? "none" : String.join(", ", pods));
      return new Row(text, text, standing.equals(FINISHED));
    }

    private static String standing(ClusterJob job, JsonNode workload) {
      if (ScenarioClusters.isTrue(workload, "Finished")) {
        return FINISHED;
      }
      if (ScenarioClusters.isTrue(workload, "Evicted")) {
        return "is sent back";
      }
      if (!job.cluster().isEmpty()) {
        return "runs in " + job.cluster();
      }
      List<String> asked = new ArrayList<>();
      workload.at("/status/nominatedClusterNames").forEach(each -> asked.add(each.asText()));
      return asked.isEmpty() ? "waits" : "offered to " + String.join(", ", asked);
    }
  }

  /** One demo run, from the start of the cluster to the summary. */
  private static final class DemoRun {

    private static final String STARTING = "starting the operator";

    private final ScenarioManifests manifests;
    private final boolean keep;
    private final PrintWriter out;
    private final InstantSource clock;
    private final SecureRandom random = new SecureRandom();

    DemoRun(ScenarioManifests manifests, boolean keep, PrintWriter out, InstantSource clock) {
      this.manifests = manifests;
      this.keep = keep;
      this.out = out;
      this.clock = clock;
    }

    /** Runs on a control plane started for the demo. */
    List<ExpectationResult> onOwnControlPlane(Binaries binaries) {
      Screens.announce(out, List.of(FirstJobExpectation.values()));
      ControlPlane controlPlane = DemoOutput.start(out, spec(), binaries);
      try {
        OperatorProcess operator = operator(controlPlane.kubeconfig(), controlPlane.logs());
        try (KubernetesClient client = ApiClients.patient(controlPlane.kubeconfig())) {
          DemoOutput.awaitReady(out, STARTING, operator);
          List<ExpectationResult> expectationResults =
              tell(client, new DemoEnvironment.Own(client, true), recorder -> {});
          if (keep) {
            sayWhatStays(controlPlane, operator);
          }
          return expectationResults;
        } finally {
          if (!keep) {
            operator.close();
          }
        }
      } finally {
        if (!keep) {
          controlPlane.close();
        }
      }
    }

    private ControlPlaneSpec spec() {
      return ControlPlaneSpec.named("demo-" + Integer.toString(random.nextInt(1 << 24), 36))
          .living(keep ? Lifetime.UNTIL_STOPPED : Lifetime.WITH_THIS_PROCESS)
          .withNodes(
              List.of(
                  NodeGroup.plentiful("ondemand", 1).withLabel("instance-type", "ondemand"),
                  NodeGroup.plentiful("spot", 2)
                      .withLabel("instance-type", "spot")
                      .withTaint(new NodeTaint("spot", "true", "NoSchedule"))));
    }

    private void sayWhatStays(ControlPlane controlPlane, OperatorProcess operator) {
      out.printf("%nexport KUBECONFIG=%s%n", controlPlane.kubeconfig());
      out.printf(
          "the operator goes on as process %d, its log is %s%n", operator.pid(), operator.log());
      out.printf(
          "to end both: ./sluice control-plane down --name %s; the operator then ends by itself%n",
          controlPlane.name());
      out.flush();
    }

    /** Runs in an existing cluster. */
    List<ExpectationResult> inCluster(Path kubeconfig, boolean startOperator) {
      try (KubernetesClient client = ApiClients.patient(kubeconfig)) {
        List<String> inTheWay = new ScenarioObjects(client).existing();
        if (!inTheWay.isEmpty()) {
          throw new ScenarioException(
              "the story makes these itself, but they exist: " + String.join(", ", inTheWay));
        }
        Screens.announce(out, List.of(FirstJobExpectation.values()));
        ClusterCleanup clusterCleanup = new ClusterCleanup(client);
        if (!startOperator) {
          return tell(
              client,
              new DemoEnvironment.Foreign(),
              recorder -> clearStory(clusterCleanup, recorder));
        }
        Path files = temporaryDirectory();
        OperatorProcess operator = operator(kubeconfig, files);
        try {
          DemoOutput.awaitReady(out, STARTING, operator);
          List<ExpectationResult> expectationResults =
              tell(
                  client,
                  new DemoEnvironment.Foreign(),
                  recorder -> clearStory(clusterCleanup, recorder));
          if (keep) {
            out.printf(
                "%nexport KUBECONFIG=%s%nthe operator goes on as process %d, its log is %s%n",
                kubeconfig.toAbsolutePath(), operator.pid(), operator.log());
            out.flush();
          }
          return expectationResults;
        } finally {
          if (!keep) {
            operator.close();
            clusterCleanup.clearInstallation();
            delete(files);
          }
        }
      }
    }

    private void clearStory(ClusterCleanup clusterCleanup, WatchRecorder recorder) {
      if (!keep) {
        clusterCleanup.clearStory(recorder);
      }
    }

    private OperatorProcess operator(Path kubeconfig, Path files) {
      return OperatorProcess.start(
          "operator",
          kubeconfig,
          OperatorSettings.onFreePorts(random),
          files,
          List.of(),
          keep ? Lifetime.UNTIL_STOPPED : Lifetime.WITH_THIS_PROCESS);
    }

    /** Runs the scenario and prints the summary; {@code after} may clean up. */
    private List<ExpectationResult> tell(
        KubernetesClient client, DemoEnvironment demoEnvironment, Consumer<WatchRecorder> after) {
      Instant begin = clock.instant();
      try (WatchRecorder recorder = new WatchRecorder(client, clock);
          EventLog events = new EventLog(client, FirstJobScenario.NAMESPACE)) {
        recorder.start();
        List<FirstJobExpectation> expectations = List.of(FirstJobExpectation.values());
        List<ExpectationResult> expectationResults;
        try (Screen screen =
            Screens.open(out, new PoolDashboard(recorder, events), expectations, clock)) {
          expectationResults =
              new FirstJobScenario(client, manifests, demoEnvironment, recorder, screen).tell();
        }
        Screens.summary(
            out,
            expectationResults,
            Duration.between(begin, clock.instant()),
            manifests.toString());
        after.accept(recorder);
        return expectationResults;
      }
    }

    private static Path temporaryDirectory() {
      try {
        return Files.createTempDirectory("sluice-demo-");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static void delete(Path directory) {
      try {
        DirectoryTree.delete(directory);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Removes everything that a demo adds to an existing cluster. */
    private static final class ClusterCleanup {

      private static final Duration DELETION_TIMEOUT = Duration.ofMinutes(1);
      private static final String GROUP = ".kueue.x-k8s.io";
      private static final String PREFIX = "kueue-";

      private final KubernetesClient client;
      private final Set<String> before;

      /** Records which objects exist before the demo. */
      ClusterCleanup(KubernetesClient client) {
        this.client = client;
        this.before = Set.copyOf(installed().keySet());
      }

      /**
       * Deletes the scenario's objects and waits until they are gone; the operator must still run.
       */
      void clearStory(WatchRecorder recorder) {
        ScenarioObjects objects = new ScenarioObjects(client);
        objects.delete();
        boolean gone =
            recorder
                .await(
                    DELETION_TIMEOUT,
                    () -> objects.existing().isEmpty() ? Optional.of(true) : Optional.empty())
                .isPresent();
        if (!gone) {
          throw new ScenarioException("not deleted yet: " + String.join(", ", objects.existing()));
        }
      }

      /**
       * Deletes what the operator installed and did not exist before; called after the operator has
       * ended.
       */
      void clearInstallation() {
        installed()
            .forEach(
                (name, object) -> {
                  if (!before.contains(name)) {
                    object.delete();
                  }
                });
      }

      /**
       * The objects that an operator installs, webhooks first, so that the API server calls no
       * webhook without a server.
       */
      private Map<String, Resource<? extends HasMetadata>> installed() {
        Map<String, Resource<? extends HasMetadata>> found = new LinkedHashMap<>();
        List<HasMetadata> all = new ArrayList<>();
        var admission = client.admissionRegistration().v1();
        all.addAll(admission.mutatingWebhookConfigurations().list().getItems());
        all.addAll(admission.validatingWebhookConfigurations().list().getItems());
        all.addAll(client.apiextensions().v1().customResourceDefinitions().list().getItems());
        all.addAll(client.namespaces().list().getItems());
        for (HasMetadata object : all) {
          String name = object.getMetadata().getName();
          if (name.startsWith(PREFIX) || name.endsWith(GROUP)) {
            found.put(object.getKind() + " " + name, client.resource(object));
          }
        }
        return found;
      }
    }
  }

  /** The expectations of the multi-cluster scenario, in the order in which they are judged. */
  public enum MultiClusterExpectation implements Expectation {
    /** The Job runs in the most preferred cluster that has capacity. */
    SMALL_ON_SITE("the small Job runs on site"),
    /** All pods are in one cluster and none in another. */
    LARGE_WHOLE_ON_REMOTE(
        "the large Job, bigger than the site's whole quota, runs whole on the remote cluster, never"
            + " partly"),
    /** The preferred cluster has no GPUs. */
    GPUS_WHERE_THEY_ARE("the Job that needs GPUs runs where GPUs are"),
    /** The Job in the manager has the status of the remote job. */
    LIVE_STATUS("all of them are seen, with live status, in the control cluster"),
    /** The Job is requeued at the timeout, not earlier. */
    REQUEUED_AFTER_TIMEOUT(
        "the remote cluster is cut off for longer than the worker-lost time-out: its running Job is"
            + " requeued"),
    /** The Job runs as soon as there is capacity. */
    RUNS_ELSEWHERE("once possible, the Job runs elsewhere"),
    /** Neither Job nor Workload nor pod is left. */
    NOTHING_LEFT("after each Job's end nothing of it is left on a worker"),
    /** The manager only schedules. */
    NO_POD_HERE("no pod of theirs ever exists in the control cluster"),
    /** The objects in the lost cluster are removed. */
    NEVER_TWICE(
        "nothing runs twice at the same time, neither while the link is cut nor once it is back");

    private final String text;

    MultiClusterExpectation(String text) {
      this.text = text;
    }

    @Override
    public String text() {
      return text;
    }
  }
}
