package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.GoProgram;
import dev.sluice.testing.Helm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Values files of Kueue's chart, given to this one: each value does what docs/chart-values.md says.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag(BuildBreadth.NIGHTLY)
class ChartValuesIT {

  private static final String CHART = "helm/sluice";

  /** Stands for what the configuration file says, once it is read. */
  private static final String CONFIGURATION = "Configuration";

  /** Stands for what isn't there. */
  private static final String ABSENT = "";

  /** Each value, the object and the place in it where it shows, and what is there then. */
  private static final String EFFECTS =
      """
      nameOverride | "batch" | Service kueue-webhook-service | /spec/selector/app.kubernetes.io~1name | "batch"
      fullnameOverride | "queueing" | Deployment | /metadata/name | "kueue-controller-manager"
      enablePrometheus | true | ServiceMonitor | /metadata/name | "kueue-controller-manager-metrics-monitor"
      enableCertManager | true | Configuration | /internalCertManagement/enable | false
      certManager.issuerRef | {"kind": "ClusterIssuer", "name": "company"} | Certificate | /spec/issuerRef | {"kind": "ClusterIssuer", "name": "company"}
      enableVisibilityAPF | true | FlowSchema | /spec/priorityLevelConfiguration/name | "kueue-visibility"
      enableMutatingAdmissionPolicy | true | MutatingAdmissionPolicy | |
      enableVisibilityAuthReaderRoleBinding | false | RoleBinding kueue-visibility-server-auth-reader | |
      enableKueueViz | true | Service sluice-dashboard | /spec/ports/0/targetPort | "dashboard"
      enableAlphaAPIs | true | CustomResourceDefinition | |
      kubernetesClusterDomain | "k8s.example" | Certificate | /spec/dnsNames/1 | "kueue-webhook-service.kueue-system.svc.k8s.example"
      controllerManager.featureGates | [{"name": "ConcurrentAdmission", "enabled": true}] | Configuration | /featureGates/ConcurrentAdmission | true
      controllerManager.strategy | {"rollingUpdate": {"maxSurge": 0}} | Deployment | /spec/strategy/rollingUpdate/maxSurge | 0
      controllerManager.hostNetwork | true | Pod | /hostNetwork | true
      controllerManager.dnsPolicy | "ClusterFirstWithHostNet" | Pod | /dnsPolicy | "ClusterFirstWithHostNet"
      controllerManager.manager.priorityClassName | "system-cluster-critical" | Pod | /priorityClassName | "system-cluster-critical"
      controllerManager.manager.image.repository | "registry.example/sluice" | Container | /image | "registry.example/sluice:7"
      controllerManager.manager.image.tag | "7" | Container | /image | "registry.example/sluice:7"
      controllerManager.manager.image.pullPolicy | "Never" | Container | /imagePullPolicy | "Never"
      controllerManager.manager.podAnnotations | {"a.example/b": "c"} | Deployment | /spec/template/metadata/annotations/a.example~1b | "c"
      controllerManager.manager.logLevel | 4 | Container | /args/2 | "--log-level=debug"
      controllerManager.manager.resources.limits.cpu | null | Container | /resources/limits/cpu |
      controllerManager.manager.resources.limits.memory | "3Gi" | Container | /resources/limits/memory | "3Gi"
      controllerManager.manager.resources.requests.cpu | "1" | Container | /resources/requests/cpu | "1"
      controllerManager.manager.resources.requests.memory | "2Gi" | Container | /resources/requests/memory | "2Gi"
      controllerManager.manager.podSecurityContext.runAsNonRoot | false | Pod | /securityContext/runAsNonRoot | false
      controllerManager.manager.podSecurityContext.runAsUser | null | Pod | /securityContext/runAsUser |
      controllerManager.manager.podSecurityContext.fsGroup | 1000 | Pod | /securityContext/fsGroup | 1000
      controllerManager.manager.podSecurityContext.seccompProfile.type | "Unconfined" | Pod | /securityContext/seccompProfile/type | "Unconfined"
      controllerManager.manager.containerSecurityContext.readOnlyRootFilesystem | false | Container | /securityContext/readOnlyRootFilesystem | false
      controllerManager.manager.containerSecurityContext.allowPrivilegeEscalation | true | Container | /securityContext/allowPrivilegeEscalation | true
      controllerManager.manager.containerSecurityContext.capabilities.drop | ["NET_RAW"] | Container | /securityContext/capabilities/drop | ["NET_RAW"]
      controllerManager.replicas | 3 | Deployment | /spec/replicas | 3
      controllerManager.imagePullSecrets | [{"name": "registry"}] | Pod | /imagePullSecrets/0/name | "registry"
      controllerManager.readinessProbe.initialDelaySeconds | 6 | Container | /readinessProbe/initialDelaySeconds | 6
      controllerManager.readinessProbe.periodSeconds | 7 | Container | /readinessProbe/periodSeconds | 7
      controllerManager.readinessProbe.timeoutSeconds | 8 | Container | /readinessProbe/timeoutSeconds | 8
      controllerManager.readinessProbe.failureThreshold | 9 | Container | /readinessProbe/failureThreshold | 9
      controllerManager.readinessProbe.successThreshold | 2 | Container | /readinessProbe/successThreshold | 2
      controllerManager.livenessProbe.initialDelaySeconds | 16 | Container | /livenessProbe/initialDelaySeconds | 16
      controllerManager.livenessProbe.periodSeconds | 17 | Container | /livenessProbe/periodSeconds | 17
      controllerManager.livenessProbe.timeoutSeconds | 18 | Container | /livenessProbe/timeoutSeconds | 18
      controllerManager.livenessProbe.failureThreshold | 19 | Container | /livenessProbe/failureThreshold | 19
      controllerManager.livenessProbe.successThreshold | 1 | Container | /livenessProbe/successThreshold |
      controllerManager.nodeSelector | {"pool": "system"} | Pod | /nodeSelector | {"pool": "system"}
      controllerManager.tolerations | [{"operator": "Exists"}] | Pod | /tolerations | [{"operator": "Exists"}]
      controllerManager.topologySpreadConstraints | [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}] | Pod | /topologySpreadConstraints/0/topologyKey | "zone"
      controllerManager.podDisruptionBudget.enabled | true | PodDisruptionBudget | /metadata/name | "kueue-manager-pdb"
      controllerManager.podDisruptionBudget.minAvailable | "50%" | PodDisruptionBudget | /spec/minAvailable | "50%"
      managerConfig.controllerManagerConfigYaml | "apiVersion: config.kueue.x-k8s.io/v1beta1\\nkind: Configuration\\nnamespace: other\\nmanageJobsWithoutQueueName: true\\n" | Configuration | /manageJobsWithoutQueueName | true
      metricsService.ports | [{"name": "https", "port": 9000, "targetPort": 8443}] | Service kueue-controller-manager-metrics-service | /spec/ports | [{"name": "https", "port": 9000, "targetPort": 8443}]
      metricsService.type | "NodePort" | Service kueue-controller-manager-metrics-service | /spec/type | "NodePort"
      metricsService.labels | {"scrape": "yes"} | Service kueue-controller-manager-metrics-service | /metadata/labels/scrape | "yes"
      metricsService.annotations | {"a": "b"} | Service kueue-controller-manager-metrics-service | /metadata/annotations/a | "b"
      webhookService.ipDualStack.enabled | true | Service kueue-webhook-service | /spec/ipFamilies/1 | "IPv6"
      webhookService.ipDualStack.ipFamilies | ["IPv4", "IPv6"] | Service kueue-webhook-service | /spec/ipFamilies | ["IPv4", "IPv6"]
      webhookService.ipDualStack.ipFamilyPolicy | "RequireDualStack" | Service kueue-webhook-service | /spec/ipFamilyPolicy | "RequireDualStack"
      webhookService.ports | [{"name": "hooks", "port": 443, "targetPort": 9443}] | Service kueue-webhook-service | /spec/ports/0/name | "hooks"
      webhookService.type | "LoadBalancer" | Service kueue-webhook-service | /spec/type | "LoadBalancer"
      mutatingWebhook.reinvocationPolicy | "IfNeeded" | MutatingWebhookConfiguration | /webhooks/0/reinvocationPolicy | "IfNeeded"
      kueueViz.backend | {"ingress": {"host": "a.example"}} | Ingress | /spec/rules/1 |
      kueueViz.frontend | {"image": {"tag": "8"}} | Ingress | /spec/rules/1 |
      kueueViz.frontend.ingress.enabled | true | Ingress | /metadata/name | "sluice-dashboard"
      kueueViz.frontend.ingress.annotations | {"a.example/b": "c"} | Ingress | /metadata/annotations | {"a.example/b": "c", "nginx.ingress.kubernetes.io/backend-protocol": "HTTPS"}
      kueueViz.frontend.ingress.ingressClassName | "nginx" | Ingress | /spec/ingressClassName | "nginx"
      kueueViz.frontend.ingress.host | "jobs.example" | Ingress | /spec/rules/0/host | "jobs.example"
      kueueViz.frontend.ingress.tlsEnabled | true | Ingress | /spec/tls/0/hosts/0 | "jobs.example"
      kueueViz.frontend.ingress.tlsSecretName | "jobs-tls" | Ingress | /spec/tls/0/secretName | "jobs-tls"
      metrics.prometheusNamespace | "watching" | RoleBinding kueue-prometheus-k8s | /subjects/0/namespace | "watching"
      metrics.serviceMonitor.tlsConfig.insecureSkipVerify | false | ServiceMonitor | /spec/endpoints/0/tlsConfig/insecureSkipVerify | false
      metrics.serviceMonitor.tlsConfig.ca | {"secret": {"name": "kueue-metrics-server-cert", "key": "ca.crt"}} | ServiceMonitor | /spec/endpoints/0/tlsConfig/ca/secret/name | "kueue-webhook-server-cert"
      """;

