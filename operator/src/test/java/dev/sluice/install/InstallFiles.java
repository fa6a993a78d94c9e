package dev.sluice.install;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLGenerator;
import dev.sluice.api.config.JobFrameworks;
import dev.sluice.api.config.Selector;
import dev.sluice.install.InstallManifests.StandardLabels;
import dev.sluice.install.InstallManifests.UserClusterRoles;
import dev.sluice.webhooks.kinds.WebhookKind;
import dev.sluice.webhooks.registration.WebhookRegistration;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The generated ones among the files that are installed: the plain manifest, and those templates of
 * the chart that say nothing but what the plain manifest says, in a namespace of the user's choice.
 */
final class InstallFiles {

  static final String PLAIN = "deploy/sluice.yaml";

  static final String QUEUED_JOBS = "deploy/queued-jobs.yaml";

  private static final Path RULES = Path.of("helm/sluice/files/rules.yaml");
  private static final String RULE_HEAD =
      """
      apiVersion: monitoring.coreos.com/v1
      kind: PrometheusRule
      metadata:
        name: kueue-controller-manager
        namespace: kueue-system
      spec:
      """;

  private static final Path KUBE_QUEUE_DEFINITIONS =
      Path.of("operator/src/main/resources/dev/sluice/install/kube-queue");

  private static final String TEMPLATES = "helm/sluice/templates/";
  private static final String HEADER =
      "Generated from dev.sluice.install; see docs/contributing.md for how to renew it.";
  private static final String RENEW = "# " + HEADER + "\n";
  private static final String TEMPLATE =
      "{{- /* " + HEADER + " */ -}}\n{{- include \"sluice.values\" . -}}\n";

  /** Policies came with Kubernetes 1.30; an older API server doesn't know the kinds. */
  private static final String BEFORE_POLICIES =
      "semverCompare \"<1.30.0-0\" .Capabilities.KubeVersion.Version";

  /** Stands where the chart's user decides; none of these words occurs in what is generated. */
  private static final String REINVOCATION = "REINVOCATION";

  private static final String SELECTOR = "SELECTOR";

  private static final String INSTANCE =
      "app.kubernetes.io/instance: {{ $.Release.Name | quote }}\n";

  private static final String CREATES_PODS =
      "- apiGroups: [\"\"]\n  resources: [pods]\n  verbs: [create, get]\n";

  private static final Pattern PATH = Pattern.compile("path: (/[a-z0-9-]*)\n");

  private static final String VALUES = "helm/sluice/values.yaml";
  private static final String SCHEMA = "helm/sluice/values.schema.json";

  /** The values once more: a template can't tell what of its values is the chart's default. */
  private static final String DEFAULTS = "helm/sluice/files/defaults.yaml";

  /** The framework of each path whose webhooks a user of the chart may turn off. */
  private static final Map<String, String> OPTIONAL_PATHS = optionalPaths();

  private static final Set<String> PERMISSIONS =
      Set.of(
          "ServiceAccount",
          "Role",
          "RoleBinding",
          "ClusterRole",
          "ClusterRoleBinding",
          "PriorityClass");

  private static final Set<String> POLICIES =
      Set.of("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding");

  private final KubernetesSerialization serialization = new KubernetesSerialization();
  private final ObjectMapper json = new ObjectMapper();
  private final ObjectMapper yaml =
      new ObjectMapper(
          new YAMLFactory()
              .disable(YAMLGenerator.Feature.SPLIT_LINES)
              .disable(YAMLGenerator.Feature.WRITE_DOC_START_MARKER)
              .enable(YAMLGenerator.Feature.MINIMIZE_QUOTES)
              .enable(YAMLGenerator.Feature.ALWAYS_QUOTE_NUMBERS_AS_STRINGS));

