package dev.sluice.api.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;

import dev.sluice.api.config.Configuration.BindAddress;
import dev.sluice.api.config.Configuration.DashboardServer;
import dev.sluice.api.config.Configuration.RunTimes;
import dev.sluice.api.config.Configuration.TlsVersion;
import dev.sluice.api.config.ConfigurationException.ValidationError;
import dev.sluice.api.config.Resources.Transformation;
import dev.sluice.core.model.AdmissionFairSharing;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.FairSharing.Strategy;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigurationLoaderTest {

  private static final String HEAD =
      "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n";
  private static final String OLD_HEAD =
      "apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\n";

  /** Changes of 0.20, section 3: 1000 requests per second and at once. */
  @Test
  void withoutFileEveryDefaultApplies() throws Exception {
    Configuration c =
        ConfigurationLoader.load(Optional.empty(), Optional.empty(), () -> "kueue-system");

    assertThat(c.namespace()).isEqualTo("kueue-system");
    assertThat(c.webhook())
        .isEqualTo(new Configuration.Webhook("", 9443, "/tmp/k8s-webhook-server/serving-certs"));
    assertThat(c.leaderElection())
        .isEqualTo(
            new Configuration.LeaderElection(
                true,
                "c1f6bfd2.kueue.x-k8s.io",
                "kueue-system",
                Duration.ofSeconds(15),
                Duration.ofSeconds(10),
                Duration.ofSeconds(2)));
    assertThat(c.metrics().bindAddress()).contains(new BindAddress("", 8443));
    assertThat(c.metrics().localQueueMetrics().enable()).isTrue();
    assertThat(c.health().bindAddress()).contains(new BindAddress("", 8081));
    assertThat(c.health().readinessPath()).isEqualTo("/readyz");
    assertThat(c.controller().concurrency("Job.batch")).isEqualTo(1);
    assertThat(c.controller().cacheSyncTimeout()).isEqualTo(Duration.ofMinutes(2));
    assertThat(c.clientConnection()).isEqualTo(new Configuration.ClientConnection(1000, 1000));
    assertThat(c.visibilityServer().bindPort()).isEqualTo(8082);
    assertThat(c.dashboard()).isEqualTo(new DashboardServer(false, "", 8444, Optional.empty()));
  }

  @Test
  void withoutFileTheKindsOfTheShippedManifestsAreManaged() throws Exception {
    Configuration none =
        ConfigurationLoader.load(Optional.empty(), Optional.empty(), () -> "kueue-system");
    String shipped = Files.readString(Path.of("deploy", "sluice.yaml"));
    String listed = shipped.substring(shipped.indexOf("      frameworks:\n"));
    List<String> frameworks =
        listed
            .lines()
            .skip(1)
            .takeWhile(line -> line.startsWith("      - "))
            .map(line -> line.substring("      - ".length()))
            .toList();

    assertThat(none.integrations().frameworks())
        .isNotEmpty()
        .containsExactlyInAnyOrderElementsOf(frameworks);
    assertThat(load("namespace: own").integrations().frameworks())
        .as("of a file that doesn't name any")
        .containsExactly("batch/job");
  }

  @Test
  void runTimesAreLearnedAsTheFileSays() throws Exception {
    assertThat(load("namespace: own").runTimes())
        .isEqualTo(new RunTimes(5, Duration.ofDays(30), 5_000));
    Configuration c = load("runTimes: {minSamples: 3, window: 48h, maxGroups: 100}");
    assertThat(c.runTimes()).isEqualTo(new RunTimes(3, Duration.ofDays(2), 100));
    assertThat(c.effective()).contains("runTimes:").contains("window: \"48h\"");
    assertThat(ConfigurationLoader.parse(c.effective(), "", () -> "x")).isEqualTo(c);
  }

  @Test
  void jobsInTheSystemsNamespacesAreNotManagedByDefault() throws Exception {
    Selector selector = load("namespace: own").managedJobsNamespaceSelector();

    assertThat(selector.matches(namespace("kube-system"))).isFalse();
    assertThat(selector.matches(namespace("own"))).isFalse();
    assertThat(selector.matches(namespace("team-a"))).isTrue();
  }

  @Test
  void readsAFile(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("config.yaml"), HEAD + "webhook: {port: 1}");

    Configuration c = ConfigurationLoader.load(Optional.of(file), Optional.empty(), () -> "ns");

    assertThat(c.webhook().port()).isEqualTo(1);
  }

  @Test
  void dashboardOfTheCommandLineIsServedWhateverTheFileSays(@TempDir Path directory)
      throws Exception {
    assertThat(withDashboard(Optional.empty()).enabled()).isTrue();
    for (String block : List.of("", "dashboard:", "dashboard: {enabled: false, bindPort: 7}")) {
      Path file = Files.writeString(directory.resolve("dashboard.yaml"), HEAD + block);
      assertThat(withDashboard(Optional.of(file)).enabled()).as(block).isTrue();
      assertThat(withDashboard(Optional.of(file)).bindPort())
          .as(block)
          .isEqualTo(block.endsWith("7}") ? 7 : 8444);
    }
    Path malformed = Files.writeString(directory.resolve("malformed.yaml"), HEAD + "dashboard: on");
    assertThatThrownBy(() -> withDashboard(Optional.of(malformed)))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("dashboard");
  }

  private static DashboardServer withDashboard(Optional<Path> file) throws Exception {
    return ConfigurationLoader.load(file, Optional.empty(), true, () -> "ns").dashboard();
  }

  @Test
  void theFileOfTheReleasedManifestsStartsTheOperator() throws Exception {
    Configuration c =
        load(
            """
            health: {healthProbeBindAddress: ":8081"}
            metrics: {bindAddress: ":8443"}
            webhook: {port: 9443}
            leaderElection: {leaderElect: true, resourceName: c1f6bfd2.kueue.x-k8s.io}
            controller:
              groupKindConcurrency:
                Job.batch: 5
                Pod: 5
                Workload.kueue.x-k8s.io: 10
                LocalQueue.kueue.x-k8s.io: 5
                Cohort.kueue.x-k8s.io: 1
                ClusterQueue.kueue.x-k8s.io: 5
                ResourceFlavor.kueue.x-k8s.io: 1
            clientConnection: {qps: 1000, burst: 1000}
            integrations:
              frameworks: [batch/job, kubeflow.org/mpijob, ray.io/rayjob, ray.io/raycluster,
                ray.io/rayservice, jobset.x-k8s.io/jobset, workload.codeflare.dev/appwrapper,
                trainer.kubeflow.org/trainjob, pod, deployment, statefulset,
                leaderworkerset.x-k8s.io/leaderworkerset]
            """);

    assertThat(c.controller().concurrency("Job.batch")).isEqualTo(5);
    assertThat(ConfigurationLoader.parse(c.effective(), "", () -> "x")).isEqualTo(c);
  }

  @Test
  void groupsOfTheKeyExchangeAndTheAddressOfProfilesAreRead() throws Exception {
    Configuration c =
        load("tls: {curvePreferences: [29, 23, 24, 25, 30]}\npprofBindAddress: '127.0.0.1:6060'");

    assertThat(c.tls().curvePreferences()).containsExactly(29, 23, 24, 25, 30);
    assertThat(c.pprofBindAddress()).contains(new BindAddress("127.0.0.1", 6060));
    assertThat(c.pprofBindAddress().orElseThrow().isLoopback()).isTrue();
    assertThat(ConfigurationLoader.parse(c.effective(), "", () -> "x")).isEqualTo(c);
    for (String open : List.of(":6060", "0.0.0.0:6060", "10.0.0.1:6060", "[::]:6060", "a.b:1")) {
      assertThat(BindAddress.parse(open).orElseThrow().isLoopback()).as(open).isFalse();
    }
    assertThat(BindAddress.parse("[::1]:6060").orElseThrow().isLoopback()).isTrue();
    assertThat(load("namespace: own").pprofBindAddress()).isEmpty();
  }

  @Test
  void customLabelsAreReadInTheirOrder() throws Exception {
    Configuration c =
        load(
            """
            featureGates: {CustomMetricLabels: true}
            metrics:
              customLabels:
              - {name: team}
              - {name: site, sourceKind: LocalQueue, sourceAnnotationKey: a.example/site,
                 trackedValues: [north, south]}
            """);

    assertThat(c.metrics().customLabels())
        .containsExactly(
            new Configuration.CustomLabel(
                "team", Configuration.SourceKind.CLUSTER_QUEUE, "team", false, List.of()),
            new Configuration.CustomLabel(
                "site",
                Configuration.SourceKind.LOCAL_QUEUE,
                "a.example/site",
                true,
                List.of("north", "south")));
    assertThat(ConfigurationLoader.parse(c.effective(), "", () -> "x")).isEqualTo(c);
  }

  @Test
  void aMissingFileIsNamed(@TempDir Path directory) {
    Path file = directory.resolve("none.yaml");

    assertThatThrownBy(
            () -> ConfigurationLoader.load(Optional.of(file), Optional.empty(), () -> "ns"))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("configuration file " + file)
        .hasMessageContaining("does not exist")
        .hasMessageNotContaining("Exception");
  }

  @Test
  void readsEveryFieldThatWorksToday() throws Exception {
    Configuration c =
        load(
            """
            namespace: queueing
            webhook: {host: 127.0.0.1, port: 0, certDir: /certs}
            leaderElection: {leaderElect: false, leaseDuration: 1m, renewDeadline: 30s, retryPeriod: 500ms,
              resourceName: lock, resourceLock: leases, resourceNamespace: other}
            metrics:
              bindAddress: "[::1]:9000"
              enableClusterQueueResources: true
              localQueueMetrics:
                enable: true
                localQueueSelector:
                  matchLabels: {team: a}
                  matchExpressions: [{key: tier, operator: Exists}]
            health: {healthProbeBindAddress: "0", readinessEndpointName: ready, livenessEndpointName: /live}
            controller: {groupKindConcurrency: {Job.batch: 5}, cacheSyncTimeout: 60000000000}
            tls: {minVersion: VersionTLS12, cipherSuites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]}
            manageJobsWithoutQueueName: true
            managedJobsNamespaceSelector: {matchLabels: {managed: "true"}}
            internalCertManagement: {enable: false, webhookServiceName: hooks, webhookSecretName: hooks.cert}
            clientConnection: {qps: -1, burst: 7}
            integrations: {frameworks: [batch/job], labelKeysToCopy: [example.com/team]}
            resources:
              quotaCheckStrategy: BlockUndeclared
              excludeResourcePrefixes: [example.com/license]
              transformations:
              - {input: example.com/mig, strategy: Replace, multiplyBy: cpu, outputs: {gpu-memory: 5Gi, credits: 500m}}
              - {input: example.com/gpu, outputs: {credits: 10}}
              injectedContainers: [{name: proxy, requests: {cpu: 50m, memory: 1Ki}}]
            visibilityServer: {bindAddress: "127.0.0.1", bindPort: 1234}
            """);

    assertThat(c.metrics().bindAddress()).contains(new BindAddress("::1", 9000));
    assertThat(c.metrics().localQueueMetrics().localQueueSelector().matches(Map.of("team", "a")))
        .isFalse();
    assertThat(
            c.metrics()
                .localQueueMetrics()
                .localQueueSelector()
                .matches(Map.of("team", "a", "tier", "x")))
        .isTrue();
    assertThat(c.health().bindAddress()).isEmpty();
    assertThat(c.health().readinessPath()).isEqualTo("/ready");
    assertThat(c.health().livenessPath()).isEqualTo("/live");
    assertThat(c.controller().concurrency("Job.batch")).isEqualTo(5);
    assertThat(c.controller().cacheSyncTimeout()).isEqualTo(Duration.ofMinutes(1));
    assertThat(c.tls().minVersion()).contains(TlsVersion.TLS_1_2);
    assertThat(c.clientConnection().qps()).isEqualTo(-1);
    assertThat(c.leaderElection().resourceNamespace()).isEqualTo("other");
    assertThat(c.leaderElection().retryPeriod()).isEqualTo(Duration.ofMillis(500));
    assertThat(c.integrations().labelKeysToCopy()).containsExactly("example.com/team");
    assertThat(c.resources().excludeResourcePrefixes()).containsExactly("example.com/license");
    assertThat(c.resources().transformations())
        .extracting(Transformation::input, Transformation::replace, Transformation::multiplyBy)
        .containsExactly(
            tuple("example.com/mig", true, "cpu"), tuple("example.com/gpu", false, ""));
    assertThat(c.resources().transformations().getLast().outputs())
        .isEqualTo(Map.of("credits", BigDecimal.TEN));
    assertThat(c.resources().injectedContainers())
        .isEqualTo(Map.of("proxy", Map.of("cpu", 50L, "memory", 1024L)));
  }

  @Test
  void containersThatAreUsuallyInjectedAreKnownUnlessTheFileListsOthers() throws Exception {
    assertThat(load("resources: {}").resources().injectedContainers())
        .containsEntry("istio-proxy", Map.of("cpu", 100L, "memory", 128L << 20));
    assertThat(load("resources: {injectedContainers: []}").resources().injectedContainers())
        .isEmpty();
  }

  @Test
  void theEffectiveConfigurationReadsBackAsTheSame() throws Exception {
    Configuration c =
        load(
            """
            namespace: queueing
            health: {healthProbeBindAddress: "0"}
            metrics: {localQueueMetrics: {enable: true, localQueueSelector: {matchLabels: {n: "1"}}}}
            leaderElection: {leaseDuration: 1h1m1.5s}
            multiKueue:
              origin: head-office
              workerLostTimeout: 1h
              dispatcherName: kueue.x-k8s.io/multikueue-dispatcher-incremental
              incrementalDispatcherConfig: {stepSize: 2}
            waitForPodsReady:
              timeout: 4m
              recoveryTimeout: 0s
              maxTimeoutOnWorkload: 2h
              requeuingStrategy: {timestamp: Creation, backoffLimitCount: 3, backoffMaxSeconds: 90}
            objectRetentionPolicies: {workloads: {afterFinished: 1h}}
            resources:
              excludeResourcePrefixes: [example.com/license]
              transformations:
              - {input: example.com/mig, strategy: Replace, multiplyBy: cpu, outputs: {gpu-memory: 5Gi, credits: 500m}}
            fairSharing: {preemptionStrategies: [LessThanInitialShare]}
            admissionFairSharing:
              usageHalfLifeTime: 168h
              usageSamplingInterval: 1m30s
              resourceWeights: {cpu: 2.5, memory: 0}
            featureGates: {LocalQueueMetrics: false, QuotaCheckStrategy: false, WorkloadLevelWaitForPodsReady: true}
            """);

    assertThat(ConfigurationLoader.parse(c.effective(), "", () -> "x")).isEqualTo(c);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        HEAD,
        HEAD + "integrations: {frameworks: []}\nclientConnection: {qps: 20, burst: 7}",
        HEAD + "featureGates: {DisableWaitForPodsReady: true}\nadmissionFairSharing: {}",
        HEAD
            + "metrics: {bindAddress: '0', localQueueMetrics: {}}\n"
            + "controller: {cacheSyncTimeout: 1}",
        HEAD + "admissionFairSharing: {resourceWeights: {cpu: 100.0, memory: 0.001}}",
        HEAD
            + "multiKueue: {clusterProfile: {credentialsProviders: [{name: a, execConfig:"
            + " {command: c, apiVersion: v1, interactiveMode: Never, args: ['1', 'true']}}]}}",
        HEAD + "managedJobsNamespaceSelector: {matchLabels: {on: 'true', n: '0x1'}}",
        OLD_HEAD,
        OLD_HEAD + "waitForPodsReady: {enable: true}\nfairSharing: {enable: true}",
        OLD_HEAD
            + "waitForPodsReady: {enable: false}\nfairSharing: {enable: false}"
            + "\nqueueVisibility: {updateIntervalSeconds: 5}",
      })
  void theEffectiveConfigurationOfAnyFileReadsBackAsTheSame(String file) throws Exception {
    Configuration c = ConfigurationLoader.parse(file, "", () -> "own");

    assertThat(ConfigurationLoader.parse(c.effective(), "", () -> "x")).isEqualTo(c);
  }

  @Test
  void theEffectiveConfigurationShowsNoSecrets() throws Exception {
    Configuration c =
        load(
            "multiKueue: {clusterProfile: {accessProviders: [{name: a, execConfig: {command: c,"
                + " apiVersion: v1, interactiveMode: Never, env: [{name: TOKEN, value:"
                + " hidden}]}}]}}");

    assertThat(c.multiKueue().accessProviders().getFirst().env()).containsEntry("TOKEN", "hidden");
    assertThat(c.effective()).contains("TOKEN").doesNotContain("hidden");
  }

  /** Among others, changes of 0.20, section 1: nothing else counts as pods. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "nonsense: 1 | nonsense | unknown field",
        "Namespace: a | Namespace | unknown field; did you mean namespace?",
        "webhook: {port: 1, port: 2} | webhook.port | line 3: given twice",
        "webhook: {prot: 1} | webhook.prot | unknown field; known here: host, port, certDir",
        "webhook: 5 | webhook | 5 is not allowed; allowed: fields with values",
        "webhook: {port: 70000} | webhook.port | 70000 is not allowed; allowed: a whole number from"
            + " 0 to 65535",
        "webhook: {port: '1'} | webhook.port | \"1\" is not allowed",
        "namespace: Big | namespace | \"Big\" is not allowed; allowed: a DNS label",
        "namespace: [a] | namespace | a list is not allowed; allowed: a text",
        "runTimes: {minSamples: 1} | runTimes.minSamples | 1 is not allowed; allowed: a whole"
            + " number from 2 to 64",
        "runTimes: {window: 10m} | runTimes.window | \"10m\" is not allowed; allowed: at least 1h",
        "runTimes: {maxGroups: 0} | runTimes.maxGroups | 0 is not allowed; allowed: a whole number"
            + " from 1 to 100000",
        "runTimes: {groups: 1} | runTimes.groups | unknown field",
        "leaderElection: {leaseDuration: 15} | leaderElection.leaseDuration | 15 is not allowed;"
            + " allowed: a text",
        "leaderElection: {leaseDuration: '15'} | leaderElection.leaseDuration | \"15\" has no unit",
        "leaderElection: {leaseDuration: 5s} | leaderElection.leaseDuration | \"5s\" is not"
            + " allowed; allowed: more than renewDeadline, which is 10s",
        "leaderElection: {retryPeriod: 9s} | leaderElection.renewDeadline | \"10s\" is not allowed",
        "leaderElection: {retryPeriod: -1s} | leaderElection.retryPeriod | \"-1s\" is not allowed;"
            + " allowed: at least 1ms",
        "leaderElection: {resourceLock: configmaps} | leaderElection.resourceLock | \"configmaps\""
            + " is not allowed; allowed: leases",
        "metrics: {bindAddress: 0} | metrics.bindAddress | 0 is not allowed; allowed: a text (write"
            + " it in quotes: \"0\")",
        "metrics: {bindAddress: 'x'} | metrics.bindAddress | \"x\" is not allowed; allowed:"
            + " host:port",
        "metrics: {localQueueMetrics: {localQueueSelector: {matchExpressions: [{key: a, operator:"
            + " Foo}]}}} |"
            + " metrics.localQueueMetrics.localQueueSelector.matchExpressions[0].operator | \"Foo\""
            + " is not allowed; allowed: DoesNotExist, Exists, In, NotIn",
        "metrics: {localQueueMetrics: {localQueueSelector: {matchExpressions: [{key: a, operator:"
            + " In}]}}} | metrics.localQueueMetrics.localQueueSelector.matchExpressions[0].values |"
            + " [] is not allowed; allowed: at least one value for In",
        "metrics: {customLabels: [{name: 9}]} | metrics.customLabels[0].name | 9 is not allowed",
        "metrics: {customLabels: [{name: team}]} | metrics.customLabels | needs the feature gate"
            + " CustomMetricLabels, which is off",
        "metrics: {customLabels: [{name: team, sourceKind: Workload}]} |"
            + " metrics.customLabels[0].trackedValues | \"0 values\" is not allowed; allowed: 1 to"
            + " 12 values",
        "health: {healthProbeBindAddress: ':99999'} | health.healthProbeBindAddress | \":99999\" is"
            + " not allowed",
        "controller: {groupKindConcurrency: {Job.batch: 0}} |"
            + " controller.groupKindConcurrency[Job.batch] | 0 is not allowed; allowed: a whole"
            + " number of at least 1",
        "controller: {cacheSyncTimeout: 2m} | controller.cacheSyncTimeout | \"2m\" is not allowed;"
            + " allowed: a whole number",
        "tls: {minVersion: TLS13} | tls.minVersion | \"TLS13\" is not allowed; allowed:"
            + " VersionTLS12, VersionTLS13",
        "tls: {minVersion: VersionTLS13, cipherSuites: [TLS_AES_128_GCM_SHA256]} | tls.cipherSuites"
            + " | can't be chosen together",
        "tls: {cipherSuites: [RC4]} | tls.cipherSuites | \"RC4\" is not allowed",
        "tls: {curvePreferences: [29, 7]} | tls.curvePreferences | 7 is not allowed; allowed: 23"
            + " (secp256r1), 24",
        "tls: {curvePreferences: [4588]} | tls.curvePreferences | 4588 (X25519MLKEM768) is not"
            + " offered by Java",
        "tls: {curvePreferences: [4294967325]} | tls.curvePreferences[0] | 4294967325 is not"
            + " allowed",
        "manageJobsWithoutQueueName: 'yes' | manageJobsWithoutQueueName | \"yes\" is not allowed;"
            + " allowed: true or false",
        "managedJobsNamespaceSelector: {} | managedJobsNamespaceSelector | must not match the"
            + " namespace \"kube-system\"",
        "managedJobsNamespaceSelector: {matchLabels: {kubernetes.io/metadata.name: own}} |"
            + " managedJobsNamespaceSelector | must not match the namespace \"own\"",
        "managedJobsNamespaceSelector: {matchLabels: {'-x': a}} |"
            + " managedJobsNamespaceSelector.matchLabels | \"-x\" is not allowed",
        "internalCertManagement: {webhookServiceName: 1a} |"
            + " internalCertManagement.webhookServiceName | \"1a\" is not allowed",
        "internalCertManagement: {webhookSecretName: a..b} |"
            + " internalCertManagement.webhookSecretName | \"a..b\" is not allowed",
        "waitForPodsReady: {blockAdmission: 'yes'} | waitForPodsReady.blockAdmission | \"yes\" is"
            + " not allowed",
        "waitForPodsReady: {maxTimeoutOnWorkload: 1h} | waitForPodsReady.maxTimeoutOnWorkload |"
            + " needs the feature gate WorkloadLevelWaitForPodsReady, which is off",
        "waitForPodsReady: {maxTimeoutOnWorkload: 0s} | waitForPodsReady.maxTimeoutOnWorkload |"
            + " must be more than 0s",
        "waitForPodsReady: {unscheduledTimeout: 5m} | waitForPodsReady.unscheduledTimeout |"
            + " needs the feature gate WaitForPodsReadyUnscheduledTimeout, which is off",
        "waitForPodsReady: {timeout: 0s} | waitForPodsReady.timeout | \"0s\" is not allowed",
        "waitForPodsReady: {enable: true} | waitForPodsReady.enable | unknown field: only files of"
            + " version config.kueue.x-k8s.io/v1beta1",
        "waitForPodsReady: {requeuingStrategy: {timestamp: Later}} |"
            + " waitForPodsReady.requeuingStrategy.timestamp | \"Later\" is not allowed; allowed:"
            + " Creation, Eviction",
        "waitForPodsReady: {requeuingStrategy: {backoffLimitCount: -1}} |"
            + " waitForPodsReady.requeuingStrategy.backoffLimitCount | -1 is not allowed",
        "clientConnection: {qps: fast} | clientConnection.qps | \"fast\" is not allowed; allowed: a"
            + " number",
        "clientConnection: {burst: 1.5} | clientConnection.burst | 1.5 is not allowed; allowed: a"
            + " whole number",
        "integrations: {frameworks: [batch/jop]} | integrations.frameworks[0] | \"batch/jop\" is"
            + " not allowed",
        "integrations: {frameworks: [batch/job, batch/job]} | integrations.frameworks[1] |"
            + " \"batch/job\" is given twice",
        "integrations: {externalFrameworks: [X.v1.y.z, X.v1.y.z]} |"
            + " integrations.externalFrameworks[1] | \"X.v1.y.z\" is given twice",
        "integrations: {frameworks: [jobset.x-k8s.io/jobset], externalFrameworks:"
            + " [JobSet.v1alpha2.jobset.x-k8s.io]} | integrations.externalFrameworks[0] |"
            + " \"JobSet.v1alpha2.jobset.x-k8s.io\" is also listed in integrations.frameworks",
        "integrations: {frameworks: [statefulset], externalFrameworks: [StatefulSet.v1.apps]} |"
            + " integrations.externalFrameworks[0] | \"StatefulSet.v1.apps\" is also listed",
        "integrations: {externalFrameworks: [x]} | integrations.externalFrameworks[0] | \"x\" is"
            + " not allowed; allowed: Kind.version.group",
        "integrations: {labelKeysToCopy: ['a b']} | integrations.labelKeysToCopy[0] | \"a b\" is"
            + " not allowed",
        "integrations: {podOptions: {}} | integrations.podOptions | unknown field",
        "multiKueue: {externalFrameworks: [{name: x}]} | multiKueue.externalFrameworks[0] | \"x\""
            + " is not allowed; allowed: Kind.version.group",
        "multiKueue: {externalFrameworks: [{name: X.v1.y.z}, {name: X.v1.y.z}]} |"
            + " multiKueue.externalFrameworks[1] | \"X.v1.y.z\" is given twice",
        "multiKueue: {externalFrameworks: [{name: JobSet.v1alpha2.jobset.x-k8s.io}]} |"
            + " multiKueue.externalFrameworks[0].name | \"JobSet.v1alpha2.jobset.x-k8s.io\" is"
            + " built in",
        "multiKueue: {origin: 'a b'} | multiKueue.origin | \"a b\" is not allowed",
        "multiKueue: {gcInterval: -1s} | multiKueue.gcInterval | \"-1s\" is not allowed",
        "multiKueue: {incrementalDispatcherConfig: {stepSize: 0}} |"
            + " multiKueue.incrementalDispatcherConfig.stepSize | 0 is not allowed",
        "multiKueue: {incrementalDispatcherConfig: {}} | multiKueue.incrementalDispatcherConfig |"
            + " only goes with dispatcherName",
        "multiKueue: {clusterProfile: {accessProviders: [{name: a}]}} |"
            + " multiKueue.clusterProfile.accessProviders[0].execConfig.command | is missing",
        "fairSharing: {} | fairSharing.preemptionStrategies | [] is not allowed",
        "fairSharing: {preemptionStrategies: [LessThanInitialShare, LessThanInitialShare]} |"
            + " fairSharing.preemptionStrategies | [LessThanInitialShare, LessThanInitialShare] is"
            + " not allowed; allowed: [LessThanOrEqualToFinalShare], [LessThanInitialShare] or",
        "admissionFairSharing: {usageHalfLifeTime: -1h} | admissionFairSharing.usageHalfLifeTime |"
            + " \"-1h\" is not allowed; allowed: at least 0s",
        "admissionFairSharing: {usageSamplingInterval: 0s} |"
            + " admissionFairSharing.usageSamplingInterval | \"0s\" is not allowed",
        "admissionFairSharing: {resourceWeights: {cpu: -1}} |"
            + " admissionFairSharing.resourceWeights.cpu | -1 is not allowed",
        "admissionFairSharing: {resourceWeights: {cpu: 1e999999999}} |"
            + " admissionFairSharing.resourceWeights.cpu | 1e999999999 is not allowed",
        "resources: {transformations: [{input: a, outputs: {b: 1e999999999}}]} |"
            + " resources.transformations[0].outputs.b | 1e999999999 is not allowed; allowed: a"
            + " number of at most 1000 digits before and after the decimal point",
        "resources: {transformations: [{input: a, outputs: {b: -1.5e-999999999}}]} |"
            + " resources.transformations[0].outputs.b | -1.5e-999999999 is not allowed",
        "kubeQueue: {oversellRate: 1.0e-999999999} | kubeQueue.oversellRate | 1.0e-999999999 is"
            + " not allowed",
        "clientConnection: {qps: 1e999} | clientConnection.qps | Infinity is not allowed",
        "resources: {quotaCheckStrategy: IgnoreUndeclared, excludeResourcePrefixes: [a]} |"
            + " resources.quotaCheckStrategy | IgnoreUndeclared can't be combined with"
            + " excludeResourcePrefixes",
        "resources: {quotaCheckStrategy: Ignore} | resources.quotaCheckStrategy | \"Ignore\" is not"
            + " allowed; allowed: BlockUndeclared, IgnoreUndeclared",
        "resources: {injectedContainers: [{requests: {cpu: 1}}]} |"
            + " resources.injectedContainers[0].name | is missing; needed: the name of a container",
        "resources: {injectedContainers: [{name: a}, {name: a}]} |"
            + " resources.injectedContainers[1].name | \"a\" is given twice",
        "resources: {injectedContainers: [{name: a, requests: {cpu: -1}}]} |"
            + " resources.injectedContainers[0].requests | \"-1\" is not allowed; allowed:"
            + " quantities of at least 0",
        "resources: {transformations: [{outputs: {b: 1}}]} | resources.transformations[0].input |"
            + " is missing",
        "resources: {transformations: [{input: a, strategy: Drop}]} |"
            + " resources.transformations[0].strategy | \"Drop\" is not allowed; allowed: Replace,"
            + " Retain",
        "resources: {transformations: [{input: 'a b'}]} | resources.transformations[0].input |"
            + " \"a b\" is not allowed",
        "resources: {transformations: [{input: a, multiplyBy: '-'}]} |"
            + " resources.transformations[0].multiplyBy | \"-\" is not allowed",
        "resources: {transformations: [{input: a, outputs: {b: x}}]} |"
            + " resources.transformations[0].outputs.b | \"x\" is not allowed; allowed: a quantity",
        "resources: {transformations: [{input: a, outputs: {pods: 1}}]} |"
            + " resources.transformations[0].outputs | \"pods\" is not allowed; allowed: the name"
            + " of another resource than pods",
        "resources: {transformations: [{input: a}, {input: a}]} |"
            + " resources.transformations[1].input | \"a\" is given twice",
        "resources: {deviceClassMappings: [{deviceClassNames: [b]}]} |"
            + " resources.deviceClassMappings[0].name | is missing",
        "resources: {deviceClassMappings: [{name: pods, deviceClassNames: [b]}]} |"
            + " resources.deviceClassMappings[0].name | \"pods\" is not allowed",
        "resources: {deviceClassMappings: [{name: a, deviceClassNames: []}]} |"
            + " resources.deviceClassMappings[0].deviceClassNames | \"0 names\" is not allowed;"
            + " allowed: 1 to 8",
        "resources: {deviceClassMappings: [{name: a, deviceClassNames: [b, b]}]} |"
            + " resources.deviceClassMappings[0].deviceClassNames | \"b, b\" is not allowed",
        "resources: {deviceClassMappings: [{name: a, deviceClassNames: ['b c']}]} |"
            + " resources.deviceClassMappings[0].deviceClassNames | \"b c\" is not allowed",
        "resources: {deviceClassMappings: [{name: a, deviceClassNames: [b]}, {name: a,"
            + " deviceClassNames: [c]}]} | resources.deviceClassMappings[1].name | \"a\" is given"
            + " twice",
        "resources: {deviceClassMappings: [{name: a, deviceClassNames: [b]}, {name: c,"
            + " deviceClassNames: [b]}]} | resources.deviceClassMappings[1].deviceClassNames |"
            + " \"b\" is in another mapping",
        "resources: {deviceClassMappings: [{name: a, deviceClassNames: [b], sources: [{}]}]} |"
            + " resources.deviceClassMappings[0].sources[0].counter | is missing",
        "resources: {deviceClassMappings: [{name: a, deviceClassNames: [b], sources: [{capacity:"
            + " {name: c, driver: d}}]}]} | resources.deviceClassMappings[0].sources | needs the"
            + " feature gate KueueDRAIntegrationConsumableCapacity",
        "resources: {deviceClassMappings: [{name: a, deviceClassNames: [b], sources: [{counter:"
            + " {name: C_1, driver: d, deviceSelector: {cel: {expression: 'true'}}}}]}]} |"
            + " resources.deviceClassMappings[0].sources[0].counter.name | \"C_1\" is not allowed",
        "resources: {deviceClassMappings: [{name: a, deviceClassNames: [b], sources: [{counter:"
            + " {name: c, driver: d}}]}]} |"
            + " resources.deviceClassMappings[0].sources[0].counter.deviceSelector.cel.expression |"
            + " is missing",
        "objectRetentionPolicies: {workloads: {afterFinished: 1}} |"
            + " objectRetentionPolicies.workloads.afterFinished | 1 is not allowed",
        "objectRetentionPolicies: {workloads: {afterDeactivatedByKueue: -1h}} |"
            + " objectRetentionPolicies.workloads.afterDeactivatedByKueue | \"-1h\" is not allowed",
        "dashboard: {bindPort: 65536} | dashboard.bindPort | 65536 is not allowed",
        "dashboard: {enabled: 1} | dashboard.enabled | 1 is not allowed",
        "dashboard: {proxy: {}} | dashboard.proxy.clientCAFile | \"\" is not allowed",
        "dashboard: {proxy: {clientCAFile: /ca, userHeader: 'a b'}} | dashboard.proxy.userHeader |"
            + " \"a b\" is not allowed",
        "dashboard: {user: x} | dashboard.user | unknown field",
        "visibilityServer: {bindPort: 0} | visibilityServer.bindPort | 0 is not allowed",
        "visibilityServer: {bindAddress: example.com} | visibilityServer.bindAddress |"
            + " \"example.com\" is not allowed",
        "pprofBindAddress: '6060' | pprofBindAddress | \"6060\" is not allowed; allowed:"
            + " host:port",
        "featureGates: {Nope: true} | featureGates.Nope | unknown feature gate",
        "featureGates: {partialadmission: true} | featureGates.partialadmission | unknown feature"
            + " gate; did you mean PartialAdmission?",
        "featureGates: {PartialAdmission: 'true'} | featureGates.PartialAdmission | \"true\" is not"
            + " allowed; allowed: true or false",
        "featureGates: {FairSharingReevaluatePreemptionCandidates: true} |"
            + " featureGates.FairSharingReevaluatePreemptionCandidates | true is not supported yet:"
            + " in this version of Sluice FairSharingReevaluatePreemptionCandidates is always off;"
            + " allowed: false, or leave it out",
        "featureGates: {UnadmittedWorkloadsObservability: false} |"
            + " featureGates.UnadmittedWorkloadsObservability | false is not supported yet",
        "featureGates: {FlavorFungibility: false} |"
            + " featureGates.FlavorFungibilityPreserveScanProgress | is on, but needs"
            + " FlavorFungibility, which is off",
        "featureGates: {TLSOptions: false} | featureGates.TLSOptions | false is not allowed;"
            + " allowed: true (the gate is locked)",
        "featureGates: {TASBalancedPlacement: true, TopologyAwareScheduling: false} |"
            + " featureGates.TASBalancedPlacement | is on, but needs TopologyAwareScheduling,"
            + " which is off"
      })
  void refusesByPathValueAndRule(String yaml, String path, String message) {
    assertThat(problems(HEAD + yaml, ""))
        .anySatisfy(
            validationError -> {
              assertThat(validationError.path()).isEqualTo(path);
              assertThat(validationError.message()).startsWith(message);
            });
  }

  /** A capacity's name without a domain has the driver as its domain. */
  @Test
  void refusesOneCapacityInTwoMappings() {
    String yaml =
        """
        featureGates: {KueueDRAIntegrationConsumableCapacity: true}
        resources:
          deviceClassMappings:
          - {name: a, deviceClassNames: [b], sources: [{capacity: {name: m, driver: d.com}}]}
          - {name: c, deviceClassNames: [b], sources: [{capacity: {name: d.com/m, driver: d.com}}]}
        """;
    assertThat(problems(HEAD + yaml, ""))
        .singleElement()
        .satisfies(
            validationError -> {
              assertThat(validationError.path())
                  .isEqualTo("resources.deviceClassMappings[1].deviceClassNames");
              assertThat(validationError.message()).startsWith("\"b\" is in another mapping");
            });
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{capacity: {name: 9c, driver: d}} | [0].capacity.name | \"9c\" is not allowed",
        "{capacity: {name: D_/c, driver: d}} | [0].capacity.name | \"D_/c\" is not allowed",
        "{capacity: {name: c}} | [0].capacity.driver | is missing",
        "{capacity: {name: c, driver: d, deviceSelector: {}}} |"
            + " [0].capacity.deviceSelector.cel.expression | is missing",
        "{capacity: {name: c, driver: d, selector: {}}} | [0].capacity.selector | unknown field;"
            + " known here: name, driver, deviceSelector",
        "{capacity: {name: c, driver: d}, counter: {}} | [0].counter | stands beside capacity",
        "{capacity: {name: c, driver: d}}, {counter: {name: c, driver: d, deviceSelector: {cel:"
            + " {expression: x}}}} | '' | \"counters and capacities\" is not allowed",
      })
  void refusesWrongCapacities(String sources, String path, String message) {
    String yaml =
        """
        featureGates: {KueueDRAIntegrationConsumableCapacity: true}
        resources: {deviceClassMappings: [{name: a, deviceClassNames: [b], sources: [%s]}]}
        """
            .formatted(sources);
    refusesByPathValueAndRule(yaml, "resources.deviceClassMappings[0].sources" + path, message);
  }

  @Test
  void capacitiesOfDevicesAreRead() throws Exception {
    assertThat(
            load("""
            featureGates: {KueueDRAIntegrationConsumableCapacity: true}
            resources:
              deviceClassMappings:
              - name: a
                deviceClassNames: [b]
                sources: [{capacity: {name: e.com/c_1, driver: d}}]
            """)
                .resources()
                .deviceClasses())
        .containsExactly(
            new Resources.DeviceClassMapping(
                "a",
                List.of("b"),
                List.of(
                    new Resources.DeviceSource(
                        Resources.DeviceSource.Kind.CAPACITY, "e.com/c_1", "d", "true"))));
  }

  @Test
  void theStepSizeNeedsItsGate() {
    String yaml =
        """
        multiKueue:
          dispatcherName: kueue.x-k8s.io/multikueue-dispatcher-incremental
          incrementalDispatcherConfig: {stepSize: 2}
        """;

    assertThat(problems(HEAD + yaml, "MultiKueueIncrementalDispatcherConfig=false"))
        .containsExactly(
            new ValidationError(
                "multiKueue.incrementalDispatcherConfig",
                "needs the feature gate MultiKueueIncrementalDispatcherConfig, which is off"));
  }

  @Test
  void tellsEverythingAtOnce() {
    ConfigurationException failure =
        failure(HEAD + "webhook: {port: -1}\nfoo: 1\npprofBindAddress: ':x'\n", "Nope=true");

    assertThat(failure.problems())
        .extracting(ValidationError::path)
        .containsExactlyInAnyOrder(
            "--feature-gates Nope", "webhook.port", "foo", "pprofBindAddress");
    assertThat(failure)
        .hasMessageStartingWith("configuration has 4 problems:\n  - --feature-gates Nope: ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "# nothing\n"})
  void anEmptyFileSaysWhatIsNeeded(String yaml) {
    assertThat(problems(yaml, ""))
        .extracting(ValidationError::message)
        .containsExactly("the file is empty; at least apiVersion and kind are needed");
  }

  @Test
  void brokenYamlIsToldWithItsLine() {
    assertThat(problems(HEAD + "webhook: {port: 1", ""))
        .singleElement()
        .satisfies(
            validationError ->
                assertThat(validationError.message()).contains("line 3").contains("not YAML"));
  }

  @Test
  void aliasesAndFurtherDocumentsAreRefused() {
    assertThat(problems(HEAD + "namespace: &a x\npprofBindAddress: *a\n---\nkind: X\n", ""))
        .extracting(ValidationError::message)
        .containsExactly(
            "line 4: YAML aliases are not allowed; write the value out",
            "line 6: a second YAML document; only one is allowed");
  }

  @Test
  void kindAndVersionMustBeKnown() {
    assertThat(problems("apiVersion: v1\nkind: ConfigMap\n", ""))
        .extracting(ValidationError::toString)
        .containsExactly(
            "kind: \"ConfigMap\" is not allowed; allowed: Configuration",
            "apiVersion: \"v1\" is not allowed; allowed: config.kueue.x-k8s.io/v1beta2 or"
                + " config.kueue.x-k8s.io/v1beta1");
    assertThat(problems("namespace: a\n", ""))
        .extracting(ValidationError::path)
        .containsExactly("kind", "apiVersion");
  }

  @Test
  void readinessIsWatchedUnlessAGateOrAnOldFileSaysOtherwise() throws Exception {
    Configuration silent = load("namespace: a");
    Configuration meant = load("featureGates: {DisableWaitForPodsReady: true}");
    Configuration old = ConfigurationLoader.parse(OLD_HEAD, "", () -> "own");

    assertThat(silent.waitForPodsReady())
        .contains(
            new Configuration.WaitForPodsReady(
                Duration.ofMinutes(30),
                false,
                Duration.ofMinutes(30),
                new Configuration.WaitForPodsReady.Requeuing(
                    true, Optional.empty(), Duration.ofSeconds(60), Duration.ofSeconds(3600))));
    assertThat(meant.waitForPodsReady()).isEmpty();
    assertThat(old.waitForPodsReady()).isEmpty();
  }

  @Test
  void theGateForbidsWhatAnOldFileEnables() throws Exception {
    Configuration old =
        ConfigurationLoader.parse(
            OLD_HEAD + "waitForPodsReady: {enable: true}",
            "DisableWaitForPodsReady=true",
            () -> "own");

    assertThat(old.waitForPodsReady()).isEmpty();
    assertThat(ConfigurationLoader.parse(old.effective(), "", () -> "x")).isEqualTo(old);
  }

  @Test
  void anEmptyTextCountsAsAbsent() throws Exception {
    Configuration c =
        load(
            """
            webhook: {certDir: ''}
            leaderElection: {resourceName: '', resourceLock: ''}
            health: {readinessEndpointName: '', livenessEndpointName: ''}
            tls: {minVersion: ''}
            internalCertManagement: {webhookServiceName: '', webhookSecretName: ''}
            waitForPodsReady: {requeuingStrategy: {timestamp: ''}}
            multiKueue: {origin: '', dispatcherName: ''}
            resources: {quotaCheckStrategy: ''}
            """);

    assertThat(c).isEqualTo(load(""));
  }

  @Test
  void aQuantityBeyondAllAmountsIsTheLargestThereIs() throws Exception {
    Configuration c =
        load("resources: {transformations: [{input: a, outputs: {b: '1e999999999', c: 1e3}}]}");

    assertThat(c.resources().transformations().getFirst().outputs())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of("b", new BigDecimal("1e64"), "c", new BigDecimal("1e3")));
  }

  @Test
  void admissionIsBlockedWhereTheFileSaysSoAndByDefaultInAnOldOneThatEnablesReadiness()
      throws Exception {
    Configuration asked = load("waitForPodsReady: {blockAdmission: true}");
    Configuration silent = load("waitForPodsReady: {timeout: 1m}");
    Configuration old =
        ConfigurationLoader.parse(OLD_HEAD + "waitForPodsReady: {enable: true}", "", () -> "own");
    Configuration oldButNot =
        ConfigurationLoader.parse(
            OLD_HEAD + "waitForPodsReady: {enable: true, blockAdmission: false}", "", () -> "own");

    assertThat(asked.waitForPodsReady().orElseThrow().blockAdmission()).isTrue();
    assertThat(silent.waitForPodsReady().orElseThrow().blockAdmission()).isFalse();
    assertThat(old.waitForPodsReady().orElseThrow().blockAdmission()).isTrue();
    assertThat(oldButNot.waitForPodsReady().orElseThrow().blockAdmission()).isFalse();
  }

  @Test
  void aReadinessBlockWithoutEffectIsAccepted() throws Exception {
    Configuration c =
        load("waitForPodsReady: {timeout: 1m}\nfeatureGates: {DisableWaitForPodsReady: true}");

    assertThat(c.waitForPodsReady()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "waitForPodsReady: {enable: false, timeout: 1m}",
        "fairSharing: {enable: false}",
        "integrations: {podOptions: {namespaceSelector: {}}}",
        "queueVisibility: {updateIntervalSeconds: 5, clusterQueues: {maxCount: 3}}"
      })
  void oldFilesMaySayWhatHasNoEffect(String yaml) throws Exception {
    Configuration c = ConfigurationLoader.parse(OLD_HEAD + yaml, "", () -> "own");

    assertThat(c.waitForPodsReady()).isEmpty();
    assertThat(c.fairSharing()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "fairSharing: {preemptionStrategies: [Fair]} | fairSharing.preemptionStrategies | [Fair]"
            + " is not allowed",
        "visibilityServer: {bindPort: 1} | visibilityServer | unknown field: only files of version"
            + " config.kueue.x-k8s.io/v1beta2",
        "resources: {quotaCheckStrategy: BlockUndeclared} | resources.quotaCheckStrategy | unknown"
            + " field: only",
        "multiKueue: {clusterProfile: {}} | multiKueue.clusterProfile | unknown field: only"
      })
  void oldFilesAreRefusedByNameToo(String yaml, String path, String message) {
    assertThat(problems(OLD_HEAD + yaml, ""))
        .anySatisfy(
            validationError -> {
              assertThat(validationError.path()).isEqualTo(path);
              assertThat(validationError.message()).startsWith(message);
            });
  }

  @Test
  void fairSharingIsOnWhereItIsGiven() throws Exception {
    Configuration c =
        ConfigurationLoader.parse(
            HEAD + "fairSharing: {preemptionStrategies: [LessThanInitialShare]}", "", () -> "own");
    Configuration old =
        ConfigurationLoader.parse(OLD_HEAD + "fairSharing: {enable: true}", "", () -> "own");

    assertThat(c.fairSharing())
        .contains(new FairSharing(List.of(Strategy.LESS_THAN_INITIAL_SHARE), true, true));
    assertThat(old.fairSharing())
        .contains(
            new FairSharing(
                List.of(
                    Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE, Strategy.LESS_THAN_INITIAL_SHARE),
                true,
                true));
  }

  @Test
  void localQueuesTakeTurnsWhereThatIsGiven() throws Exception {
    assertThat(load("").admissionFairSharing()).isEmpty();
    assertThat(load("admissionFairSharing: {}").admissionFairSharing())
        .contains(
            new AdmissionFairSharing(
                Duration.ZERO,
                Duration.ofMinutes(5),
                Map.of(),
                AdmissionFairSharing.Anchor.QUOTA_RESERVATION));
    assertThat(
            load("admissionFairSharing: {usageHalfLifeTime: 168h, resourceWeights: {cpu: 2}}")
                .admissionFairSharing())
        .contains(
            new AdmissionFairSharing(
                Duration.ofDays(7),
                Duration.ofMinutes(5),
                Map.of("cpu", 2.0),
                AdmissionFairSharing.Anchor.QUOTA_RESERVATION));
  }

  @Test
  void gatesOfTheCommandLineCount() throws Exception {
    Configuration c =
        ConfigurationLoader.load(
            Optional.empty(),
            Optional.of("LocalQueueMetrics=false, MetricsForCohorts=true"),
            () -> "own");

    assertThat(c.featureGates().enabled(FeatureGate.LOCAL_QUEUE_METRICS)).isFalse();
    assertThat(c.featureGates().enabled(FeatureGate.METRICS_FOR_COHORTS)).isTrue();
  }

  /** Changes of 0.20, section 4, among others: what is missing is refused by name. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "LocalQueueMetrics | --feature-gates: \"LocalQueueMetrics\" is not allowed; allowed:"
            + " NAME=true or NAME=false",
        "LocalQueueMetrics=on | --feature-gates: \"LocalQueueMetrics=on\" is not allowed",
        "LocalQueueMetrics=true,LocalQueueMetrics=false | --feature-gates LocalQueueMetrics: given"
            + " twice",
        "FairSharingReevaluatePreemptionCandidates=true | --feature-gates"
            + " FairSharingReevaluatePreemptionCandidates: true is not supported yet"
      })
  void gatesOfTheCommandLineAreChecked(String flag, String message) {
    assertThat(problems(HEAD, flag)).singleElement().asString().startsWith(message);
  }

  /** Changes of 0.20, section 4. */
  @ParameterizedTest
  @CsvSource({
    "RecomputeAssignmentUponPreemptionTargetsOverlap, false",
    "RecomputeAssignmentUponPreemptionTargetsOverlap, true",
    "TASPartialSlices, false",
    "TASPartialSlices, true",
    "SkipReassignmentForPodOwnedWorkloads, false",
    "SkipReassignmentForPodOwnedWorkloads, true",
    "PrioritizePreemptorWorkloads, false",
    "PrioritizePreemptorWorkloads, true",
    "ReclaimablePods, false",
    "ReclaimablePods, true",
    "PrioritySortingWithinCohort, false",
    "PrioritySortingWithinCohort, true",
    "WorkloadIdentifierAnnotations, false",
    "FlavorFungibilityPreserveScanProgress, false",
    "TASAssignmentsEncodingByHostnamePrefix, false",
    "WorkloadIdentifierAnnotations, true"
  })
  void gatesAreAcceptedWithEveryValueThatWorks(String name, boolean value) throws Exception {
    Configuration c = load("featureGates: {%s: %s}".formatted(name, value));

    FeatureGate gate =
        Stream.of(FeatureGate.values())
            .filter(each -> each.text().equals(name))
            .findFirst()
            .orElseThrow();
    assertThat(c.featureGates().enabled(gate)).isEqualTo(value);
  }

  /** Changes of 0.20, section 3: they were off before. */
  @ParameterizedTest
  @EnumSource(
      value = FeatureGate.class,
      names = {
        "MULTI_KUEUE_ORCHESTRATED_PREEMPTION",
        "MULTI_KUEUE_REUSE_CLIENT_CONNECTION_CONFIG_FOR_WORKERS",
        "REJECT_UPDATES_TO_CQ_WITH_INVALID_ON_FLAVORS"
      })
  void gatesThatAreOnSinceThisVersion(FeatureGate gate) throws Exception {
    assertThat(load("").featureGates().enabled(gate)).isTrue();
    assertThat(load("featureGates: {" + gate.text() + ": false}").featureGates().enabled(gate))
        .isFalse();
  }

  @Test
  void workloadThatBlocksOthersGetsNoLongerThanConfigured() throws Exception {
    String gate = "featureGates: {WorkloadLevelWaitForPodsReady: true}";

    assertThat(longest("waitForPodsReady: {timeout: 10m, blockAdmission: true}\n" + gate))
        .contains(Duration.ofMinutes(10));
    assertThat(longest("waitForPodsReady: {timeout: 10m}\n" + gate)).isEmpty();
  }

  private static Optional<Duration> longest(String yaml) throws ConfigurationException {
    return load(yaml).waitForPodsReady().orElseThrow().workloadLevel().orElseThrow().maxTimeout();
  }

  @Test
  void gatesComeFromOnePlace() {
    assertThat(problems(HEAD + "featureGates: {LocalQueueMetrics: true}", "LocalQueueMetrics=true"))
        .extracting(ValidationError::path)
        .containsExactly("--feature-gates");
  }

  @Test
  void everyGateHasAValueThatIsAccepted() throws Exception {
    Configuration defaults = load("namespace: own");

    for (FeatureGate gate : FeatureGate.values()) {
      String flag = gate.text() + "=" + defaults.featureGates().enabled(gate);
      assertThat(ConfigurationLoader.parse(HEAD, flag, () -> "own").featureGates())
          .as(flag)
          .isEqualTo(defaults.featureGates());
    }
    assertThat(FeatureGate.values()).hasSize(114);
  }

  @Test
  void nodesOfPodsAreAwaitedWithTheirGateAndPodAccountingOnly() throws Exception {
    String yaml = "waitForPodsReady: {unscheduledTimeout: 5m}\n";
    String gate = "WaitForPodsReadyUnscheduledTimeout=true";

    Configuration watched = ConfigurationLoader.parse(HEAD + yaml, gate, () -> "own");
    assertThat(watched.waitForPodsReady().orElseThrow().unscheduledTimeout())
        .contains(Duration.ofMinutes(5));
    assertThat(load("namespace: a").waitForPodsReady().orElseThrow().unscheduledTimeout())
        .isEmpty();
    assertThat(problems(HEAD + yaml + "podAccounting: 'Off'", gate))
        .singleElement()
        .hasToString(
            "waitForPodsReady.unscheduledTimeout: needs podAccounting, which is Off: nobody would"
                + " know which pods have a node");
  }

  @Test
  void podsOfAnEvictedWorkloadHaveAnHourUnlessTheFileSaysOtherwise() throws Exception {
    assertThat(load("namespace: a").evictionPodTimeout()).isEqualTo(Duration.ofHours(1));
    Configuration configured = load("eviction: {podTimeout: 90s}");
    assertThat(configured.evictionPodTimeout()).isEqualTo(Duration.ofSeconds(90));
    assertThat(
            ConfigurationLoader.parse(configured.effective(), "", () -> "own").evictionPodTimeout())
        .isEqualTo(Duration.ofSeconds(90));
    assertThat(load("eviction: {podTimeout: 0s}").evictionPodTimeout()).isZero();
    assertThat(problems(HEAD + "eviction: {podTimeout: -1s}", ""))
        .singleElement()
        .asString()
        .startsWith("eviction.podTimeout: \"-1s\" is not allowed");
  }

  /** Changes of 0.20, section 6. Changes of 0.20, section 4: ConfigurablePreemptions. */
  @Test
  void preemptionConfigsAndFairSharingGoTogether() throws Exception {
    Configuration configuration =
        load(
            "featureGates: {ConfigurablePreemptions: true}\n"
                + "fairSharing: {preemptionStrategies: [LessThanInitialShare]}\n");
    assertThat(configuration.featureGates().enabled(FeatureGate.CONFIGURABLE_PREEMPTIONS)).isTrue();
    assertThat(configuration.fairSharing()).isPresent();
  }

  @Test
  void countersOfDevicesNeedTheirGate() throws Exception {
    String yaml =
        "resources: {deviceClassMappings: [{name: a, deviceClassNames: [b], sources: [{counter:"
            + " {name: c, driver: d, deviceSelector: {cel: {expression: 'true'}}}}]}]}";
    assertThat(problems(HEAD + yaml, "KueueDRAIntegrationPartitionableDevices=false"))
        .singleElement()
        .hasToString(
            "resources.deviceClassMappings[0].sources: needs the feature gate"
                + " KueueDRAIntegrationPartitionableDevices");
    assertThat(load(yaml).resources().deviceClasses())
        .containsExactly(
            new Resources.DeviceClassMapping(
                "a",
                List.of("b"),
                List.of(
                    new Resources.DeviceSource(
                        Resources.DeviceSource.Kind.COUNTER, "c", "d", "true"))));
  }

  /**
   * Files that spell out every gate come from whoever switches from Kueue 0.20 (changes of 0.20,
   * section 4).
   */
  @Test
  void fileThatSpellsOutEveryDefaultOfTheApiIsAFileThatSaysNothing() throws Exception {
    String gates =
        Stream.of(FeatureGate.values())
            .map(gate -> gate.text() + ": " + gate.onByDefault())
            .collect(Collectors.joining(", ", "featureGates: {", "}"));

    assertThat(load(gates).featureGates()).isEqualTo(FeatureGates.DEFAULT);
    assertThat(FeatureGates.missingDefaults()).doesNotContain("KueueDRAIntegration");
    assertThat(FeatureGates.DEFAULT.enabled(FeatureGate.KUEUE_DRA_INTEGRATION)).isTrue();
  }

  private static Configuration load(String yaml) throws ConfigurationException {
    return ConfigurationLoader.parse(HEAD + yaml, "", () -> "own");
  }

  private static List<ValidationError> problems(String yaml, String gates) {
    return failure(yaml, gates).problems();
  }

  private static ConfigurationException failure(String yaml, String gates) {
    return catchThrowableOfType(
        ConfigurationException.class, () -> ConfigurationLoader.parse(yaml, gates, () -> "own"));
  }

  private static Map<String, String> namespace(String name) {
    return Map.of("kubernetes.io/metadata.name", name);
  }
}