  private final ObjectMapper json = new ObjectMapper();
  private final ObjectMapper yaml = new ObjectMapper(new YAMLFactory());

  @SuppressWarnings("NullAway.Init") // set before all tests
  private Helm helm;

  @SuppressWarnings("NullAway.Init") // set before all tests
  private Path directory;

  /**
   * What a value does.
   *
   * @param object the kind of an object, maybe with its name
   * @param expected what is at the pointer; empty if nothing shall be there
   */
  private record Effect(
      String value, JsonNode given, String object, String pointer, String expected) {}

  @BeforeAll
  void find(@TempDir Path home) throws Exception {
    directory = home;
    helm = Helm.find(home.resolve("no-kubeconfig"), home);
  }

  @Test
  void everyValueHasItsEffect() throws Exception {
    List<Effect> effects = EFFECTS.lines().map(this::effect).toList();
    Map<String, JsonNode> given = new LinkedHashMap<>();
    effects.forEach(effect -> given.put(effect.value(), effect.given()));

    Map<String, JsonNode> objects = rendered(KueueValues.tree(given).toString());

    assertThat(given.keySet()).containsAll(KueueValues.leaves().keySet());
    SoftAssertions all = new SoftAssertions();
    for (Effect effect : effects) {
      all.assertThat(found(objects, effect))
          .as(effect.value())
          .isEqualTo(effect.expected().isEmpty() ? ABSENT : json.readTree(effect.expected()));
    }
    all.assertAll();
    assertThat(part(objects, CONFIGURATION).path("apiVersion").asText())
        .isEqualTo("config.kueue.x-k8s.io/v1beta1");
    assertThat(part(objects, CONFIGURATION).has("namespace")).isFalse();
  }

