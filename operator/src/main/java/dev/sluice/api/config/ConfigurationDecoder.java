package dev.sluice.api.config;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.LongNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLGenerator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.fasterxml.jackson.dataformat.yaml.util.StringQuotingChecker;
import dev.sluice.api.KubernetesNames;
import dev.sluice.api.config.Configuration.BindAddress;
import dev.sluice.api.config.Configuration.ClientConnection;
import dev.sluice.api.config.Configuration.Controller;
import dev.sluice.api.config.Configuration.CustomLabel;
import dev.sluice.api.config.Configuration.Health;
import dev.sluice.api.config.Configuration.InternalCertManagement;
import dev.sluice.api.config.Configuration.JournalSettings;
import dev.sluice.api.config.Configuration.LeaderElection;
import dev.sluice.api.config.Configuration.LocalQueueMetrics;
import dev.sluice.api.config.Configuration.Metrics;
import dev.sluice.api.config.Configuration.ObjectRetention;
import dev.sluice.api.config.Configuration.PodAccounting;
import dev.sluice.api.config.Configuration.RunTimes;
import dev.sluice.api.config.Configuration.Runs;
import dev.sluice.api.config.Configuration.SourceKind;
import dev.sluice.api.config.Configuration.Tls;
import dev.sluice.api.config.Configuration.TlsVersion;
import dev.sluice.api.config.Configuration.VisibilityServer;
import dev.sluice.api.config.Configuration.WaitForPodsReady;
import dev.sluice.api.config.Configuration.Webhook;
import dev.sluice.api.config.ConfigurationLoader.ConfigurationVersion;
import dev.sluice.api.config.ConfigurationLoader.DashboardDecoder;
import dev.sluice.api.config.KubeQueue.ForeignUnits;
import dev.sluice.api.config.KubeQueue.Intake;
import dev.sluice.api.config.KubeQueue.Jobs;
import dev.sluice.api.config.KubeQueue.OwnUnits;
import dev.sluice.api.config.KubeQueue.Policy;
import dev.sluice.api.config.KubeQueue.QuotaLabel;
import dev.sluice.api.config.KubeQueue.Source;
import dev.sluice.api.config.KubeQueue.Starts;
import dev.sluice.api.config.KubeQueue.Units;
import dev.sluice.core.model.QueueRules.AttemptBackoff;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reads the whole file, field by field, with its defaults and rules. */
final class ConfigurationDecoder {

  private static final List<String> CIPHER_SUITES =
      List.of(
          "TLS_AES_128_GCM_SHA256",
          "TLS_AES_256_GCM_SHA384",
          "TLS_CHACHA20_POLY1305_SHA256",
          "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
          "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
          "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
          "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
          "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
          "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
          "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
          "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
          "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
          "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256");

  private static final Map<String, TlsVersion> TLS_VERSIONS =
      Stream.of(TlsVersion.values()).collect(Collectors.toMap(TlsVersion::text, it -> it));
  private static final Duration MILLISECOND = Duration.ofMillis(1);

  private final ConfigurationVersion version;
  private final ValidationErrors errors;
  private final Supplier<String> defaultNamespace;

  ConfigurationDecoder(
      ConfigurationVersion version, ValidationErrors errors, Supplier<String> defaultNamespace) {
    this.version = version;
    this.errors = errors;
    this.defaultNamespace = defaultNamespace;
  }

