package dev.sluice.lab.demo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.queueing.NodeCapacityAnnotations;
import dev.sluice.lab.audit.AuditReport;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.Auditor;
import dev.sluice.lab.audit.ObjectChange;
import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.controlplane.ApiClients;
import dev.sluice.lab.controlplane.AutoscalerPlayer;
import dev.sluice.lab.controlplane.AutoscalerPlayer.Pool;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.ControlPlaneSpec;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.controlplane.binaries.BinariesMissingException;
import dev.sluice.lab.demo.KindsScenario.KindsExpectation;
import dev.sluice.lab.demo.PoolDashboard.EventLog;
import dev.sluice.lab.demo.PromisesScenario.PromisesExpectation;
import dev.sluice.lab.demo.Screens.Screen;
import dev.sluice.lab.player.PlayedKinds;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import picocli.CommandLine.Command;

/**
 * A story that is told on a control plane of its own: starts that, shows the story as it goes on,
 * and prints which expectations held.
 */
abstract class PoolDemo extends StoryCommand {

  private static final List<NodeGroup> ONE_NODE = List.of(NodeGroup.plentiful("node", 1));

  private final Scene scene;
  private final SecureRandom random = new SecureRandom();

  private PoolDemo(Scene scene) {
    this.scene = scene;
  }

  /**
   * Where a story takes place.
   *
   * @param name the control plane's name begins with it
   * @param nodes its nodes
   * @param namespace whose events are shown
   * @param expectations what is judged
   * @param summary what the last line calls the story
   */
  private record Scene(
      String name,
      List<NodeGroup> nodes,
      String namespace,
      List<? extends Expectation> expectations,
      String summary) {}

  /** A story. */
  @FunctionalInterface
  private interface Story {
    Told tell(WatchRecorder recorder, Screen screen);
  }

  /**
   * What is left of a story.
   *
   * @param results its expectations and whether they held
   * @param epilogue prints what follows the summary
   */
  private record Told(List<ExpectationResult> results, Consumer<PrintWriter> epilogue) {

    private static Told of(List<ExpectationResult> results) {
      return new Told(results, out -> {});
    }

    private static Told of(List<ExpectationResult> results, List<String> lines) {
      return new Told(
          results,
          out -> {
            out.println();
            lines.forEach(out::println);
          });
    }
  }

  /** What a story is told with. */
  private record Stage(
      Scene scene,
      PrintWriter out,
      ControlPlane controlPlane,
      KubernetesClient client,
      OperatorSettings settings) {

    private OperatorProcess start(String configuration) {
      return OperatorProcess.start(
          "operator",
          controlPlane.kubeconfig(),
          settings.with(configuration),
          controlPlane.logs(),
          List.of());
    }

    private OperatorProcess awaitReady(String what, String configuration) {
      return DemoOutput.awaitReady(out, what, start(configuration));
    }

    private List<ExpectationResult> tell(Story story) {
      return tell(change -> {}, recorded(story));
    }

    /** The trial sees all changes; the story starts the recorder. */
    private List<ExpectationResult> tell(PolicyTrial trial, Story story) {
      InstantSource clock = InstantSource.system();
      return tell(change -> trial.see(change, clock.instant()), story);
    }

    private static Story recorded(Story story) {
      return (recorder, screen) -> {
        recorder.start();
        return story.tell(recorder, screen);
      };
    }

    private List<ExpectationResult> tell(Consumer<ObjectChange> listener, Story story) {
      InstantSource clock = InstantSource.system();
      Instant begin = clock.instant();
      Told told;
      try (WatchRecorder recorder = new WatchRecorder(client, clock, listener);
          EventLog events = new EventLog(client, scene.namespace());
          Screen screen =
              Screens.open(out, new PoolDashboard(recorder, events), scene.expectations(), clock)) {
        told = story.tell(recorder, screen);
      }
      Screens.summary(
          out, told.results(), Duration.between(begin, clock.instant()), scene.summary());
      told.epilogue().accept(out);
      return told.results();
    }
  }

