package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.GoProgram;
import dev.sluice.testing.Helm;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The chart, as Helm understands it: it says what the plain manifest says, and it installs. */
@ControlPlaneTest(exclusive = true, controllers = false)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag(BuildBreadth.NIGHTLY)
class ChartIT {

  private static final String CHART = "helm/sluice";
  private static final String NAMESPACE = InstallManifests.NAMESPACE;
  private static final Duration LIMIT = Duration.ofMinutes(5);

  /** The definitions are the same whatever the values are, and take seconds to be parsed. */
  private static final String WITHOUT_DEFINITIONS = "--set=crds.install=false";

  private static final Path CHECKS = Path.of("deploy", "prometheus");

  private static final Set<String> HELMS_LABELS =
      Set.of("app.kubernetes.io/managed-by", "helm.sh/chart");

  private final KubernetesSerialization serialization = new KubernetesSerialization();

  /** Found once; two tests shall not build it at once. */
  @SuppressWarnings("NullAway.Init") // set before all tests
  private Helm helm;

  @BeforeAll
  void find(@TempDir Path home, TestCluster cluster) throws Exception {
    helm = Helm.find(cluster.kubeconfig(), home);
  }

  @Test
  void lintHasNothingToSay() throws Exception {
    GoProgram.Run run = helm.run("lint", "--strict", CHART);

    assertThat(run.code()).as(run.output() + run.errors()).isZero();
  }

  @Test
  void withTheDefaultsItSaysWhatThePlainManifestsSay() throws Exception {
    String text =
        template("--set", "serviceMonitor.enabled=true", "--set", "prometheusRule.enabled=true");

    Map<String, Object> plain =
        byName(
            Files.readString(Path.of(InstallFiles.PLAIN))
                + "---\n"
                + Files.readString(CHECKS.resolve("servicemonitor.yaml"))
                + "---\n"
                + Files.readString(CHECKS.resolve("prometheusrule.yaml")),
            object -> !object.getKind().equals("Namespace"));
    Map<String, Object> chart =
        byName(text, object -> !object.getKind().equals("CustomResourceDefinition"));
    assertThat(chart.keySet()).isEqualTo(plain.keySet());
    assertThat(chart).isEqualTo(plain);
  }

  @Test
  void everyObjectCarriesTheStandardLabels() throws Exception {
    String text =
        helm.succeed(
            "template",
            "queueing",
            CHART,
            "-n",
            NAMESPACE,
            "--kube-version",
            "1.36.0",
            WITHOUT_DEFINITIONS,
            "--set",
            "serviceMonitor.enabled=true,prometheusRule.enabled=true,networkPolicy.enabled=true,"
                + "networkPolicy.apiServerCIDRs={10.0.0.0/8},config.dashboard.enabled=true,"
                + "queuedJobsPolicy.enabled=true,config.kubeQueue.enabled=true,"
                + "certificates.certManager.enabled=true,nameOverride=batch");

    assertThat(InstallFiles.objects(text))
        .hasSizeGreaterThan(90)
        .allSatisfy(
            object ->
                assertThat(object.getMetadata().getLabels())
                    .as(object.getKind() + " " + object.getMetadata().getName())
                    .containsEntry("app.kubernetes.io/name", "batch")
                    .containsEntry("app.kubernetes.io/instance", "queueing")
                    .containsEntry("app.kubernetes.io/version", "0.1.0")
                    .containsEntry("app.kubernetes.io/part-of", "sluice")
                    .containsEntry("app.kubernetes.io/managed-by", "Helm")
                    .containsEntry("helm.sh/chart", "sluice-0.1.0")
                    .containsEntry("control-plane", "controller-manager")
                    .containsKey("app.kubernetes.io/component"));
  }

