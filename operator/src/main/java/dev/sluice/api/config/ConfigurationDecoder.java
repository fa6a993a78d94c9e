package dev.sluice.api.config;

import com.fasterxml.jackson.databind.node.LongNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.sluice.api.KubernetesNames;
import dev.sluice.api.config.Configuration.ClientConnection;
import dev.sluice.api.config.Configuration.Controller;
import dev.sluice.api.config.Configuration.Health;
import dev.sluice.api.config.Configuration.InternalCertManagement;
import dev.sluice.api.config.Configuration.LeaderElection;
import dev.sluice.api.config.Configuration.ObjectRetention;
import dev.sluice.api.config.Configuration.RunTimes;
import dev.sluice.api.config.Configuration.Runs;
import dev.sluice.api.config.Configuration.Tls;
import dev.sluice.api.config.Configuration.TlsVersion;
import dev.sluice.api.config.Configuration.VisibilityServer;
import dev.sluice.api.config.Configuration.WaitForPodsReady;
import dev.sluice.api.config.Configuration.Webhook;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
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
}