  private Effect effect(String line) {
    List<String> cells = Stream.of(line.split("[|]", -1)).map(String::strip).toList();
    try {
      return new Effect(
          cells.get(0), json.readTree(cells.get(1)), cells.get(2), cells.get(3), cells.get(4));
    } catch (IOException e) {
      throw new AssertionError(line, e);
    }
  }

  private static Object found(Map<String, JsonNode> objects, Effect effect) {
    return objects.entrySet().stream()
        .filter(object -> (object.getKey() + " ").startsWith(effect.object() + " "))
        .map(object -> object.getValue().at(effect.pointer()))
        .filter(value -> !value.isMissingNode())
        .findFirst()
        .<Object>map(value -> value)
        .orElse(ABSENT);
  }

  @Test
  void theirDefaultsLeaveEverythingAsItIs() throws Exception {
    // the file is that of Kueue 0.19, which names rates that are no defaults any more
    Map<String, JsonNode> without =
        rendered("{config: {clientConnection: {qps: 300, burst: 500}}}");

    assertThat(rendered(Files.readString(KueueValues.FILE))).isEqualTo(without);
    assertThat(part(without, "Container").path("image").asText()).startsWith("sluice:");
  }

  @Test
  void onOpenShiftTheUserIsTheCluster() throws Exception {
    Map<String, JsonNode> objects = rendered("{}", "--api-versions", "security.openshift.io/v1");

    assertThat(part(objects, "Pod").path("securityContext").toString())
        .isEqualTo("{\"runAsNonRoot\":true,\"seccompProfile\":{\"type\":\"RuntimeDefault\"}}");
  }