  /** Merged with a Service of another chart of the API, the selector still fits the pods. */
  @Test
  void servicesSelectByTheKeysThatServicesOfThisApiHave() throws Exception {
    var objects = InstallFiles.objects(template(WITHOUT_DEFINITIONS));
    Map<String, String> pods =
        objects.stream()
            .filter(Deployment.class::isInstance)
            .map(it -> ((Deployment) it).getSpec().getTemplate().getMetadata().getLabels())
            .findFirst()
            .orElseThrow();

    assertThat(objects.stream().filter(Service.class::isInstance).map(Service.class::cast))
        .hasSize(3)
        .allSatisfy(
            service -> {
              assertThat(service.getSpec().getSelector().keySet())
                  .containsExactlyInAnyOrder(
                      "app.kubernetes.io/name", "app.kubernetes.io/instance", "control-plane");
              assertThat(pods).containsAllEntriesOf(service.getSpec().getSelector());
            });
  }

  @Test
  void itsDefinitionsAreThoseOfTheRepository() throws Exception {
    StringBuilder committed = new StringBuilder();
    try (Stream<Path> files = Files.list(Path.of("crds"))) {
      for (Path file : files.sorted().toList()) {
        committed.append("---\n").append(Files.readString(file));
      }
    }

    assertThat(byName(template(), this::isDefinition))
        .hasSize(18)
        .isEqualTo(byName(committed.toString(), object -> true));
  }

  @Test
  void withoutPlaceholdersTheOperatorMayCreateNoPods() throws Exception {
    String rule = "  resources: [pods]\n  verbs: [create, get]\n";

    assertThat(template(WITHOUT_DEFINITIONS)).contains(rule);
    assertThat(template(WITHOUT_DEFINITIONS, "--set=placeholderPods.enabled=false"))
        .doesNotContain(rule)
        .contains("capacitybuffers");
  }

  @Test
  void nothingIsLeftOfTheShippedNamespaceInAnother() throws Exception {
    String text =
        helm.succeed("template", "sluice", CHART, "-n", "elsewhere", "--kube-version", "1.36.0");

    assertThat(text).doesNotContain(NAMESPACE).contains("namespace: elsewhere");
  }