  /** The text of each file by its path in the repository. */
  Map<String, String> all() throws IOException {
    Map<String, String> files = new TreeMap<>();
    files.put(PLAIN, RENEW + plain());
    files.put(
        "deploy/prometheus/prometheusrule.yaml",
        "# Generated from "
            + RULES
            + "; see docs/contributing.md for how to renew it.\n"
            + StandardLabels.in(RULE_HEAD)
            + Files.readString(RULES).indent(2));
    files.put(TEMPLATES + "permissions.yaml", TEMPLATE + template(PERMISSIONS::contains));
    files.put(
        TEMPLATES + "services.yaml",
        TEMPLATE + template(Set.of("Service", "APIService")::contains));
    files.put(
        TEMPLATES + "policies.yaml",
        TEMPLATE
            + "{{- if not ("
            + BEFORE_POLICIES
            + ") }}\n"
            + template(POLICIES::contains)
            + "{{- end }}\n");
    files.put(
        TEMPLATES + "roles-for-people.yaml",
        TEMPLATE
            + "{{- if .Values.rolesForPeople }}\n"
            + ofRelease(documents(UserClusterRoles.all()))
            + "{{- end }}\n");
    files.put(TEMPLATES + "kube-queue.yaml", TEMPLATE + kubeQueueTemplate());
    files.put("deploy/kube-queue.yaml", RENEW + kubeQueue());
    files.put(
        TEMPLATES + "queued-jobs.yaml",
        TEMPLATE
            + "{{- if .Values.queuedJobsPolicy.enabled }}\n"
            + "{{- if "
            + BEFORE_POLICIES
            + " }}\n{{- fail \"queuedJobsPolicy.enabled: needs Kubernetes 1.30 or newer\" }}\n"
            + "{{- end }}\n"
            + inManagedNamespaces(InstallManifests.queuedJobsText())
            + "{{- end }}\n");
    files.put("deploy/multikueue-worker.yaml", RENEW + InstallManifests.workerAccountText());
    files.put(QUEUED_JOBS, RENEW + InstallManifests.queuedJobsText());
    files.put(TEMPLATES + "webhooks.yaml", TEMPLATE + webhooks());
    files.put(VALUES, values());
    files.put(
        DEFAULTS,
        "# Generated from values.yaml; see docs/contributing.md for how to renew it.\n"
            + values().replaceAll("(?m)^ *(#.*)?\n", ""));
    files.put(SCHEMA, schema());
    for (String version : List.of("v1beta1", "v1beta2")) {
      files.put(
          "helm/sluice/files/configuration-%s.json".formatted(version),
          ConfigurationSchema.whole(version).toPrettyString().replace(" : ", ": ") + "\n");
    }
    return files;
  }

  /** Rights and definitions for clusters in which queues are made from quotas. */
  private static String kubeQueue() throws IOException {
    StringBuilder text = new StringBuilder(InstallManifests.kubeQueueText());
    try (Stream<Path> files = Files.list(KUBE_QUEUE_DEFINITIONS)) {
      for (Path file : files.sorted().toList()) {
        text.append("---\n").append(Files.readString(file));
      }
    }
    return text.toString();
  }

  /** A definition that is in the cluster is left out: it may be somebody else's. */
  private static String kubeQueueTemplate() {
    return """
    {{- if (.Values.config.kubeQueue).enabled }}
    ROLE
    {{- if .Values.crds.install }}
    {{- range $path, $bytes := .Files.Glob "files/kube-queue/*.yaml" }}
    {{- $definition := fromYaml (toString $bytes) }}
    {{- if not (lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" $definition.metadata.name) }}
    {{- $annotations := merge (dict "helm.sh/resource-policy" "keep") ($definition.metadata.annotations | default dict) }}
    {{- $_ := set $definition.metadata "annotations" $annotations }}
    ---
    {{ toYaml $definition }}
    {{- end }}
    {{- end }}
    {{- end }}
    {{- end }}
    """
        .replace("ROLE\n", inReleaseNamespace(InstallManifests.kubeQueueText()));
  }

  private String plain() {
    WebhookRegistration registration =
        WebhookRegistration.shipped(
            InstallManifests.NAMESPACE,
            InstallManifests.WEBHOOK_SERVICE,
            InstallManifests.user(InstallManifests.NAMESPACE));
    return String.join("---\n", InstallManifests.documents())
        + "---\n"
        + documents(UserClusterRoles.all())
        + "---\n"
        + documents(InstallManifests.webhooks(registration));
  }