  @Override
  public Integer call() {
    return DemoOutput.exitCode(spec, this::run);
  }

  private List<ExpectationResult> run(PrintWriter out) throws BinariesMissingException {
    Screens.announce(out, scene.expectations());
    ControlPlaneSpec wanted =
        ControlPlaneSpec.named(scene.name() + "-" + Integer.toString(random.nextInt(1 << 24), 36))
            .withNodes(scene.nodes());
    try (ControlPlane controlPlane = DemoOutput.start(out, wanted, binaries.obtain());
        KubernetesClient client = ApiClients.patient(controlPlane.kubeconfig())) {
      // With other ports the definitions would change, and watches of their objects end.
      OperatorSettings settings = OperatorSettings.onFreePorts(random);
      List<ExpectationResult> results = play(new Stage(scene, out, controlPlane, client, settings));
      Screens.nowTry(out);
      return results;
    }
  }

  /** Starts the operator, and tells the story. */
  abstract List<ExpectationResult> play(Stage stage);

  private static Path directory(String name) {
    try {
      return Files.createTempDirectory("sluice-demo-" + name + "-");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** {@code sluice demo autoscaler}: nodes that are made when a Workload has quota. */
  @Command(
      name = "autoscaler",
      description = {
        "Plays an autoscaler on a real control plane that is started for it: nodes come for a"
            + " ProvisioningRequest and for placeholder pods, and where a pool of nodes is at its"
            + " limit a Job runs in the next flavor. Judges five expectations. Ends by itself after"
            + " about a minute."
      })
  static final class AutoscalerDemo extends PoolDemo {

    AutoscalerDemo() {
      super(
          new Scene(
              "autoscaler",
              List.of(NodeGroup.plentiful("system", 1)),
              AutoscalerScenario.NAMESPACE,
              List.of(AutoscalerScenario.Point.values()),
              "a played autoscaler"));
    }

    @Override
    List<ExpectationResult> play(Stage stage) {
      List<Pool> pools = List.of(pool("reserved", 4), pool("spot", 1), pool("steady", 4));
      try (OperatorProcess _ = stage.awaitReady("starting the operator", "");
          AutoscalerPlayer _ = new AutoscalerPlayer(stage.client(), pools)) {
        return stage.tell(
            (recorder, screen) ->
                Told.of(new AutoscalerScenario(stage.client(), recorder, screen).tell()));
      }
    }

    private static Pool pool(String name, int limit) {
      return new Pool(
          NodeGroup.plentiful(name, 1).withCapacity("cpu", "1").withLabel("pool", name), limit);
    }
  }

  /** {@code sluice demo budget}: prices, a budget that is spent, and the bill. */
  @Command(
      name = "budget",
      description = {
        "Plays a week's budget in two minutes on a real control plane that is started for it: two"
            + " teams take spot before on-demand where it starts soon enough, one of them is"
            + " warned, held, and goes on in the next week, and the bill from the ledger is"
            + " compared with what ran. Judges seven expectations."
      })
  static final class BudgetDemo extends PoolDemo {

    BudgetDemo() {
      super(
          new Scene(
              "budget",
              ONE_NODE,
              BudgetScenario.NAMESPACE,
              List.of(BudgetScenario.Point.values()),
              "a week in two minutes"));
    }

    @Override
    List<ExpectationResult> play(Stage stage) {
      String ledger =
          "ledger: {enable: true, currency: %s, directory: \"%s\"}\n"
              .formatted(BudgetScenario.CURRENCY, directory("budget"));
      try (OperatorProcess _ =
          stage.awaitReady("starting the operator, which keeps a ledger", ledger)) {
        return stage.tell(
            (recorder, screen) -> {
              BudgetScenario scenario =
                  new BudgetScenario(
                      stage.client(), recorder, screen, stage.settings().visibilityPort());
              return Told.of(scenario.tell(), scenario.bill());
            });
      }
    }
  }

  /** {@code sluice demo kinds}: runs one job of each kind through one pool. */
  @Command(
      name = "kinds",
      description = {
        "Submits the manifest of every kind of job (docs/manifests) to one pool with room for three"
            + " at a time, on a real control plane that is started for it, and judges six"
            + " expectations. The controllers of kinds that aren't Kubernetes' own are played. Ends"
            + " by itself after about two minutes."
      })
  static final class KindsDemo extends PoolDemo {

    KindsDemo() {
      super(
          new Scene(
              "kinds",
              ONE_NODE,
              KindsScenario.NAMESPACE,
              List.of(KindsExpectation.values()),
              "one job of each kind"));
    }

    @Override
    List<ExpectationResult> play(Stage stage) {
      try (OperatorProcess _ =
              stage.awaitReady("starting the operator", PlayedKinds.configuration());
          PlayedKinds players = PlayedKinds.play(stage.client())) {
        DemoOutput.say(
            stage.out(), "playing the controllers of %d kinds".formatted(players.count()));
        return stage.tell(
            (recorder, screen) ->
                Told.of(new KindsScenario(stage.client(), recorder, screen).tell()));
      }
    }
  }

  /** {@code sluice demo kube-queue}: a quota tree, over-selling, and the three policies. */
  @Command(
      name = "kube-queue",
      description = {
        "Plays what people of Kube Queue know, on a real control plane that is started for it: a"
            + " quota tree with Jobs that name no queue, at over-sell rates of 1 and 2; then the"
            + " same 60 Jobs under the policies Round, Block and StrictPriority, with a table of"
            + " their waits. Judges seven expectations. Ends by itself after about three minutes."
      })
  static final class KubeQueueDemo extends PoolDemo {

    KubeQueueDemo() {
      super(
          new Scene(
              "kube-queue",
              List.of(NodeGroup.plentiful("node", 2)),
              KubeQueueScenario.NAMESPACE,
              List.of(KubeQueueScenario.Point.values()),
              "Kube Queue's ways"));
    }

    /** The watches begin when the definitions are there: after the first operator has started. */
    @Override
    List<ExpectationResult> play(Stage stage) {
      PolicyTrial trial = new PolicyTrial();
      return stage.tell(
          trial,
          (recorder, screen) -> {
            KubeQueueScenario scenario =
                new KubeQueueScenario(
                    stage.client(),
                    recorder,
                    trial,
                    screen,
                    configuration -> stage.start(configuration).awaitReady()::close);
            return new Told(
                scenario.tell(), out -> scenario.figures().ifPresent(each -> print(each, out)));
          });
    }

    private static void print(PolicyFigures figures, PrintWriter out) {
      out.println();
      out.println("Waits for quota in seconds: mean (longest)");
      figures.table().forEach(out::println);
      out.println();
      Screens.paragraphs(out, figures.words());
      out.flush();
    }
  }

  /** {@code sluice demo promises}: a large Job among small ones, under three policies. */
  @Command(
      name = "promises",
      description = {
        "Plays a large Job among small ones on a real control plane that is started for it, in"
            + " three queues: BestEffortFIFO starves it, StrictFIFO lets CPUs stay idle for it, and"
            + " with back-fill it is promised a start and starts by then, while small ones run"
            + " before it. Beside them a Job runs for its sluice.dev/min-run-time before it is"
            + " preempted, and a rack is empty when its maintenance begins. Judges seven"
            + " expectations, with a table of waits and use. Ends by itself after about two"
            + " minutes."
      })
  static final class PromisesDemo extends PoolDemo {

    PromisesDemo() {
      super(
          new Scene(
              "promises",
              PromisesScenario.nodes(),
              PromisesScenario.BACK_FILL,
              List.of(PromisesExpectation.values()),
              "promises"));
    }

    @Override
    List<ExpectationResult> play(Stage stage) {
      PolicyTrial trial = new PolicyTrial();
      try (OperatorProcess _ = stage.awaitReady("starting the operator", "")) {
        UnaryOperator<String> explanation =
            PromisesScenario.explanation(
                stage.client(),
                stage.controlPlane().kubeconfig(),
                stage.settings().visibilityPort(),
                stage.controlPlane().logs());
        return stage.tell(
            trial,
            Stage.recorded(
                (recorder, screen) -> {
                  PromisesScenario scenario =
                      new PromisesScenario(stage.client(), recorder, trial, screen, explanation);
                  return Told.of(scenario.tell(), scenario.table());
                }));
      }
    }
  }

  /** {@code sluice demo time}: when Jobs start, what would be otherwise, and what was decided. */
  @Command(
      name = "time",
      description = {
        "Plays a day of two teams in two minutes on a real control plane that is started for it, an"
            + " hour in five seconds: Jobs that wait are told when they start, a dry run says"
            + " whether one would, what-if compares the day with another one in which the teams"
            + " lend each other quota, and the journal is replayed. Judges seven expectations."
            + " Leaves the journal and the page of what-if."
      })
  static final class TimeDemo extends PoolDemo {

    TimeDemo() {
      super(
          new Scene(
              "time",
              ONE_NODE,
              TimeScenario.NAMESPACE,
              List.of(TimeScenario.Point.values()),
              "an hour in five seconds"));
    }

    @Override
    List<ExpectationResult> play(Stage stage) {
      Path files = directory("time");
      Path journal = files.resolve("journal");
      String configuration =
          "journal: {enable: true, syncInterval: 10ms, directory: \"%s\"}\n".formatted(journal);
      try (OperatorProcess _ =
          stage.awaitReady("starting the operator, which writes a journal", configuration)) {
        return stage.tell(
            (recorder, screen) ->
                new Told(
                    new TimeScenario(
                            stage.client(),
                            recorder,
                            screen,
                            stage.settings().visibilityPort(),
                            files)
                        .tell(),
                    out ->
                        out.printf(
                            """

                            The page of the comparison: %s
                            The journal: ./sluice replay %2$s
                                         ./sluice what-if -f changed.yaml --journal %2$s
                            """,
                            files.resolve(TimeScenario.PAGE), journal)));
      }
    }
  }

  /**
   * Jobs whose nodes a played autoscaler makes when they have quota: by a ProvisioningRequest, by
   * placeholder pods, and in the next flavor where the first one's pool is at its limit. Judged by
   * the recorded watch events. Not thread-safe; runs once.
   */
  private static final class AutoscalerScenario {

    static final String NAMESPACE = "default";

    private static final Duration STEP_TIMEOUT = Duration.ofMinutes(5);

    private final WatchRecorder recorder;
    private final ProgressListener progressListener;
    private final ScenarioCluster cluster;
    private final ExpectationResults<Point> expectationResults;

    /** A scenario in a cluster with an operator, and an autoscaler with the pools of the demo. */
    AutoscalerScenario(
        KubernetesClient client, WatchRecorder recorder, ProgressListener progressListener) {
      this.recorder = recorder;
      this.progressListener = progressListener;
      this.cluster = new ScenarioCluster(client, recorder, STEP_TIMEOUT, progressListener);
      this.expectationResults = new ExpectationResults<>(Point.class, progressListener);
    }

    /** Runs to the end or to the first failure; returns one result per expectation. */
    List<ExpectationResult> tell() {
      return expectationResults.of(this::play);
    }

    private void play() {
      cluster.create(ScenarioManifests.text("autoscaler/01-definition.yaml"));
      cluster.create(ScenarioManifests.text("autoscaler/02-queues.yaml"));
      progressListener.say("a Job of two pods whose nodes a ProvisioningRequest asks for");
      judge(Point.REQUEST, "requested", "by-request", 2, "reserved");
      progressListener.say("a Job of one pod whose node a placeholder pod asks for");
      judge(Point.PLACEHOLDERS, "kept", "by-placeholders", 1, "spot");
      progressListener.say("a Job of two pods: the pool of spot nodes is at its limit of one");
      judge(Point.NEXT_FLAVOR, "refused", "by-placeholders", 2, "steady");
      cluster.await(
          "the end of all placeholders",
          () ->
              recorder.current(AuditedKind.POD).stream()
                      .noneMatch(AutoscalerScenario::isPlaceholder)
                  ? Optional.of(true)
                  : Optional.empty());
      if (!recorder.catchUp(STEP_TIMEOUT)) {
        throw new ScenarioException("the watches did not catch up");
      }
      long placeholders =
          recorder.history().stream()
              .filter(change -> change.kind() == AuditedKind.POD && isPlaceholder(change.object()))
              .map(change -> change.object().at("/metadata/uid").asText())
              .distinct()
              .count();
      String told = "there were " + placeholders;
      expectationResults.judge(
          Point.NOTHING_LEFT, placeholders > 0 ? Optional.empty() : Optional.of(told), told);
      AuditReport report = Auditor.audit(recorder.history());
      expectationResults.judge(
          Point.WITHIN_QUOTA,
          report.violations().stream().findFirst().map(Objects::toString),
          report.summary());
    }

    /** Submits a Job, and waits until all its pods run on nodes of a pool. */
    private void judge(Point point, String name, String queue, int pods, String pool) {
      cluster.submit(job(name, queue, pods));
      TreeSet<String> nodes =
          cluster.await(
              "the pods of Job " + name,
              () -> {
                List<JsonNode> running =
                    recorder.current(AuditedKind.POD).stream()
                        .filter(pod -> isOf(pod, name))
                        .filter(pod -> pod.at("/status/phase").asText().equals("Running"))
                        .toList();
                TreeSet<String> found = new TreeSet<>();
                running.forEach(pod -> found.add(pod.at("/spec/nodeName").asText()));
                return running.size() == pods ? Optional.of(found) : Optional.empty();
              });
      boolean held = nodes.stream().allMatch(node -> node.startsWith(pool + "-"));
      String told = "runs on " + String.join(", ", nodes);
      expectationResults.judge(point, held ? Optional.empty() : Optional.of(told), told);
    }

    private static boolean isOf(JsonNode pod, String job) {
      return pod.at("/metadata/labels/batch.kubernetes.io~1job-name").asText().equals(job);
    }

    private static boolean isPlaceholder(JsonNode pod) {
      return pod.path("metadata").path("labels").has(NodeCapacityAnnotations.PLACEHOLDER);
    }

    private static String job(String name, String queue, int pods) {
      return """
      apiVersion: batch/v1
      kind: Job
      metadata: {name: %1$s, namespace: default, labels: {kueue.x-k8s.io/queue-name: %2$s}}
      spec:
        parallelism: %3$d
        completions: %3$d
        template:
          metadata: {annotations: {sluice.dev/run-for: 30m}}
          spec:
            restartPolicy: Never
            containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
      """
          .formatted(name, queue, pods);
    }

    /** The expectations of the scenario of autoscalers, in order. */
    enum Point implements Expectation {
      /** By the API of the Cluster Autoscaler. */
      REQUEST("a ProvisioningRequest brings two nodes, and the Job's two pods run on them"),
      /** By pods alone. */
      PLACEHOLDERS("placeholder pods bring a node, and the Job's pod takes the place of one"),
      /** A refusal. */
      NEXT_FLAVOR("a pool at its limit gives no node, and the Job runs in the next flavor"),
      /** Nothing is left over. */
      NOTHING_LEFT("no placeholder is left"),
      /** Quota is kept. */
      WITHIN_QUOTA("no queue ever gives more than its quota");

      private final String text;

      Point(String text) {
        this.text = text;
      }

      @Override
      public String text() {
        return text;
      }
    }
  }
}