  /** What is said of the configuration by both is one file. */
  @Test
  void ownFieldsOfTheConfigurationAreAddedToTheText() throws Exception {
    JsonNode configuration =
        part(
            rendered(
                """
                managerConfig:
                  controllerManagerConfigYaml: |
                    apiVersion: config.kueue.x-k8s.io/v1beta2
                    kind: Configuration
                    metrics: {bindAddress: "0"}
                    integrations: {frameworks: [batch/job]}
                    featureGates: {ConcurrentAdmission: true}
                config:
                  podAccounting: Prevent
                  integrations: {labelKeysToCopy: [team]}
                controllerManager:
                  featureGates: [{name: CustomMetricLabels, enabled: true}]
                """),
            CONFIGURATION);

    assertThat(configuration.toString())
        .isEqualTo(
            yaml.readTree(
                    """
                    apiVersion: config.kueue.x-k8s.io/v1beta2
                    kind: Configuration
                    featureGates: {ConcurrentAdmission: true, CustomMetricLabels: true}
                    integrations: {frameworks: [batch/job], labelKeysToCopy: [team]}
                    metrics: {bindAddress: "0"}
                    podAccounting: Prevent
                    """)
                .toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{replicas: 3, controllerManager: {replicas: 5}} | replicas (3) |"
            + " controllerManager.replicas (5)",
        "{nodeSelector: {a: b}, controllerManager: {nodeSelector: {a: c}}} | nodeSelector.a |"
            + " controllerManager.nodeSelector.a",
        "{logLevel: warn, controllerManager: {manager: {logLevel: 5}}} | logLevel (\"warn\") |"
            + " controllerManager.manager.logLevel (\"trace\")",
        "{config: {podAccounting: 'Prevent'}, managerConfig: {controllerManagerConfigYaml:"
            + " 'podAccounting: Detect'}} | config.podAccounting |"
            + " managerConfig.controllerManagerConfigYaml.podAccounting",
        "{config: {featureGates: {A: true}}, controllerManager: {featureGates: [{name: A, enabled:"
            + " false}]}} | config.featureGates.A | controllerManager.featureGates.A",
        "{managerConfig: {controllerManagerConfigYaml: 'featureGates: {A: true}'},"
            + " controllerManager: {featureGates: [{name: A, enabled: false}]}} |"
            + " managerConfig.controllerManagerConfigYaml | controllerManager.featureGates.A",
        "{managerConfig: {controllerManagerConfigYaml: 'a: b: c'}} |"
            + " managerConfig.controllerManagerConfigYaml | can't be read",
        "{managerConfig: {controllerManagerConfigYaml: 'webhook: {prot: 1}'}} |"
            + " managerConfig.controllerManagerConfigYaml: webhook.prot | host, port",
        "{managerConfig: {controllerManagerConfigYaml: 'resources: {transformations: [{in: a}]}'}}"
            + " | resources.transformations[].in | input",
        "{managerConfig: {controllerManagerConfigYaml: '{apiVersion:"
            + " config.kueue.x-k8s.io/v1beta1, webhook: {prot: 1}}'}} | webhook.prot: unknown field"
            + " of config.kueue.x-k8s.io/v1beta1 | host, port",
        "{managerConfig: {controllerManagerConfigYaml: '{apiVersion:"
            + " config.kueue.x-k8s.io/v1beta1, visibilityServer: {}}'}} | visibilityServer: unknown"
            + " field | v1beta1",
        "{config: {visibilityServer: {bindPort: 1}}, managerConfig: {controllerManagerConfigYaml:"
            + " 'apiVersion: config.kueue.x-k8s.io/v1beta1'}} | of this chart that set its fields:"
            + " visibilityServer: unknown field | v1beta1",
        "{managerConfig: {controllerManagerConfigYaml: 'apiVersion: config.kueue.x-k8s.io/v1'}} |"
            + " apiVersion: config.kueue.x-k8s.io/v1: allowed | v1beta2",
        "{controllerManager: {manager: {logLevel: loud}}} | controllerManager.manager.logLevel |"
            + " loud",
        "{controllerManager: {replicas: 3}, managerConfig: {controllerManagerConfigYaml:"
            + " 'leaderElection: {leaderElect: false}'}} | replicas is 3 | set replicas to 1",
        "{controllerManager: {replica: 5}} | /controllerManager | replica",
        "{controllerManager: {manager: {image: {repo: a}}}} | /controllerManager/manager/image |"
            + " repo",
        "{controllerManager: {livenessProbe: {period: 5}}} | /controllerManager/livenessProbe |"
            + " period",
        "{kueueViz: {frontend: {ingress: {hosts: [a]}}}} | /kueueViz/frontend/ingress | hosts",
        "{webhookService: {ports: [{port: 8443}]}} | /webhookService/ports | contain"
      })
  void whatCannotBeMeantIsRefusedByName(String values, String one, String other) throws Exception {
    GoProgram.Run run = render(values);

    assertThat(run.code()).isNotZero();
    assertThat(run.errors()).contains(one, other);
  }