  /**
   * The configuration that the file says.
   *
   * @param file the top of the file
   * @param commandLineGates the value of the command line's flag for feature gates, maybe empty
   */
  Configuration decode(ObjectFieldReader file, String commandLineGates) {
    file.text("apiVersion");
    file.settle("apiVersion", TextNode.valueOf(ConfigurationVersion.V1BETA2.apiVersion()));
    file.text("kind");
    FeatureGates asked = gates(file, commandLineGates);
    String namespace =
        file.text("namespace").filter(text -> !text.isEmpty()).orElseGet(defaultNamespace);
    file.settle("namespace", TextNode.valueOf(namespace));
    file.check(
        "namespace",
        KubernetesNames.isDnsLabel(namespace),
        namespace,
        KubernetesNames.DNS_LABEL_RULE);
    CapabilityDecoder capabilities = new CapabilityDecoder(version, errors, asked);
    Optional<WaitForPodsReady> waitForPodsReady = capabilities.waitForPodsReady(file);
    PodAccounting podAccounting = file.word("podAccounting", PodAccounting.WORDS, "Detect");
    if (!podAccounting.isOn()
        && waitForPodsReady.flatMap(WaitForPodsReady::unscheduledTimeout).isPresent()) {
      errors.add(
          "waitForPodsReady.unscheduledTimeout",
          "needs podAccounting, which is Off: nobody would know which pods have a node");
    }
    FeatureGates gates =
        asked.with(
            FeatureGate.DISABLE_WAIT_FOR_PODS_READY,
            asked.enabled(FeatureGate.DISABLE_WAIT_FOR_PODS_READY) || waitForPodsReady.isEmpty());
    file.settle("featureGates", gates.tree());
    Configuration configuration =
        new Configuration(
            namespace,
            webhook(file.object("webhook")),
            leaderElection(file.object("leaderElection"), namespace),
            new MetricsDecoder(version, errors, gates).decode(file.object("metrics")),
            health(file.object("health")),
            MetricsDecoder.bindAddress(file, "pprofBindAddress", "0"),
            controller(file.object("controller")),
            tls(file.object("tls")),
            file.flag("manageJobsWithoutQueueName", false),
            new SelectorDecoder(errors).managedNamespaces(file, namespace),
            internalCertManagement(file.object("internalCertManagement")),
            waitForPodsReady,
            clientConnection(file.object("clientConnection")),
            capabilities.integrations(file.object("integrations")),
            capabilities.multiKueue(file.object("multiKueue")),
            capabilities.fairSharing(file),
            capabilities.admissionFairSharing(file),
            new ResourcesDecoder(version, errors, gates).decode(file.object("resources")),
            gates,
            objectRetention(file.object("objectRetentionPolicies")),
            visibilityServer(file),
            new KubeQueueDecoder(version, errors).decode(file),
            DashboardDecoder.decode(file),
            new Runs(
                podAccounting,
                runTimes(file.object("runTimes")),
                JournalSettings.decode(file),
                LedgerSettings.decode(file),
                warnOnCreate(file.object("forecast")),
                podTimeout(file.object("eviction"))),
            EffectiveConfiguration.yaml(file.settled()));
    capabilities.acceptAndDrop(file);
    return file.done(configuration);
  }

  private FeatureGates gates(ObjectFieldReader file, String commandLine) {
    Map<String, Boolean> given =
        file.map(
            "featureGates",
            (node, at) -> {
              errors.check(node.isBoolean(), at, node, "true or false");
              return node.isBoolean() ? Optional.of(node.booleanValue()) : Optional.empty();
            });
    if (commandLine.isBlank()) {
      return FeatureGates.settle(given, "featureGates.", errors);
    }
    if (file.has("featureGates")) {
      errors.add(
          "--feature-gates", "can't be combined with featureGates in the file; use one of the two");
    }
    Map<String, Boolean> flags = FeatureGates.parse(commandLine, "--feature-gates", errors);
    return FeatureGates.settle(flags, "--feature-gates ", errors);
  }

  private Webhook webhook(ObjectFieldReader fields) {
    return fields.done(
        new Webhook(
            fields.text("host", ""),
            fields.whole("port", 9443, 0, 65535),
            fields.text("certDir", "/tmp/k8s-webhook-server/serving-certs")));
  }

  private LeaderElection leaderElection(ObjectFieldReader fields, String namespace) {
    boolean elect = fields.flag("leaderElect", true);
    Duration lease = fields.duration("leaseDuration", Duration.ofSeconds(15), MILLISECOND);
    Duration renew = fields.duration("renewDeadline", Duration.ofSeconds(10), MILLISECOND);
    Duration retry = fields.duration("retryPeriod", Duration.ofSeconds(2), MILLISECOND);
    String name = fields.text("resourceName", "c1f6bfd2.kueue.x-k8s.io");
    String lock = fields.text("resourceLock", "leases");
    fields.check("resourceLock", lock.equals("leases"), lock, "leases");
    fields.check(
        "resourceName", KubernetesNames.isSubdomain(name), name, KubernetesNames.SUBDOMAIN_RULE);
    fields.check(
        "leaseDuration",
        lease.compareTo(renew) > 0,
        GoDuration.format(lease),
        "more than renewDeadline, which is " + GoDuration.format(renew));
    fields.check(
        "renewDeadline",
        renew.toNanos() > 1.2 * retry.toNanos(),
        GoDuration.format(renew),
        "more than 1.2 times retryPeriod, which is " + GoDuration.format(retry));
    String in = fields.text("resourceNamespace").filter(text -> !text.isEmpty()).orElse(namespace);
    fields.settle("resourceNamespace", TextNode.valueOf(in));
    fields.check(
        "resourceNamespace", KubernetesNames.isDnsLabel(in), in, KubernetesNames.DNS_LABEL_RULE);
    return fields.done(new LeaderElection(elect, name, in, lease, renew, retry));
  }