  private String template(Predicate<String> kinds) {
    return InstallManifests.documents().stream()
        .filter(document -> kinds.test(serialization.<HasMetadata>unmarshal(document).getKind()))
        .map(InstallFiles::inReleaseNamespace)
        .map(InstallFiles::withAnnotations)
        .map(InstallFiles::asKueuesValuesSay)
        .map(InstallFiles::withPodsWhereWanted)
        .collect(Collectors.joining("---\n"));
  }

  /** To create pods everywhere is much, for what few installations use. */
  private static String withPodsWhereWanted(String document) {
    return document.replace(
        CREATES_PODS,
        "{{- if .Values.placeholderPods.enabled }}\n" + CREATES_PODS + "{{- end }}\n");
  }

  /** Objects about which the other chart's values say something besides. */
  private static String asKueuesValuesSay(String document) {
    if (document.contains("\n  name: kueue-visibility-server-auth-reader\n")) {
      return "{{- if .Values.enableVisibilityAuthReaderRoleBinding }}\n"
          + document
          + "{{- end }}\n";
    }
    if (document.contains("\n  name: kueue-controller-manager-metrics-service\n")) {
      return withServiceFields(document, "metricsService", "")
          .replaceFirst(
              "(?m)^  labels:\n",
              """
                {{- with .Values.metricsService.annotations }}
                annotations:
                  {{- toYaml . | nindent 4 }}
                {{- end }}
                labels:
                  {{- with .Values.metricsService.labels }}
                  {{- toYaml . | nindent 4 }}
                  {{- end }}
              """);
    }
    return document.contains("\nkind: Service\nmetadata:\n  name: kueue-webhook-service\n")
        ? withServiceFields(
            document,
            "webhookService",
            """
              {{- with .Values.webhookService.ipDualStack }}
              {{- if .enabled }}
              ipFamilyPolicy: {{ .ipFamilyPolicy }}
              ipFamilies:
                {{- toYaml .ipFamilies | nindent 4 }}
              {{- end }}
              {{- end }}
            """)
        : document;
  }

  private static String withServiceFields(String document, String value, String further) {
    String type =
        """
          {{- with .Values.VALUE.type }}
          type: {{ . }}
          {{- end }}
        """;
    String ports =
        """
          ports:
          {{- with .Values.VALUE.ports }}
          {{- toYaml . | nindent 2 }}
          {{- else }}
        $1  {{- end }}
        """;
    return document
        .replaceFirst(
            "(?m)^spec:\n",
            Matcher.quoteReplacement("spec:\n" + type.replace("VALUE", value) + further))
        .replaceFirst("(?m)^  ports:\n((?:  .*\n)*)", ports.replace("VALUE", value));
  }

  /** The namespaces whose jobs are managed, as the configuration of the release says. */
  private static String inManagedNamespaces(String text) {
    return inReleaseNamespace(
        text.replaceAll(
            "(?m)^( +)namespaceSelector:\n(?:\\1 +.*\n)+",
            "$1namespaceSelector:\n{{ include \"sluice.managedNamespaces\" . | indent 6 }}\n"));
  }

  private static String withAnnotations(String document) {
    if (document.contains("\nkind: ServiceAccount\n")) {
      return withAnnotations(document, ".Values.serviceAccount.annotations");
    }
    return document.contains("\nkind: APIService\n")
        ? withAnnotations(document, "include \"sluice.caAnnotations\" . | fromYaml")
        : document;
  }

  private static String withAnnotations(String document, String value) {
    return document.replaceFirst(
        "(?m)^metadata:\n",
        "metadata:\n  {{- with "
            + value
            + " }}\n  annotations:\n    {{- toYaml . | nindent 4 }}\n  {{- end }}\n");
  }

  private String webhooks() {
    return "{{- if .Values.config.manageJobsWithoutQueueName }}\n"
        + webhooks(true)
        + "{{- else }}\n"
        + webhooks(false)
        + "{{- end }}\n";
  }

