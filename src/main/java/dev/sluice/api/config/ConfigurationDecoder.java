package dev.sluice.api.config;

import dev.sluice.api.config.Configuration.ClientConnection;
import dev.sluice.api.config.Configuration.Controller;
import dev.sluice.api.config.Configuration.Health;
import dev.sluice.api.config.Configuration.InternalCertManagement;
import dev.sluice.api.config.Configuration.LeaderElection;
import dev.sluice.api.config.Configuration.ObjectRetention;
import dev.sluice.api.config.Configuration.Tls;
import dev.sluice.api.config.Configuration.TlsVersion;
import dev.sluice.api.config.Configuration.VisibilityServer;
import dev.sluice.api.config.Configuration.Webhook;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

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

  private static final Map<String, TlsVersion> TLS_VERSIONS = tlsVersions();
  private static final Duration MILLISECOND = Duration.ofMillis(1);

  private final ConfigurationVersion configurationVersion;
  private final ValidationErrors validationErrors;
  private final Supplier<String> defaultNamespace;

  ConfigurationDecoder(
      ConfigurationVersion configurationVersion,
      ValidationErrors validationErrors,
      Supplier<String> defaultNamespace) {
    this.configurationVersion = configurationVersion;
    this.validationErrors = validationErrors;
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
    file.text("kind");
    FeatureGates gates = gates(file, commandLineGates);
    String namespace =
        file.text("namespace").filter(text -> !text.isEmpty()).orElseGet(defaultNamespace);
    validationErrors.check(
        KubernetesNames.isDnsLabel(namespace),
        file.path("namespace"),
        namespace,
        KubernetesNames.DNS_LABEL_RULE);
    CapabilityDecoder capabilities =
        new CapabilityDecoder(configurationVersion, validationErrors, gates);
    Configuration configuration =
        new Configuration(
            namespace,
            webhook(file.object("webhook")),
            leaderElection(file.object("leaderElection"), namespace),
            new MetricsDecoder(configurationVersion, validationErrors, gates)
                .decode(file.object("metrics")),
            health(file.object("health")),
            file.text("pprofBindAddress", ""),
            controller(file.object("controller")),
            tls(file.object("tls")),
            file.flag("manageJobsWithoutQueueName", false),
            new SelectorDecoder(validationErrors).managedNamespaces(file, namespace),
            internalCertManagement(file.object("internalCertManagement")),
            capabilities.waitForPodsReady(file),
            clientConnection(file.object("clientConnection")),
            capabilities.integrations(file.object("integrations")),
            capabilities.multiKueue(file.object("multiKueue")),
            capabilities.fairSharing(file),
            capabilities.admissionFairSharing(file),
            new ResourcesDecoder(configurationVersion, validationErrors, gates)
                .decode(file.object("resources")),
            gates,
            objectRetention(file.object("objectRetentionPolicies")),
            visibilityServer(file),
            List.of());
    capabilities.acceptAndDrop(file);
    file.nothingElse();
    return configuration;
  }

  private FeatureGates gates(ObjectFieldReader file, String commandLine) {
    Map<String, Boolean> given =
        file.map(
            "featureGates",
            (node, at) -> {
              validationErrors.check(node.isBoolean(), at, node, "true or false");
              return node.isBoolean() ? Optional.of(node.booleanValue()) : Optional.empty();
            });
    if (commandLine.isBlank()) {
      return FeatureGates.settle(given, "featureGates.", validationErrors);
    }
    if (file.has("featureGates")) {
      validationErrors.add(
          "--feature-gates", "can't be combined with featureGates in the file; use one of the two");
    }
    Map<String, Boolean> flags =
        FeatureGates.parse(commandLine, "--feature-gates", validationErrors);
    return FeatureGates.settle(flags, "--feature-gates ", validationErrors);
  }

  private Webhook webhook(ObjectFieldReader objectFieldReader) {
    Webhook webhook =
        new Webhook(
            objectFieldReader.text("host", ""),
            objectFieldReader.whole("port", 9443, 0, 65535),
            objectFieldReader.text("certDir", "/tmp/k8s-webhook-server/serving-certs"));
    objectFieldReader.nothingElse();
    return webhook;
  }

  private LeaderElection leaderElection(ObjectFieldReader objectFieldReader, String namespace) {
    boolean elect = objectFieldReader.flag("leaderElect", true);
    Duration lease =
        objectFieldReader.duration("leaseDuration", Duration.ofSeconds(15), MILLISECOND);
    Duration renew =
        objectFieldReader.duration("renewDeadline", Duration.ofSeconds(10), MILLISECOND);
    Duration retry = objectFieldReader.duration("retryPeriod", Duration.ofSeconds(2), MILLISECOND);
    String name = objectFieldReader.text("resourceName", "c1f6bfd2.kueue.x-k8s.io");
    String lock = objectFieldReader.text("resourceLock", "leases");
    validationErrors.check(
        lock.equals("leases"), objectFieldReader.path("resourceLock"), lock, "leases");
    validationErrors.check(
        KubernetesNames.isSubdomain(name),
        objectFieldReader.path("resourceName"),
        name,
        KubernetesNames.SUBDOMAIN_RULE);
    validationErrors.check(
        lease.compareTo(renew) > 0,
        objectFieldReader.path("leaseDuration"),
        GoDuration.format(lease),
        "more than renewDeadline, which is " + GoDuration.format(renew));
    validationErrors.check(
        renew.toNanos() > 1.2 * retry.toNanos(),
        objectFieldReader.path("renewDeadline"),
        GoDuration.format(renew),
        "more than 1.2 times retryPeriod, which is " + GoDuration.format(retry));
    String in =
        objectFieldReader
            .text("resourceNamespace")
            .filter(text -> !text.isEmpty())
            .orElse(namespace);
    validationErrors.check(
        KubernetesNames.isDnsLabel(in),
        objectFieldReader.path("resourceNamespace"),
        in,
        KubernetesNames.DNS_LABEL_RULE);
    objectFieldReader.nothingElse();
    return new LeaderElection(elect, name, in, lease, renew, retry);
  }

  private Health health(ObjectFieldReader objectFieldReader) {
    Health health =
        new Health(
            MetricsDecoder.bindAddress(objectFieldReader, "healthProbeBindAddress", ":8081"),
            path(objectFieldReader.text("livenessEndpointName", "healthz")),
            path(objectFieldReader.text("readinessEndpointName", "readyz")));
    objectFieldReader.nothingElse();
    return health;
  }

  private static String path(String endpoint) {
    return endpoint.startsWith("/") ? endpoint : "/" + endpoint;
  }

  private Controller controller(ObjectFieldReader objectFieldReader) {
    Map<String, Integer> concurrency =
        objectFieldReader.map(
            "groupKindConcurrency",
            (node, at) -> {
              boolean good =
                  node.canConvertToInt() && node.isIntegralNumber() && node.intValue() > 0;
              validationErrors.check(good, at, node, "a whole number of at least 1");
              return good ? Optional.of(node.intValue()) : Optional.empty();
            });
    Duration timeout =
        objectFieldReader
            .whole("cacheSyncTimeout", 1, Long.MAX_VALUE)
            .map(Duration::ofNanos)
            .orElse(Duration.ofMinutes(2));
    objectFieldReader.nothingElse();
    return new Controller(concurrency, timeout);
  }

  private Tls tls(ObjectFieldReader objectFieldReader) {
    Optional<TlsVersion> version = objectFieldReader.word("minVersion", TLS_VERSIONS);
    List<String> suites = objectFieldReader.texts("cipherSuites");
    String path = objectFieldReader.path("cipherSuites");
    suites.stream()
        .filter(suite -> !CIPHER_SUITES.contains(suite))
        .forEach(suite -> validationErrors.value(path, suite, String.join(", ", CIPHER_SUITES)));
    if (!suites.isEmpty() && version.equals(Optional.of(TlsVersion.TLS_1_3))) {
      validationErrors.add(
          path, "can't be chosen together with minVersion VersionTLS13: leave one out");
    }
    List<Integer> curves = objectFieldReader.integers("curvePreferences");
    objectFieldReader.nothingElse();
    return new Tls(version, suites, curves);
  }

  private InternalCertManagement internalCertManagement(ObjectFieldReader objectFieldReader) {
    boolean enable = objectFieldReader.flag("enable", true);
    String service = objectFieldReader.text("webhookServiceName", "kueue-webhook-service");
    String secret = objectFieldReader.text("webhookSecretName", "kueue-webhook-server-cert");
    validationErrors.check(
        KubernetesNames.isDns1035Label(service),
        objectFieldReader.path("webhookServiceName"),
        service,
        KubernetesNames.DNS_1035_RULE);
    validationErrors.check(
        KubernetesNames.isSubdomain(secret),
        objectFieldReader.path("webhookSecretName"),
        secret,
        KubernetesNames.SUBDOMAIN_RULE);
    objectFieldReader.nothingElse();
    return new InternalCertManagement(enable, service, secret);
  }

  private ClientConnection clientConnection(ObjectFieldReader objectFieldReader) {
    ClientConnection connection =
        new ClientConnection(
            objectFieldReader.number("qps", 300),
            objectFieldReader.whole("burst", 500, 1, Integer.MAX_VALUE));
    objectFieldReader.nothingElse();
    return connection;
  }

  private ObjectRetention objectRetention(ObjectFieldReader objectFieldReader) {
    ObjectFieldReader workloads = objectFieldReader.object("workloads");
    ObjectRetention retention =
        new ObjectRetention(
            retained(workloads, "afterFinished"), retained(workloads, "afterDeactivatedByKueue"));
    workloads.nothingElse();
    objectFieldReader.nothingElse();
    return retention;
  }

  private Optional<Duration> retained(ObjectFieldReader objectFieldReader, String name) {
    return objectFieldReader.has(name)
        ? Optional.of(objectFieldReader.duration(name, Duration.ZERO, Duration.ZERO))
        : objectFieldReader.duration(name);
  }

  private VisibilityServer visibilityServer(ObjectFieldReader file) {
    if (configurationVersion == ConfigurationVersion.V1BETA1) {
      file.onlyIn(ConfigurationVersion.V1BETA2.apiVersion(), "visibilityServer");
      return new VisibilityServer("", 8082);
    }
    ObjectFieldReader objectFieldReader = file.object("visibilityServer");
    String address = objectFieldReader.text("bindAddress", "");
    validationErrors.check(
        address.isEmpty() || KubernetesNames.isIpAddress(address),
        objectFieldReader.path("bindAddress"),
        address,
        "an IPv4 or IPv6 address");
    VisibilityServer server =
        new VisibilityServer(address, objectFieldReader.whole("bindPort", 8082, 1, 65535));
    objectFieldReader.nothingElse();
    return server;
  }

  private static Map<String, TlsVersion> tlsVersions() {
    Map<String, TlsVersion> result = new LinkedHashMap<>();
    for (TlsVersion version : TlsVersion.values()) {
      result.put(version.text(), version);
    }
    return result;
  }
}