  private Health health(ObjectFieldReader fields) {
    return fields.done(
        new Health(
            MetricsDecoder.bindAddress(fields, "healthProbeBindAddress", ":8081"),
            path(fields.text("livenessEndpointName", "healthz")),
            path(fields.text("readinessEndpointName", "readyz"))));
  }

  private static String path(String endpoint) {
    return endpoint.startsWith("/") ? endpoint : "/" + endpoint;
  }

  private Controller controller(ObjectFieldReader fields) {
    Map<String, Integer> concurrency =
        fields.map(
            "groupKindConcurrency",
            (node, at) -> {
              boolean good =
                  node.canConvertToInt() && node.isIntegralNumber() && node.intValue() > 0;
              errors.check(good, at, node, "a whole number of at least 1");
              return good ? Optional.of(node.intValue()) : Optional.empty();
            });
    long timeout =
        fields.whole("cacheSyncTimeout", 1, Long.MAX_VALUE).orElse(Duration.ofMinutes(2).toNanos());
    fields.settle("cacheSyncTimeout", LongNode.valueOf(timeout));
    return fields.done(new Controller(concurrency, Duration.ofNanos(timeout)));
  }

  private Tls tls(ObjectFieldReader fields) {
    Optional<TlsVersion> version = fields.word("minVersion", TLS_VERSIONS);
    List<String> suites = fields.texts("cipherSuites");
    String path = fields.path("cipherSuites");
    suites.stream()
        .filter(suite -> !CIPHER_SUITES.contains(suite))
        .forEach(suite -> errors.value(path, suite, String.join(", ", CIPHER_SUITES)));
    if (!suites.isEmpty() && version.equals(Optional.of(TlsVersion.TLS_1_3))) {
      errors.add(path, "can't be chosen together with minVersion VersionTLS13: leave one out");
    }
    List<Integer> curves = fields.integers("curvePreferences");
    KeyExchangeGroup.check(fields.path("curvePreferences"), curves, errors);
    return fields.done(new Tls(version, suites, curves));
  }

  private InternalCertManagement internalCertManagement(ObjectFieldReader fields) {
    boolean enable = fields.flag("enable", true);
    String service = fields.text("webhookServiceName", "kueue-webhook-service");
    String secret = fields.text("webhookSecretName", "kueue-webhook-server-cert");
    fields.check(
        "webhookServiceName",
        KubernetesNames.isDns1035Label(service),
        service,
        KubernetesNames.DNS_1035_RULE);
    fields.check(
        "webhookSecretName",
        KubernetesNames.isSubdomain(secret),
        secret,
        KubernetesNames.SUBDOMAIN_RULE);
    return fields.done(new InternalCertManagement(enable, service, secret));
  }

  private ClientConnection clientConnection(ObjectFieldReader fields) {
    return fields.done(
        new ClientConnection(
            fields.number("qps", 1000), fields.whole("burst", 1000, 1, Integer.MAX_VALUE)));
  }

  private ObjectRetention objectRetention(ObjectFieldReader fields) {
    ObjectFieldReader workloads = fields.object("workloads");
    ObjectRetention retention =
        new ObjectRetention(
            retained(workloads, "afterFinished"), retained(workloads, "afterDeactivatedByKueue"));
    workloads.nothingElse();
    return fields.done(retention);
  }

  private Optional<Duration> retained(ObjectFieldReader fields, String name) {
    return fields.has(name)
        ? Optional.of(fields.duration(name, Duration.ZERO, Duration.ZERO))
        : fields.duration(name);
  }

  private static Duration warnOnCreate(ObjectFieldReader fields) {
    return fields.done(fields.duration("warnOnCreate", Duration.ZERO, Duration.ZERO));
  }

