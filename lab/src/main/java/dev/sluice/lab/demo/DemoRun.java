package dev.sluice.lab.demo;

import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.controlplane.ApiClients;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.ControlPlaneSpec;
import dev.sluice.lab.controlplane.Lifetime;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.controlplane.NodeTaint;
import dev.sluice.lab.controlplane.binaries.Binaries;
import dev.sluice.lab.controlplane.binaries.DirectoryTree;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** One demo run, from the start of the cluster to the summary. */
final class DemoRun {

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
          out, expectationResults, Duration.between(begin, clock.instant()), manifests.toString());
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
