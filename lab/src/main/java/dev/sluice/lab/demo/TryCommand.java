package dev.sluice.lab.demo;

import dev.sluice.lab.controlplane.ApiClients;
import dev.sluice.lab.controlplane.BinariesOption;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.ControlPlane.FreePorts;
import dev.sluice.lab.controlplane.ControlPlaneSpec;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.controlplane.binaries.BinariesMissingException;
import dev.sluice.lab.process.OperatorAccount;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.visibility.api.VisibilityApi;
import io.fabric8.kubernetes.api.model.APIService;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code sluice try}: a cluster to look at, with two teams whose jobs come and go. */
@Command(
    name = "try",
    description = {
      "Starts a control plane, the operator with its dashboard, the queues of two teams and a"
          + " stream of jobs on this machine, prints where to look and what to type, and stays"
          + " until Ctrl-C, which takes all of it away.",
      "The first time, the control plane's programs are fetched or built; progress is shown."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:the time of --for is over",
      "1:it could not be started, or the operator ended; the message says why",
      "2:the command line is wrong",
      "3:the control plane's programs can't be had",
      "130:Ctrl-C"
    })
public final class TryCommand implements Callable<Integer> {

  private static final List<String> TEAMS = List.of("blue", "green");
  private static final long EVER = Long.MAX_VALUE;
  private static final Duration POSITIONS_WITHIN = Duration.ofMinutes(1);

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--for",
      paramLabel = "SECONDS",
      description = "Ends by itself after so many seconds.")
  private @Nullable Long seconds;

  @Mixin private BinariesOption binaries = new BinariesOption();

  @Override
  public Integer call() {
    return DemoOutput.exitCode(spec, this::run);
  }

  private List<ExpectationResult> run(PrintWriter out) throws BinariesMissingException {
    RandomGenerator random = new SecureRandom();
    try (ControlPlane controlPlane =
        DemoOutput.start(
            out,
            ControlPlaneSpec.named("try-" + Integer.toString(random.nextInt(1 << 24), 36))
                .withNodes(List.of(NodeGroup.plentiful("node", 2))),
            binaries.obtain())) {
      int port = FreePorts.choose(1, random).getFirst();
      try (OperatorProcess operator =
              DemoOutput.awaitReady(
                  out,
                  "starting the operator and its dashboard",
                  OperatorProcess.start(
                      "operator",
                      controlPlane.kubeconfig(),
                      OperatorSettings.onFreePorts(random)
                          .with(
                              "dashboard: {enabled: true, bindAddress: 127.0.0.1, bindPort: %d}\n"
                                  .formatted(port)),
                      controlPlane.logs(),
                      List.of()));
          KubernetesClient client = ApiClients.patient(controlPlane.kubeconfig());
          ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor()) {
        apply(client);
        JobStream jobs = new JobStream(client, random);
        var unused = timer.scheduleWithFixedDelay(jobs::submit, 0, 2, TimeUnit.SECONDS);
        awaitPositions(client);
        where(out, controlPlane.kubeconfig(), port, OperatorAccount.token(client, "visitor"));
        awaitEnd(operator);
      }
    }
    return List.of();
  }

  private static void apply(KubernetesClient client) {
    try (InputStream manifests =
        Objects.requireNonNull(TryCommand.class.getResourceAsStream("/scenarios/try/teams.yaml"))) {
      client
          .load(manifests)
          .items()
          .forEach(
              object ->
                  client.resource(object).fieldManager("try").forceConflicts().serverSideApply());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What is typed first may already ask for positions. */
  private static void awaitPositions(KubernetesClient client) {
    client
        .resources(APIService.class)
        .withName(VisibilityApi.VERSIONS.getFirst() + "." + VisibilityApi.GROUP)
        .waitUntilCondition(
            served ->
                served != null
                    && served.getStatus() != null
                    && served.getStatus().getConditions().stream()
                        .anyMatch(
                            condition ->
                                condition.getType().equals("Available")
                                    && condition.getStatus().equals("True")),
            POSITIONS_WITHIN.toSeconds(),
            TimeUnit.SECONDS);
  }

  private static void where(PrintWriter out, Path kubeconfig, int port, String token) {
    DemoOutput.say(
        out,
        """

        Teams blue and green own 8 CPUs each and lend each other what is idle. Their jobs come and go.

        In a browser (the operator made the certificate itself, so that it warns):
          https://127.0.0.1:%d/
        and paste this token:
          %s

        In another terminal, in this directory:
          export KUBECONFIG=%s
          kubectl get clusterqueues
          kubectl get workloads -A
          kubectl get jobs -n blue
          ./sluice explain job too-large -n blue
          sh kubectl-sluice pending jobs -n blue
          sh kubectl-sluice top

        Ctrl-C takes all of it away.\
        """
            .formatted(port, token, kubeconfig));
  }

  /** Returns when the time is over. */
  private void awaitEnd(OperatorProcess operator) {
    try {
      String message = operator.onEnd().get(seconds == null ? EVER : seconds, TimeUnit.SECONDS);
      throw new ScenarioException("the operator ended: " + message);
    } catch (TimeoutException e) {
      // The time of --for is over.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Jobs of both teams, of different sizes: more than their quota has room for. */
  private static final class JobStream {

    private static final int UNFINISHED = 8;
    private static final int MOST_PODS = 5;
    private static final int SHORTEST_SECONDS = 15;
    private static final int LONGEST_SECONDS = 90;

    private final KubernetesClient client;
    private final RandomGenerator random;

    private JobStream(KubernetesClient client, RandomGenerator random) {
      this.client = client;
      this.random = random;
    }

    /** Submits a Job of each team that has few. A request that fails is made again next time. */
    void submit() {
      for (String team : TEAMS) {
        try {
          long unfinished =
              client.batch().v1().jobs().inNamespace(team).list().getItems().stream()
                  .filter(
                      job -> job.getStatus() == null || job.getStatus().getCompletionTime() == null)
                  .count();
          if (unfinished < UNFINISHED) {
            client.resource(job(team)).create();
          }
        } catch (KubernetesClientException e) {
          // The stream goes on; what is wrong is seen at the next command.
        }
      }
    }

    private String job(String team) {
      int pods = 1 + random.nextInt(MOST_PODS);
      return """
      apiVersion: batch/v1
      kind: Job
      metadata:
        generateName: train-
        namespace: %1$s
        labels: {kueue.x-k8s.io/queue-name: jobs}
      spec:
        parallelism: %2$d
        completions: %2$d
        ttlSecondsAfterFinished: 60
        template:
          metadata: {annotations: {sluice.dev/run-for: %3$ds}}
          spec:
            restartPolicy: Never
            containers:
            - {name: main, image: none, resources: {requests: {cpu: "1"}}}
      """
          .formatted(team, pods, random.nextInt(SHORTEST_SECONDS, LONGEST_SECONDS));
    }
  }
}