  private static Duration podTimeout(ObjectFieldReader fields) {
    return fields.done(fields.duration("podTimeout", Duration.ofHours(1), Duration.ZERO));
  }

  private RunTimes runTimes(ObjectFieldReader fields) {
    return fields.done(
        new RunTimes(
            fields.whole("minSamples", 5, 2, 64),
            fields.duration("window", Duration.ofDays(30), Duration.ofHours(1)),
            fields.whole("maxGroups", 5_000, 1, 100_000)));
  }

  private VisibilityServer visibilityServer(ObjectFieldReader file) {
    if (version == ConfigurationVersion.V1BETA1) {
      file.onlyIn(ConfigurationVersion.V1BETA2.apiVersion(), "visibilityServer");
    }
    ObjectFieldReader fields = file.object("visibilityServer");
    String address = fields.text("bindAddress", "");
    fields.check(
        "bindAddress",
        address.isEmpty() || KubernetesNames.isIpAddress(address),
        address,
        "an IPv4 or IPv6 address");
    return fields.done(new VisibilityServer(address, fields.whole("bindPort", 8082, 1, 65535)));
  }

  /**
   * Writes a configuration out as a file of its own kind with nothing left to defaults: what the
   * operator prints at start. Read again, it gives the same configuration. It holds no secrets:
   * certificates and credentials are only named, and the values of a program's environment are left
   * out.
   */
  private static final class EffectiveConfiguration {

    private static final YAMLMapper YAML =
        new YAMLMapper(
            YAMLFactory.builder()
                .enable(StreamWriteFeature.WRITE_BIGDECIMAL_AS_PLAIN)
                .disable(YAMLGenerator.Feature.WRITE_DOC_START_MARKER)
                .enable(YAMLGenerator.Feature.MINIMIZE_QUOTES)
                .stringQuotingChecker(new Numbers())
                .enable(YAMLGenerator.Feature.INDENT_ARRAYS_WITH_INDICATOR)
                .build());

    private EffectiveConfiguration() {}

    /** Quotes what a reader could take for a number of any base, too. */
    private static final class Numbers extends StringQuotingChecker.Default {

      private static final long serialVersionUID = 1L;

      @Override
      public boolean needToQuoteValue(String text) {
        return super.needToQuoteValue(text) || text.matches("[-+.]*[0-9].*");
      }
    }

    /** What was settled, as YAML. */
    static String yaml(ObjectNode settled) {
      try {
        return YAML.writeValueAsString(settled);
      } catch (JsonProcessingException e) {
        throw new IllegalStateException("plain values can always be written", e);
      }
    }
  }

  /** Reads the block {@code metrics}. */
  private static final class MetricsDecoder {

    private static final Pattern LABEL_NAME = Pattern.compile("[a-zA-Z][a-zA-Z0-9_]*");
    private static final int MOST_LABELS = 20;
    private static final int MOST_VALUES = 16;
    private static final int MOST_WORKLOAD_VALUES = 12;
    private static final Map<String, SourceKind> SOURCE_KINDS =
        Map.of(
            "ClusterQueue", SourceKind.CLUSTER_QUEUE,
            "Cohort", SourceKind.COHORT,
            "LocalQueue", SourceKind.LOCAL_QUEUE,
            "Workload", SourceKind.WORKLOAD);

    private final ConfigurationVersion version;
    private final ValidationErrors errors;
    private final FeatureGates gates;

    MetricsDecoder(ConfigurationVersion version, ValidationErrors errors, FeatureGates gates) {
      this.version = version;
      this.errors = errors;
      this.gates = gates;
    }

    Metrics decode(ObjectFieldReader fields) {
      return fields.done(
          new Metrics(
              bindAddress(fields, "bindAddress", ":8443"),
              fields.flag("enableClusterQueueResources", false),
              localQueueMetrics(fields),
              customLabels(fields)));
    }

    /** An address to listen on; empty when the file says that there is none. */
    static Optional<BindAddress> bindAddress(
        ObjectFieldReader fields, String name, String otherwise) {
      String text = fields.text(name).filter(given -> !given.isEmpty()).orElse(otherwise);
      fields.settle(name, TextNode.valueOf(text));
      if (text.equals("0")) {
        return Optional.empty();
      }
      Optional<BindAddress> address = BindAddress.parse(text);
      fields.check(name, address.isPresent(), text, BindAddress.RULE);
      return address;
    }