  private String webhooks(boolean manageJobsWithoutQueueName) {
    List<? extends HasMetadata> on =
        registered(manageJobsWithoutQueueName, JobFrameworks.optional(), List.of());
    List<? extends HasMetadata> prepared =
        registered(manageJobsWithoutQueueName, List.of(), JobFrameworks.optional());
    StringBuilder documents = new StringBuilder();
    for (int i = 0; i < on.size(); i++) {
      documents.append(i == 0 ? "" : "---\n").append(eitherWay(on.get(i), prepared.get(i)));
    }
    return inReleaseNamespace(documents.toString())
        .replace(REINVOCATION, "{{ .Values.mutatingWebhook.reinvocationPolicy }}")
        .replaceAll(
            "(?m)^( +)namespaceSelector:\n +matchLabels:\n +SELECTOR: SELECTOR\n",
            "$1namespaceSelector:\n{{ include \"sluice.managedNamespaces\" . | indent 4 }}\n")
        .replaceAll(
            "(?m)^metadata:\n",
            "metadata:\n{{- with include \"sluice.caAnnotations\" . | fromYaml }}\n  annotations:\n"
                + "{{ toYaml . | indent 4 }}\n{{- end }}\n");
  }

  private static List<HasMetadata> registered(
      boolean manageJobsWithoutQueueName, List<String> on, List<String> prepared) {
    Set<String> frameworks = new HashSet<>(on);
    frameworks.add(JobFrameworks.BATCH_JOB);
    return InstallManifests.webhooks(
        new WebhookRegistration(
            new WebhookRegistration.Service(
                InstallManifests.WEBHOOK_SERVICE, InstallManifests.NAMESPACE, 443),
            "",
            InstallManifests.NAMESPACE,
            new WebhookRegistration.Kinds(frameworks, Set.copyOf(prepared), List.of()),
            further(manageJobsWithoutQueueName),
            Optional.of(new Selector(Map.of(SELECTOR, SELECTOR), List.of())),
            Optional.of(InstallManifests.user(InstallManifests.NAMESPACE)),
            REINVOCATION));
  }

  /** What is about pods is in the chart in any case, and installed where it is wanted. */
  private static Set<WebhookRegistration.Further> further(boolean manageJobsWithoutQueueName) {
    Set<WebhookRegistration.Further> further =
        EnumSet.of(
            WebhookRegistration.Further.PODS_OF_JOBS,
            WebhookRegistration.Further.PODS_OF_POD_GROUPS);
    if (manageJobsWithoutQueueName) {
      further.add(WebhookRegistration.Further.JOBS_WITHOUT_QUEUE_NAME);
    }
    return further;
  }

  /** Of each integration that may be on or prepared, the webhooks of both. */
  private String eitherWay(HasMetadata on, HasMetadata prepared) {
    List<String> parts = parts(text(on));
    List<String> preparedParts = parts(text(prepared));
    StringBuilder result = new StringBuilder();
    parts.stream()
        .filter(part -> framework(part).isEmpty())
        .map(InstallFiles::whereWanted)
        .forEach(result::append);
    for (String framework : optional()) {
      result.append(
          "{{- if has \"%s\" (.Values.config.integrations).frameworks }}\n".formatted(framework));
      parts.stream().filter(part -> framework(part).equals(framework)).forEach(result::append);
      result.append("{{- else }}\n");
      preparedParts.stream()
          .filter(part -> framework(part).equals(framework))
          .forEach(result::append);
      result.append("{{- end }}\n");
    }
    return result.toString();
  }

  private static String whereWanted(String part) {
    if (part.contains("name: vpods-of-jobs.kb.io")) {
      return "{{- if eq (toString .Values.config.podAccounting) \"Prevent\" }}\n"
          + part
          + "{{- end }}\n";
    }
    return part.contains("name: mpods-of-podgroups.kb.io")
        ? "{{- if eq (toString (.Values.config.featureGates).WASPodGroups) \"true\" }}\n"
            + part
            + "{{- end }}\n"
        : part;
  }