  @Test
  void theNamespacesOfTheConfigurationAreThoseThatAreAskedAbout() throws Exception {
    String text =
        template(
            "--set-json",
            "config.managedJobsNamespaceSelector={\"matchLabels\":{\"team\":\"yes\"}}");

    assertThat(text)
        .contains("  namespaceSelector:\n    matchLabels:\n      team: \"yes\"\n")
        .doesNotContain("- kube-system");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "batch/job | false | Ignore | Ignore | Ignore | Ignore",
        "batch/job,pod | false | Fail | Ignore | Ignore | Ignore",
        "batch/job,statefulset | false | Ignore | Ignore | Fail | Ignore",
        "pod,deployment,statefulset | false | Fail | Fail | Fail | Ignore",
        "batch/job | true | Ignore | Ignore | Ignore | Ignore",
        "pod,deployment,statefulset | true | Fail | Fail | Fail | Ignore",
        "batch/job,jobset.x-k8s.io/jobset | false | Ignore | Ignore | Ignore | Fail",
        "batch/job,jobset.x-k8s.io/jobset | true | Ignore | Ignore | Ignore | Fail"
      })
  void aKindWaitsForTheOperatorOnlyWhereItIsListed(
      String frameworks,
      String withoutQueue,
      String pod,
      String deployment,
      String statefulSet,
      String jobSet)
      throws Exception {
    String text =
        template(
            WITHOUT_DEFINITIONS,
            "--set",
            "config.integrations.frameworks={" + frameworks + "}",
            "--set",
            "config.manageJobsWithoutQueueName=" + withoutQueue);

    Map<String, String> policies = new TreeMap<>();
    for (HasMetadata object : InstallFiles.objects(text)) {
      if (object instanceof MutatingWebhookConfiguration mutating) {
        mutating.getWebhooks().forEach(it -> policies.put(it.getName(), it.getFailurePolicy()));
      } else if (object instanceof ValidatingWebhookConfiguration validating) {
        validating.getWebhooks().forEach(it -> policies.put(it.getName(), it.getFailurePolicy()));
      }
    }
    assertThat(policies)
        .containsEntry("mpod.kb.io", pod)
        .containsEntry("vpod.kb.io", pod)
        .containsEntry("mdeployment.kb.io", deployment)
        .containsEntry("vdeployment.kb.io", deployment)
        .containsEntry("mstatefulset.kb.io", statefulSet)
        .containsEntry("vstatefulset.kb.io", statefulSet)
        .containsEntry("mjobset.kb.io", jobSet)
        .containsEntry("vjobset.kb.io", jobSet)
        .containsEntry("vjob.kb.io", "Fail")
        .doesNotContainKeys("vpods-of-jobs.kb.io", "mpods-of-podgroups.kb.io");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "replicas=-1 | /replicas",
        "repicas=3 | 'repicas'",
        "image.repository= | /image/repository",
        "logLevel=loud | /logLevel",
        "config.webhook.port=0 | /config/webhook/port",
        "config.leaderElection.resourceName=mine | /config/leaderElection/resourceName",
        "config.integrations.frameworks={example.org/flow} | /config/integrations/frameworks",
        "config.namespace=here | /config",
        "config.integratons.frameworks={pod} | 'integratons'",
        "config.integrations.framework=pod | 'framework'",
        "config.podAccounting=Sometimes | /config/podAccounting",
        "config.leaderElection.leaderElect=false | replicas is 2",
        "config.metrics.bindAddress=1 | /config/metrics/bindAddress",
        "mutatingWebhook.reinvocationPolicy=Always | /mutatingWebhook/reinvocationPolicy"
      })
  void valuesThatCannotBeMeantAreRefusedByName(String value, String named) throws Exception {
    GoProgram.Run run = helm.run("template", "sluice", CHART, "--set", value);

    assertThat(run.code()).isNotZero();
    assertThat(run.errors()).contains(named.replace("'", ""));
  }

  /** Each set of values makes a chart that Helm can render, with what it asks for in it. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{} | replicas: 2",
        "{\"replicas\": 1} | replicas: 1",
        "{\"config\": {\"podAccounting\": \"Prevent\"}} | name: vpods-of-jobs.kb.io",
        "{\"config\": {\"featureGates\": {\"WASPodGroups\": true}}} | name:"
            + " mpods-of-podgroups.kb.io",
        "{\"replicas\": 1, \"config\": {\"leaderElection\": {\"leaderElect\": false}}} |"
            + " type: Recreate",
        "{\"config\": {\"metrics\": {\"bindAddress\": \"0\"}}} | name: health",
        "{\"config\": {\"health\": {\"healthProbeBindAddress\": \"0\"}}} | name: metrics",
        "{\"certificates\": {\"certManager\": {\"enabled\": true}}} | kind: Issuer",
        "{\"certificates\": {\"certManager\": {\"enabled\": true, \"issuerRef\": {\"kind\":"
            + " \"ClusterIssuer\", \"name\": \"company\"}}}} | kind: ClusterIssuer",
        "{\"certificates\": {\"secretName\": \"own\"}, \"config\": {\"internalCertManagement\":"
            + " {\"enable\": false}}} | secretName: own",
        "{\"serviceAccount\": {\"annotations\": {\"cloud\": \"role-7\"}}} | cloud: role-7",
        "{\"topologySpreadConstraints\": [{\"maxSkew\": 1, \"topologyKey\": \"zone\","
            + " \"whenUnsatisfiable\": \"DoNotSchedule\"}]} | whenUnsatisfiable: DoNotSchedule",
        "{\"env\": [{\"name\": \"HTTPS_PROXY\", \"value\": \"p\"}], \"javaOptions\": \"-Xmx1g\"} |"
            + " name: HTTPS_PROXY",
        "{\"volumes\": [{\"name\": \"x\", \"emptyDir\": {}}], \"volumeMounts\": [{\"name\": \"x\","
            + " \"mountPath\": \"/metrics-certs\"}]} | mountPath: /metrics-certs",
        "{\"preStop\": {\"sleep\": {\"seconds\": 5}}} | preStop:",
        "{\"networkPolicy\": {\"enabled\": true, \"apiServerCIDRs\": [\"10.0.0.0/28\"]}} | cidr:"
            + " 10.0.0.0/28",
        "{\"config\": {\"dashboard\": {\"enabled\": true, \"bindPort\": 9000}}} | name:"
            + " sluice-dashboard",
        "{\"config\": {\"dashboard\": {\"enabled\": true}}, \"dashboard\": {\"ingress\": {\"host\":"
            + " \"jobs.example\", \"tlsSecretName\": \"jobs-tls\"}}} | secretName: jobs-tls",
        "{\"enableKueueViz\": true, \"dashboard\": {\"ingress\": {\"host\": \"jobs.example\"}}} |"
            + " kind: Ingress",
        "{\"config\": {\"journal\": {\"enable\": true, \"directory\": \"/journal\"}}} | mountPath:"
            + " /journal",
        "{\"config\": {\"journal\": {\"enable\": true, \"directory\": \"/j\"}}, \"journal\":"
            + " {\"volume\": {\"emptyDir\": null, \"persistentVolumeClaim\": {\"claimName\":"
            + " \"past\"}}}} | claimName: past",
        "{\"config\": {\"ledger\": {\"enable\": true, \"directory\": \"/ledger\"}}} | mountPath:"
            + " /ledger",
        "{\"config\": {\"ledger\": {\"enable\": true, \"directory\": \"/l\"}}, \"ledger\":"
            + " {\"volume\": {\"emptyDir\": null, \"persistentVolumeClaim\": {\"claimName\":"
            + " \"used\"}}}} | claimName: used",
        "{\"queuedJobsPolicy\": {\"enabled\": true}} | policyName: kueue-queued-jobs",
        "{\"serviceMonitor\": {\"enabled\": true}, \"prometheusRule\": {\"enabled\": true}} |"
            + " alert: SluiceQueueStuck",
        "{\"prometheusRule\": {\"enabled\": true, \"runbookBaseUrl\": \"https://docs.example/\"}} |"
            + " runbook_url: https://docs.example/docs/alerts.md#sluicedown"
      })
  void everySetOfValuesIsRendered(String values, String expected, @TempDir Path directory)
      throws Exception {
    Path file = Files.writeString(directory.resolve("values.json"), values);

    assertThat(helm.run("lint", "--strict", CHART, "--values", file.toString()).code()).isZero();
    String text = template("--values", file.toString(), WITHOUT_DEFINITIONS);

    assertThat(text).contains(expected);
    assertThat(byName(text, object -> true)).isNotEmpty();
  }

  /** What only values of Kueue's chart make is something that an API server takes. */
  @Test
  void anApiServerTakesWhatValuesOfTheOtherChartMake(TestCluster cluster) throws Exception {
    String text =
        template(
            WITHOUT_DEFINITIONS,
            "--set=enableVisibilityAPF=true,controllerManager.podDisruptionBudget.minAvailable=50%",
            "--set=webhookService.type=NodePort,metricsService.labels.scrape=yes",
            "--set=controllerManager.hostNetwork=true,controllerManager.livenessProbe.periodSeconds=7",
            "--set-json=controllerManager.strategy={\"rollingUpdate\":{\"maxSurge\":0}}",
            "--set=enableKueueViz=true,dashboard.ingress.host=jobs.example",
            "--set=dashboard.ingress.className=nginx,dashboard.ingress.tlsSecretName=jobs-tls");
    Set<String> kinds =
        Set.of(
            "Ingress",
            "FlowSchema",
            "PriorityLevelConfiguration",
            "PodDisruptionBudget",
            "Service",
            "Deployment");

    List<HasMetadata> objects =
        InstallFiles.objects(text).stream().filter(it -> kinds.contains(it.getKind())).toList();

    assertThat(objects).extracting(HasMetadata::getKind).containsAll(kinds);
    for (HasMetadata object : objects) {
      if (object.getMetadata().getNamespace() != null) {
        object.getMetadata().setNamespace(cluster.namespace());
      }
      assertThat(cluster.client().resource(object).dryRun().create()).isNotNull();
    }
  }

  @Test
  void itInstallsUpgradesAndGoesAndTheQueuesStay(TestCluster cluster) throws Exception {
    KubernetesClient client = cluster.client();

    assertThat(helm.succeed("install", "sluice", CHART, "-n", NAMESPACE, "--create-namespace"))
        .contains("helm uninstall leaves the definitions", "./sluice uninstall --definitions\n");
    trust(client);
    helm.succeed("upgrade", "sluice", CHART, "-n", NAMESPACE, "--set", "replicas=3,logLevel=debug");

    Deployment deployment =
        client
            .apps()
            .deployments()
            .inNamespace(NAMESPACE)
            .withName("kueue-controller-manager")
            .require();
    assertThat(deployment.getSpec().getReplicas()).isEqualTo(3);
    assertThat(trusted(client)).as("what the operator wrote survives").containsOnly("dHJ1c3Q=");

    // Nobody runs here who would answer about the queue.
    client
        .admissionRegistration()
        .v1()
        .validatingWebhookConfigurations()
        .withName("kueue-validating-webhook-configuration")
        .delete();
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: main, namespace: ${namespace}}
        spec: {clusterQueue: pool}
        """);
    helm.succeed("uninstall", "sluice", "-n", NAMESPACE);

    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(
                        client
                            .apps()
                            .deployments()
                            .inNamespace(NAMESPACE)
                            .withName("kueue-controller-manager")
                            .get())
                    .isNull());
    assertThat(
            client
                .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "LocalQueue")
                .inNamespace(cluster.namespace())
                .withName("main")
                .get())
        .isNotNull();
  }

  /** As the operator does when it has made its certificates. */
  private static void trust(KubernetesClient client) {
    client
        .admissionRegistration()
        .v1()
        .validatingWebhookConfigurations()
        .withName("kueue-validating-webhook-configuration")
        .edit(
            found -> {
              found
                  .getWebhooks()
                  .forEach(webhook -> webhook.getClientConfig().setCaBundle("dHJ1c3Q="));
              return found;
            });
  }

  private static Set<String> trusted(KubernetesClient client) {
    return client
        .admissionRegistration()
        .v1()
        .validatingWebhookConfigurations()
        .withName("kueue-validating-webhook-configuration")
        .require()
        .getWebhooks()
        .stream()
        .map(webhook -> String.valueOf(webhook.getClientConfig().getCaBundle()))
        .collect(Collectors.toSet());
  }

  private boolean isDefinition(HasMetadata object) {
    return object.getKind().equals("CustomResourceDefinition");
  }

  private String template(String... more) throws Exception {
    return helm.succeed(
        Stream.concat(
                Stream.of("template", "kueue", CHART, "-n", NAMESPACE, "--kube-version", "1.36.0"),
                Stream.of(more))
            .toArray(String[]::new));
  }

  /** Objects as plain data, without the annotations and labels that are only Helm's concern. */
  private Map<String, Object> byName(String text, Predicate<HasMetadata> wanted) {
    Map<String, Object> objects = new TreeMap<>();
    for (HasMetadata object : InstallFiles.objects(text)) {
      if (!wanted.test(object)) {
        continue;
      }
      without(object.getMetadata(), "helm.sh/resource-policy");
      Map<String, String> labels = new TreeMap<>(object.getMetadata().getLabels());
      labels.keySet().removeAll(HELMS_LABELS);
      object.getMetadata().setLabels(labels);
      if (object instanceof Deployment deployment) {
        without(deployment.getSpec().getTemplate().getMetadata(), "checksum/config");
      }
      objects.put(
          object.getKind() + " " + object.getMetadata().getName(),
          serialization.convertValue(object, Object.class));
    }
    return objects;
  }

  private static void without(ObjectMeta metadata, String annotation) {
    Map<String, String> annotations = new TreeMap<>(metadata.getAnnotations());
    annotations.remove(annotation);
    metadata.setAnnotations(annotations);
  }
}
