package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.app.Main;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.process.OperatorAccount;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.GoProgram;
import dev.sluice.testing.Helm;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * The exchange of operators with Helm, there and back (docs/switching.md), under Jobs that run. The
 * chart in {@code earlier-chart} stands in for that of the other operator. {@code
 * -Dsluice.switching=N} says how many Jobs run, at most {@value #MOST}.
 */
@ControlPlaneTest(exclusive = true, apiServerArguments = "--enable-aggregator-routing=true")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Execution(ExecutionMode.SAME_THREAD)
@Tag(BuildBreadth.NIGHTLY)
class HelmSwitchIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final int MOST = 500;
  private static final int JOBS = Math.min(MOST, Integer.getInteger("sluice.switching", 40));
  private static final String CHART = "helm/sluice";
  private static final String NAMESPACE = InstallManifests.NAMESPACE;

  @SuppressWarnings("NullAway.Init") // set before all tests
  private Helm helm;

  @SuppressWarnings("NullAway.Init") // set before all tests
  private SwitchedCluster switched;

  @SuppressWarnings("NullAway.Init") // set before all tests
  private InstalledObjects installed;

  @SuppressWarnings("NullAway.Init") // set before all tests
  private Path earlierChart;

  @SuppressWarnings("NullAway.Init") // set before all tests
  private Path directory;

  @SuppressWarnings("NullAway.Init") // set before all tests
  private Map<String, String> pods;

  private Optional<ShippedOperator> operator = Optional.empty();
  private List<HasMetadata> bindings = List.of();

  @BeforeAll
  void runJobs(@TempDir Path files, TestCluster cluster) throws Exception {
    directory = files;
    helm = Helm.find(cluster.kubeconfig(), files);
    switched = new SwitchedCluster(cluster);
    installed = new InstalledObjects(cluster.client());
    earlierChart = earlierChart(files.resolve("earlier-chart"));
    cluster.createNodes(
        NodeGroup.plentiful(cluster.name("node"), 1 + JOBS / 500).withLabel("pool", "spot"));
    EarlierOperator earlier = new EarlierOperator(cluster);
    earlier.definitionsAndQueues(JOBS);
    for (int i = 0; i < JOBS; i++) {
      earlier.running("runs-%04d".formatted(i), "usual", "10h");
    }
    await().atMost(LIMIT).until(() -> switched.runningPods().size() == JOBS);
    pods = switched.runningPods();
  }

  /** The stand-in, with the definitions of the API as templates, as the other's chart has them. */
  private static Path earlierChart(Path to) throws IOException {
    Path from = Path.of("it/src/test/resources/dev/sluice/install/earlier-chart");
    copy(from, to);
    copy(Path.of("crds"), to.resolve("files").resolve("crds"));
    return to;
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> all = Files.walk(from)) {
      for (Path each : all.filter(Files::isRegularFile).toList()) {
        Path target = to.resolve(from.relativize(each).toString());
        Files.createDirectories(target.getParent());
        Files.copy(each, target);
      }
    }
  }

  @AfterEach
  void endAndClear(TestCluster cluster) throws Exception {
    operator.ifPresent(ShippedOperator::close);
    operator = Optional.empty();
    bindings.forEach(binding -> cluster.client().resource(binding).delete());
    bindings = List.of();
    for (String release : helm.succeed("list", "-aq", "-n", NAMESPACE).lines().toList()) {
      installed.delete(helm.succeed("get", "manifest", release, "-n", NAMESPACE));
      installed.forget(release);
    }
  }

  @Test
  void withTheNameOfTheOldReleaseAndBack(TestCluster cluster) throws Exception {
    thereAndBack(cluster, "kueue", "kueue", false);
  }

  @Test
  void withAnotherNameAndBack(TestCluster cluster) throws Exception {
    thereAndBack(cluster, "kueue", "sluice", true);
  }

  @Test
  void fromAReleaseWhoseNamesAreOthersAndBack(TestCluster cluster) throws Exception {
    thereAndBack(cluster, "queueing", "sluice", false);
  }

  @Test
  void withTheCertificatesOfCertManagerLeftAlone(TestCluster cluster) throws Exception {
    installCertManager(cluster);
    installEarlier("kueue", "--set", "enableCertManager=true");
    installed.certificateIsIssued("kueue-serving-cert", "kueue-webhook-server-cert");
    installed.stop("kueue-controller-manager");
    installed.forget("kueue");

    assertThat(refused("sluice"))
        .contains("Certificate kueue-serving-cert of cert-manager writes Secret")
        .contains("certificates.certManager.enabled=true")
        .contains("delete certificate kueue-serving-cert");
    install("sluice", "--set", "replicas=1,enableCertManager=true");

    assertThat(installed.certificateNames("kueue-serving-cert"))
        .contains(
            "kueue-webhook-service.kueue-system.svc", "kueue-visibility-server.kueue-system.svc");
    assertThat(installed.injectedFrom()).containsOnly("kueue-system/kueue-serving-cert");
    installed.awaitEndpoints("kueue-webhook-service");
    assertThat(switched.runningPods()).isEqualTo(pods);

    leave("sluice");
    installEarlier("kueue", "--set", "enableCertManager=true");

    theEarlierHasItsCertificates();
  }

  @Test
  void withTheCertificatesOfCertManagerTakenOver(TestCluster cluster) throws Exception {
    installCertManager(cluster);
    installEarlier("kueue", "--set", "enableCertManager=true");
    installed.certificateIsIssued("kueue-serving-cert", "kueue-webhook-server-cert");
    installed.stop("kueue-controller-manager");
    installed.forget("kueue");
    installed.deleteCertificate("kueue-serving-cert");
    assertThat(refused("sluice"))
        .contains("Secret kueue-webhook-server-cert in namespace kueue-system has no ca.key")
        .contains("kubectl -n kueue-system delete secret kueue-webhook-server-cert");
    installed.deleteSecret("kueue-webhook-server-cert");

    start(cluster, "sluice");
    assertThat(switched.runningPods()).isEqualTo(pods);

    leave("sluice");
    installed.deleteSecret("kueue-webhook-server-cert");
    installEarlier("kueue", "--set", "enableCertManager=true");
    installed.certificateIsIssued("kueue-serving-cert", "kueue-webhook-server-cert");

    theEarlierHasItsCertificates();
  }

  private void theEarlierHasItsCertificates() {
    assertThat(installed.certificateNames("kueue-serving-cert"))
        .containsExactly(
            "kueue-webhook-service.kueue-system.svc",
            "kueue-webhook-service.kueue-system.svc.cluster.local");
    assertThat(installed.injectedFrom()).containsOnly("kueue-system/kueue-serving-cert");
    installed.servicesLeadTo("kueue");
    installed.awaitEndpoints("kueue-webhook-service");
    assertThat(switched.runningPods()).as("nothing was restarted").isEqualTo(pods);
  }

  /** The way back is an installation, or an upgrade of the release that Helm knew before. */
  private void thereAndBack(
      TestCluster cluster, String earlier, String release, boolean keepsItsRelease)
      throws Exception {
    String prefix = earlier.equals("kueue") ? "kueue" : earlier + "-kueue";
    installEarlier(earlier);
    installed.servicesLeadTo(prefix);
    installed.awaitEndpoints(prefix + "-webhook-service");
    preflightTells(cluster, prefix);
    BuiltInRoles people = new BuiltInRoles(cluster);
    bindings = people.bind(prefix);
    assertThat(bindings).hasSize(10);
    assertThat(people.awaitAllowed()).as("questions asked").isEqualTo(1_201);
    List<Secret> kept = installed.forget(earlier);
    if (prefix.equals("kueue")) {
      assertThat(refused(release))
          .contains("Deployment kueue-controller-manager")
          .contains("kubectl -n kueue-system delete deployment kueue-controller-manager");
      installed.servicesLeadTo(prefix);
    }
    installed.stop(prefix + "-controller-manager");

    String notes = install(release, "--set", "replicas=1", "--values", KueueValues.FILE.toString());
    assertThat(notes).contains("controllerManager.manager.image.repository: it is an image of");
    installed.servicesLeadTo("kueue");
    for (String service : InstalledObjects.SERVICES) {
      installed.awaitEndpoints("kueue-" + service);
    }
    if (!prefix.equals("kueue")) {
      assertThat(notes)
          .contains(
              "kubectl delete mutatingwebhookconfiguration"
                  + " queueing-kueue-mutating-webhook-configuration",
              "kubectl delete validatingwebhookconfiguration"
                  + " queueing-kueue-validating-webhook-configuration");
      installed.deleteRegistrations(prefix);
    } else {
      assertThat(notes).doesNotContain("kubectl delete");
    }
    start(cluster, release);
    assertThat(switched.runningPods()).as("nothing was restarted").isEqualTo(pods);
    people.awaitAllowed();
    installed.apiServicesAreVerified();

    leave(release);
    if (keepsItsRelease) {
      installed.remember(kept);
      helm.succeed("upgrade", earlier, earlierChart.toString(), "-n", NAMESPACE);
    } else {
      installEarlier(earlier);
    }

    installed.servicesLeadTo(prefix);
    installed.awaitEndpoints(prefix + "-webhook-service");
    assertThat(installed.registeredNames(prefix))
        .as("those of the earlier operator alone")
        .containsExactlyInAnyOrder(
            "mclusterqueue.kb.io",
            "mworkload.kb.io",
            "mjob.kb.io",
            "mpod.kb.io",
            "mshelf.kb.io",
            "vclusterqueue.kb.io",
            "vworkload.kb.io",
            "vjob.kb.io",
            "vpod.kb.io",
            "vshelf.kb.io");
    assertThat(switched.runningPods()).as("nothing was restarted").isEqualTo(pods);
    people.awaitAllowed();
  }

  /** The first half of the way back: what the other operator would only be merged with goes. */
  private void leave(String release) {
    operator.ifPresent(it -> assertThat(it.stop()).isTrue());
    installed.stop("kueue-controller-manager");
    installed.forget(release);
    installed.deleteWhatTheOtherLacks();
  }

  /** An account that may get and list, and nothing else, is enough for it. */
  private void preflightTells(TestCluster cluster, String prefix) throws IOException {
    cluster.applyText(
        """
        apiVersion: v1
        kind: ServiceAccount
        metadata: {name: reader, namespace: kueue-system}
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRole
        metadata: {name: reads-everything}
        rules: [{apiGroups: ["*"], resources: ["*"], verbs: [get, list]}]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata: {name: reads-everything}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reads-everything}
        subjects: [{kind: ServiceAccount, name: reader, namespace: kueue-system}]
        """);
    Path kubeconfig =
        Files.writeString(
            directory.resolve("reader.kubeconfig"),
            OperatorAccount.kubeconfig(
                cluster.client(), OperatorAccount.token(cluster.client(), "reader")));
    StringWriter out = new StringWriter();
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              out.getBuffer().setLength(0);
              int code =
                  Main.commandLine()
                      .setOut(new PrintWriter(out, true))
                      .execute("preflight", "--kubeconfig", kubeconfig.toString());
              assertThat(out.toString()).doesNotContainIgnoringCase("forbidden");
              assertThat(code).isEqualTo(1);
            });
    assertThat(out.toString())
        .contains("delete deployment " + prefix + "-controller-manager")
        .contains("delete secret -l owner=helm,name=")
        .contains("APIService v1beta2.visibility.kueue.x-k8s.io isn't verified now");
    if (prefix.equals("kueue")) {
      assertThat(out.toString()).contains("mshelf.kb.io, vshelf.kb.io");
    } else {
      assertThat(out.toString())
          .contains(
              "kubectl delete mutatingwebhookconfiguration"
                  + " queueing-kueue-mutating-webhook-configuration");
    }
  }

  private void installEarlier(String release, String... more) throws Exception {
    helm.succeed(
        Stream.concat(
                Stream.of(
                    "install",
                    release,
                    earlierChart.toString(),
                    "-n",
                    NAMESPACE,
                    "--create-namespace",
                    "--take-ownership"),
                Stream.of(more))
            .toArray(String[]::new));
  }

  /** Installs the chart as the page says; returns its notes. */
  private String install(String release, String... more) throws Exception {
    return helm.succeed(
        Stream.concat(
                Stream.of("install", release, CHART, "-n", NAMESPACE, "--take-ownership"),
                Stream.of(more))
            .toArray(String[]::new));
  }

  /** What is told when the chart refuses to be installed. */
  private String refused(String release) throws Exception {
    GoProgram.Run run = helm.run("install", release, CHART, "-n", NAMESPACE, "--take-ownership");
    assertThat(run.code()).isNotZero();
    return run.errors();
  }

  /** Runs a process in the place of the pods, until it leads and holds the next Job. */
  private void start(TestCluster cluster, String release) throws Exception {
    ShippedOperator started =
        new ShippedOperator(cluster, Files.createTempDirectory(directory, "run"));
    operator = Optional.of(started);
    helm.succeed(
        Stream.concat(
                Stream.of(
                    "upgrade", release, CHART, "-n", NAMESPACE, "--install", "--take-ownership"),
                started.values().stream())
            .toArray(String[]::new));
    started.run();
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(started.isAlive()).as(log(started)).isTrue();
              assertThat(log(started)).contains("operator leading=true");
            });
    await()
        .atMost(LIMIT)
        .ignoreExceptionsInstanceOf(KubernetesClientException.class)
        .until(() -> isHeld(cluster));
  }

  private static boolean isHeld(TestCluster cluster) {
    HasMetadata created =
        cluster
            .applyText(
                """
                apiVersion: batch/v1
                kind: Job
                metadata: {generateName: new-, labels: {kueue.x-k8s.io/queue-name: main}}
                spec:
                  template:
                    spec:
                      restartPolicy: Never
                      containers:
                      - {name: main, image: none, resources: {requests: {cpu: "1"}}}
                """)
            .getFirst();
    return ((Job) created).getSpec().getSuspend();
  }

  private static void installCertManager(TestCluster cluster) {
    for (String kind : new String[] {"Certificate", "Issuer"}) {
      String plural = kind.toLowerCase(Locale.ROOT) + "s";
      cluster.applyText(
          """
          apiVersion: apiextensions.k8s.io/v1
          kind: CustomResourceDefinition
          metadata: {name: %s.cert-manager.io}
          spec:
            group: cert-manager.io
            names: {kind: %s, plural: %s, singular: %s}
            scope: Namespaced
            versions:
            - name: v1
              served: true
              storage: true
              schema:
                openAPIV3Schema:
                  {type: object, x-kubernetes-preserve-unknown-fields: true}
          """
              .formatted(plural, kind, plural, kind.toLowerCase(Locale.ROOT)));
    }
    new ServerSideApply(cluster.client()).awaitDefinitions();
  }

  private static String log(ShippedOperator operator) {
    try {
      return Files.readString(operator.log());
    } catch (IOException e) {
      return e.toString();
    }
  }
}