  /** The head of a registration, and each of its webhooks. */
  private static List<String> parts(String registration) {
    return List.of(registration.split("(?m)^(?=- admissionReviewVersions)", -1));
  }

  private static String framework(String part) {
    Matcher path = PATH.matcher(part);
    return path.find() ? OPTIONAL_PATHS.getOrDefault(path.group(1), "") : "";
  }

  /** The frameworks that a user may turn off, in the order of the registrations. */
  private static List<String> optional() {
    return WebhookKind.all().stream()
        .map(WebhookKind::framework)
        .filter(JobFrameworks.optional()::contains)
        .distinct()
        .toList();
  }

  private static Map<String, String> optionalPaths() {
    Map<String, String> paths = new HashMap<>();
    for (WebhookKind kind : WebhookKind.all()) {
      if (JobFrameworks.optional().contains(kind.framework())) {
        paths.put(kind.mutatingPath(), kind.framework());
        paths.put(kind.validatingPath(), kind.framework());
      }
    }
    return Map.copyOf(paths);
  }

  /** The chart's values, with the list of frameworks that is shipped. */
  private static String values() throws IOException {
    return replaced(
        Path.of(VALUES),
        "(    frameworks:\n)(?:    - .*\n)*",
        "$1"
            + JobFrameworks.shipped().stream()
                .map(name -> "    - " + name + "\n")
                .collect(Collectors.joining()));
  }

  /**
   * The schema of the values, with the frameworks that may be listed and all fields of the file.
   */
  private static String schema() throws IOException {
    String schema =
        replaced(
            Path.of(SCHEMA),
            "(\"frameworks\": .*\\{\"enum\": \\[)[^]]*]",
            "$1"
                + JobFrameworks.integrated().stream()
                    .map(name -> "\"" + name + "\"")
                    .collect(Collectors.joining(", "))
                + "]");
    return schema.replaceFirst(
        "(\"configuration\": \\{.*\n.*\n.*\n +\"properties\": \\{\n)(?: {8}.*\n)*",
        "$1"
            + ConfigurationSchema.whole().path("properties").properties().stream()
                .map(field -> "        \"" + field.getKey() + "\": " + field.getValue())
                .collect(Collectors.joining(",\n", "", "\n")));
  }

  private static String replaced(Path file, String pattern, String by) throws IOException {
    return Pattern.compile(pattern).matcher(Files.readString(file)).replaceFirst(by);
  }

  private static String inReleaseNamespace(String text) {
    return ofRelease(text.replace(InstallManifests.NAMESPACE, "{{ .Release.Namespace }}"));
  }

  /** Labels, and selectors of the operator's pods, as they are in a release. */
  private static String ofRelease(String text) {
    return text.replace("app.kubernetes.io/instance: kueue\n", INSTANCE)
        .replace(
            "app.kubernetes.io/name: kueue\n",
            "app.kubernetes.io/name: {{ include \"sluice.name\" $ | quote }}\n")
        .replaceAll(
            "(?m)^( +)app.kubernetes.io/part-of: sluice\n",
            "$1app.kubernetes.io/managed-by: {{ \\$.Release.Service }}\n"
                + "$1app.kubernetes.io/part-of: sluice\n"
                + "$1helm.sh/chart: {{ include \"sluice.chart\" \\$ }}\n")
        .replaceAll(
            "(?m)^( +)app.kubernetes.io/version: .*\n",
            "$1app.kubernetes.io/version: {{ \\$.Chart.AppVersion | quote }}\n");
  }

  private String documents(List<? extends HasMetadata> objects) {
    return objects.stream().map(this::text).collect(Collectors.joining("---\n"));
  }

  private String text(HasMetadata object) {
    try {
      return yaml.writeValueAsString(json.readTree(serialization.asJson(object)));
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Every object of a text with any number of documents. */
  static List<HasMetadata> objects(String text) {
    KubernetesSerialization serialization = new KubernetesSerialization();
    return Stream.of(text.split("(?m)^---.*\n", -1))
        .filter(document -> document.contains("kind:"))
        .map(document -> serialization.<HasMetadata>unmarshal(document))
        .toList();
  }
}