    private LocalQueueMetrics localQueueMetrics(ObjectFieldReader metrics) {
      boolean absent = !metrics.has("localQueueMetrics");
      ObjectFieldReader fields = metrics.object("localQueueMetrics");
      return fields.done(
          new LocalQueueMetrics(
              fields.flag("enable", absent),
              new SelectorDecoder(errors).decode(fields.object("localQueueSelector"))));
    }

    private List<CustomLabel> customLabels(ObjectFieldReader metrics) {
      String path = metrics.path("customLabels");
      List<CustomLabel> labels = new ArrayList<>();
      Set<String> names = new HashSet<>();
      for (ObjectFieldReader fields : metrics.objects("customLabels")) {
        CustomLabel label = customLabel(fields);
        labels.add(label);
        if (!names.add(label.name())) {
          fields.refuse("name", "\"" + label.name() + "\" is given twice");
        }
      }
      errors.check(labels.size() <= MOST_LABELS, path, labels.size(), "at most 20 labels");
      for (SourceKind kind : SourceKind.values()) {
        long count = labels.stream().filter(label -> label.sourceKind() == kind).count();
        int most = kind == SourceKind.WORKLOAD ? 2 : 6;
        errors.check(count <= most, path, count, "at most " + most + " labels from a " + kind);
      }
      if (!labels.isEmpty() && !gates.enabled(FeatureGate.CUSTOM_METRIC_LABELS)) {
        errors.add(path, "needs the feature gate CustomMetricLabels, which is off");
      }
      return List.copyOf(labels);
    }

    private CustomLabel customLabel(ObjectFieldReader fields) {
      String name = fields.required("name", "a name that matches " + LABEL_NAME);
      fields.check(
          "name",
          name.isEmpty() || LABEL_NAME.matcher(name).matches(),
          name,
          "a name that matches " + LABEL_NAME);
      String label = fields.text("sourceLabelKey", "");
      String annotation = fields.text("sourceAnnotationKey", "");
      if (!label.isEmpty() && !annotation.isEmpty()) {
        fields.refuse("sourceAnnotationKey", "can't be combined with sourceLabelKey; give one");
      }
      boolean fromAnnotation = label.isEmpty() && !annotation.isEmpty();
      String key = fromAnnotation ? annotation : label.isEmpty() ? name : label;
      errors.check(
          key.isEmpty() || KubernetesNames.isLabelKey(key),
          fields.path(fromAnnotation ? "sourceAnnotationKey" : "sourceLabelKey"),
          key,
          KubernetesNames.LABEL_KEY_RULE);
      if (version == ConfigurationVersion.V1BETA1) {
        fields.onlyIn(ConfigurationVersion.V1BETA2.apiVersion(), "sourceKind", "trackedValues");
      }
      SourceKind kind = fields.word("sourceKind", SOURCE_KINDS, "ClusterQueue");
      List<String> values = trackedValues(fields, kind);
      return fields.done(new CustomLabel(name, kind, key, fromAnnotation, values));
    }

    private List<String> trackedValues(ObjectFieldReader fields, SourceKind kind) {
      List<String> values = fields.texts("trackedValues");
      String path = fields.path("trackedValues");
      boolean workload = kind == SourceKind.WORKLOAD;
      int most = workload ? MOST_WORKLOAD_VALUES : MOST_VALUES;
      int least = workload ? 1 : 0;
      errors.check(
          values.size() >= least && values.size() <= most,
          path,
          values.size() + " values",
          least + " to " + most + " values");
      errors.check(new HashSet<>(values).size() == values.size(), path, values, "each value once");
      return values;
    }
  }

  /** Reads the block {@code kubeQueue}. */
  private static final class KubeQueueDecoder {

    private static final List<String> SOURCE_NAMES =
        List.of("ElasticQuotaTree", "ElasticQuota", "ResourceQuota", "PlainResourceQuota");

    private static final List<String> DEFAULT_SOURCES = SOURCE_NAMES.subList(0, 3);

    private static final Map<String, Source> SOURCES =
        Map.of(
            SOURCE_NAMES.get(0), Source.ELASTIC_QUOTA_TREE,
            SOURCE_NAMES.get(1), Source.ELASTIC_QUOTA,
            SOURCE_NAMES.get(2), Source.RESOURCE_QUOTA,
            SOURCE_NAMES.get(3), Source.PLAIN_RESOURCE_QUOTA);