  @Test
  void theSameValueGivenTwiceIsNoError() throws Exception {
    Map<String, JsonNode> objects = rendered("{replicas: 3, controllerManager: {replicas: 3}}");

    assertThat(part(objects, "Deployment").at("/spec/replicas").intValue()).isEqualTo(3);
  }

  /** The other chart has one replica, and mounts a certificate, unless its values say otherwise. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{managerConfig: {controllerManagerConfigYaml: 'leaderElection: {leaderElect: false}'}} |"
            + " Deployment | /spec/replicas | 1",
        "{controllerManager: {replicas: 1}, config: {leaderElection: {leaderElect: false}}} |"
            + " Deployment | /spec/replicas | 1",
        "{managerConfig: {controllerManagerConfigYaml: 'internalCertManagement: {enable: false}'}}"
            + " | Pod | /volumes/2/secret/secretName | \"kueue-webhook-server-cert\"",
        "{managerConfig: {controllerManagerConfigYaml: '{internalCertManagement: {enable: false},"
            + " webhook: {certDir: /own}}'}} | Container | /volumeMounts/2/mountPath | \"/own\"",
        "{managerConfig: {controllerManagerConfigYaml: 'internalCertManagement: {enable: false}'},"
            + " certificates: {secretName: own}} | Pod | /volumes/2/secret/secretName | \"own\"",
        "{managerConfig: {controllerManagerConfigYaml: 'internalCertManagement: {enable: false}'},"
            + " volumeMounts: [{name: own, mountPath: /tmp/k8s-webhook-server}]} | Pod |"
            + " /volumes/2 | ",
        "{managerConfig: {controllerManagerConfigYaml: 'webhook: {port: 9443}'}} | Pod |"
            + " /volumes/2 | "
      })
  void whatTheirDefaultsMeanForAConfiguration(
      String values, String object, String pointer, @Nullable String expected) throws Exception {
    assertThat(part(rendered(values), object).at(pointer).toString())
        .isEqualTo(expected == null ? "" : expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{tlsEnabled: true} | kueueviz-frontend-tls",
        "{tlsEnabled: false} | ",
        "{tlsEnabled: true, tlsSecretName: own} | own"
      })
  void kueuesSwitchForTlsNamesItsSecret(String ingress, String secret) throws Exception {
    Map<String, JsonNode> objects =
        rendered(
            "{enableKueueViz: true, kueueViz: {frontend: {ingress: "
                + ingress.replace("}", ", host: jobs.example}}}}"));

    assertThat(part(objects, "Ingress sluice-dashboard").at("/spec/tls/0/secretName").asText(null))
        .isEqualTo(secret);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{enableKueueViz: true}",
        "{enableKueueViz: false, kueueViz: {frontend: {ingress: {host: jobs.example}}}}",
        "{enableKueueViz: true, kueueViz: {frontend: {ingress: {host: jobs.example, enabled:"
            + " false}}}}"
      })
  void withoutHostOrDashboardThereIsNoIngress(String values) throws Exception {
    assertThat(rendered(values).keySet()).noneMatch(object -> object.startsWith("Ingress"));
  }

  /**
   * Helm prints notes with a cluster only, so that here an object has them (changes of 0.20,
   * section 7).
   */
  @Test
  void whatDoesNothingIsTold() throws Exception {
    Path chart = chartWithNotesAsAnObject();
    String defaults = notes(chart, Files.readString(KueueValues.FILE));
    String given =
        notes(
            chart,
            """
            fullnameOverride: queueing
            enableMutatingAdmissionPolicy: true
            enableAlphaAPIs: true
            kueueViz: {backend: {image: {tag: x}}, frontend: {ingress: {host: jobs.example}}}
            managerConfig:
              controllerManagerConfigYaml: "leaderElection: {resourceName: mine}"
            """);

    assertThat(notes(chart, "{}")).doesNotContain("values of the chart kueue", "These repeat");
    assertThat(defaults)
        .contains(
            "controllerManager.manager.image.repository: it is an image of Kueue",
            "controllerManager.replicas: 2 here",
            "controllerManager.manager.resources.limits.memory: \"1Gi\" here");
    assertThat(given)
        .contains(
            "fullnameOverride: ",
            "enableMutatingAdmissionPolicy: ",
            "enableAlphaAPIs: ",
            "kueueViz.backend: ",
            "leaderElection.resourceName: it is c1f6bfd2.kueue.x-k8s.io here")
        .doesNotContain("kueueViz.frontend", "These repeat", "certificate");
    assertThat(
            notes(
                chart,
                "{controllerManager: {replicas: 1}, config: {leaderElection: {leaderElect: false},"
                    + " internalCertManagement: {enable: false}}}"))
        .contains("mounted at /tmp/k8s-webhook-server/serving-certs: it won't be ready")
        .doesNotContain("These repeat");
  }