    private static final Map<String, Policy> POLICIES =
        Map.of(
            "Round", Policy.ROUND,
            "Block", Policy.BLOCK,
            "StrictPriority", Policy.STRICT_PRIORITY);

    private static final double MOST = 1000;
    private static final Duration MILLISECOND = Duration.ofMillis(1);

    /** The shortest time that annotations of queues take for starts. */
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final ConfigurationVersion version;
    private final ValidationErrors errors;

    KubeQueueDecoder(ConfigurationVersion version, ValidationErrors errors) {
      this.version = version;
      this.errors = errors;
    }

    /** The block of the file; where it is absent, queues are not made from quotas. */
    KubeQueue decode(ObjectFieldReader file) {
      if (version == ConfigurationVersion.V1BETA1) {
        file.onlyIn(ConfigurationVersion.V1BETA2.apiVersion(), "kubeQueue");
      }
      ObjectFieldReader fields = file.object("kubeQueue");
      boolean enabled = fields.flag("enabled", false);
      Set<Source> sources = sources(fields);
      String namespace = fields.text("namespace", "kube-queue");
      fields.check(
          "namespace",
          KubernetesNames.isDnsLabel(namespace),
          namespace,
          KubernetesNames.DNS_LABEL_RULE);
      double rate = fields.number("oversellRate", 2);
      fields.check("oversellRate", rate >= 1 && rate <= MOST, rate, "a number from 1 to 1000");
      Policy policy = fields.word("policy", POLICIES, "Round");
      Starts starts =
          new Starts(
              startTimeout(fields),
              fields.duration("startBackoff", Duration.ofMinutes(1), SECOND),
              attemptBackoff(fields.object("attemptBackoff")));
      Intake intake =
          fields.word(
              "intake",
              Map.of("SuspendedOnly", Intake.SUSPENDED_ONLY, "All", Intake.ALL),
              "SuspendedOnly");
      Units units =
          new Units(
              fields.word(
                  "queueUnits", Map.of("Mirror", OwnUnits.MIRROR, "Off", OwnUnits.OFF), "Mirror"),
              fields.word(
                  "foreignUnits",
                  Map.of("Accept", ForeignUnits.ACCEPT, "Ignore", ForeignUnits.IGNORE),
                  "Accept"));
      QuotaLabel label =
          fields.word(
              "quotaLabel",
              Map.of("Listed", QuotaLabel.LISTED, "Anywhere", QuotaLabel.ANYWHERE),
              "Listed");
      Jobs jobs = new Jobs(intake, label);
      return fields.done(
          new KubeQueue(enabled, sources, namespace, rate, policy, starts, jobs, units));
    }

    private static Duration startTimeout(ObjectFieldReader fields) {
      Duration timeout = fields.duration("startTimeout", Duration.ZERO, Duration.ZERO);
      fields.check(
          "startTimeout",
          timeout.isZero() || timeout.compareTo(SECOND) >= 0,
          GoDuration.format(timeout),
          "0s, or at least 1s");
      return timeout;
    }

    private Set<Source> sources(ObjectFieldReader fields) {
      ArrayNode all = JsonNodeFactory.instance.arrayNode();
      DEFAULT_SOURCES.forEach(all::add);
      fields.defaultTo("sources", all);
      List<String> names = fields.texts("sources");
      Set<Source> result = EnumSet.noneOf(Source.class);
      for (int i = 0; i < names.size(); i++) {
        String path = fields.path("sources") + "[" + i + "]";
        Source source = SOURCES.get(names.get(i));
        if (source == null) {
          errors.value(path, names.get(i), String.join(", ", SOURCE_NAMES));
        } else if (!result.add(source)) {
          errors.add(path, "\"" + names.get(i) + "\" is given twice");
        }
      }
      return result;
    }

    private AttemptBackoff attemptBackoff(ObjectFieldReader fields) {
      Duration initial = fields.duration("initial", Duration.ofSeconds(1), MILLISECOND);
      Duration max = fields.duration("max", Duration.ofSeconds(20), MILLISECOND);
      fields.check(
          "max",
          max.compareTo(initial) >= 0,
          GoDuration.format(max),
          "at least initial, which is " + GoDuration.format(initial));
      return fields.done(new AttemptBackoff(initial, max));
    }
  }
}