  private Path chartWithNotesAsAnObject() throws IOException {
    Path chart = directory.resolve("chart");
    try (Stream<Path> files = Files.walk(Path.of(CHART))) {
      for (Path file : files.filter(each -> Files.isRegularFile(each)).toList()) {
        Path copy = chart.resolve(Path.of(CHART).relativize(file).toString());
        Files.createDirectories(copy.getParent());
        Files.copy(file, copy);
      }
    }
    Files.writeString(
        chart.resolve("templates/notes.yaml"),
        """
        kind: Notes
        text: |
          {{- include (print $.Template.BasePath "/NOTES.txt") . | nindent 2 }}
        """);
    return chart;
  }

  private String notes(Path chart, String values) throws Exception {
    GoProgram.Run run = render(chart, values, "--show-only=templates/notes.yaml");
    assertThat(run.code()).as(run.errors()).isZero();
    return run.output();
  }

  private GoProgram.Run render(String values, String... more) throws Exception {
    return render(Path.of(CHART), values, more);
  }

  private GoProgram.Run render(Path chart, String values, String... more) throws Exception {
    Path file = Files.createTempFile(directory, "values", ".yaml");
    Files.writeString(file, values);
    return helm.run(
        Stream.concat(
                Stream.of(
                    "template",
                    "kueue",
                    chart.toString(),
                    "--namespace=" + InstallManifests.NAMESPACE,
                    "--kube-version=1.36.0",
                    "--set=crds.install=false",
                    "--values=" + file),
                Stream.of(more))
            .toArray(String[]::new));
  }

  /**
   * Objects by kind and name; besides, the pod, its container and the configuration of the
   * operator.
   */
  private Map<String, JsonNode> rendered(String values, String... more) throws Exception {
    GoProgram.Run run = render(values, more);
    assertThat(run.code()).as(run.errors()).isZero();
    Map<String, JsonNode> objects = new TreeMap<>();
    try (YAMLParser parser = new YAMLFactory().createParser(run.output())) {
      for (JsonNode object : yaml.readValues(parser, JsonNode.class).readAll()) {
        if (object.isObject()) {
          objects.put(
              object.path("kind").asText() + " " + object.at("/metadata/name").asText(), object);
        }
      }
    }
    JsonNode deployment = part(objects, "Deployment kueue-controller-manager");
    objects.put("Deployment", deployment);
    objects.put("Pod", deployment.at("/spec/template/spec"));
    objects.put("Container", deployment.at("/spec/template/spec/containers/0"));
    objects.put(
        CONFIGURATION,
        yaml.readTree(
            part(objects, "ConfigMap kueue-manager-config")
                .at("/data/controller_manager_config.yaml")
                .asText()));
    return objects;
  }

  private static JsonNode part(Map<String, JsonNode> objects, String name) {
    return objects.getOrDefault(name, MissingNode.getInstance());
  }
}
