package dev.sluice.api.config;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLGenerator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.api.config.Configuration.TlsVersion;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Writes a configuration out as a file of its own kind with nothing left to defaults: what the
 * operator prints at start. Read again, it gives the same configuration. It holds no secrets, since
 * the configuration has none: certificates and credentials are only named.
 */
public final class EffectiveConfiguration {

  private static final YAMLMapper YAML =
      new YAMLMapper(
          YAMLFactory.builder()
              .disable(YAMLGenerator.Feature.WRITE_DOC_START_MARKER)
              .enable(YAMLGenerator.Feature.MINIMIZE_QUOTES)
              .enable(YAMLGenerator.Feature.ALWAYS_QUOTE_NUMBERS_AS_STRINGS)
              .enable(YAMLGenerator.Feature.INDENT_ARRAYS_WITH_INDICATOR)
              .build());

  private EffectiveConfiguration() {}

  /** The configuration as YAML of version v1beta2. */
  public static String yaml(Configuration c) {
    try {
      return YAML.writeValueAsString(tree(c));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("plain values can always be written", e);
    }
  }

  private static Map<String, Object> tree(Configuration c) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("apiVersion", ConfigurationVersion.V1BETA2.apiVersion());
    tree.put("kind", "Configuration");
    tree.put("namespace", c.namespace());
    tree.put(
        "webhook",
        fields(
            "host", c.webhook().host(),
            "port", c.webhook().port(),
            "certDir", c.webhook().certDir()));
    tree.put("leaderElection", leaderElection(c));
    tree.put("metrics", metrics(c));
    tree.put(
        "health",
        fields(
            "healthProbeBindAddress", address(c.health().bindAddress()),
            "livenessEndpointName", c.health().livenessPath(),
            "readinessEndpointName", c.health().readinessPath()));
    tree.put(
        "controller",
        fields(
            "groupKindConcurrency",
            new TreeMap<>(c.controller().groupKindConcurrency()),
            "cacheSyncTimeout",
            c.controller().cacheSyncTimeout().toNanos()));
    Map<String, Object> tls = fields("cipherSuites", c.tls().cipherSuites());
    c.tls().minVersion().map(TlsVersion::text).ifPresent(text -> tls.put("minVersion", text));
    tree.put("tls", tls);
    tree.put("manageJobsWithoutQueueName", c.manageJobsWithoutQueueName());
    tree.put("managedJobsNamespaceSelector", selector(c.managedJobsNamespaceSelector()));
    tree.put(
        "internalCertManagement",
        fields(
            "enable", c.internalCertManagement().enable(),
            "webhookServiceName", c.internalCertManagement().webhookServiceName(),
            "webhookSecretName", c.internalCertManagement().webhookSecretName()));
    tree.put(
        "clientConnection",
        fields("qps", c.clientConnection().qps(), "burst", c.clientConnection().burst()));
    tree.put(
        "integrations",
        fields(
            "frameworks", c.integrations().frameworks(),
            "labelKeysToCopy", c.integrations().labelKeysToCopy()));
    tree.put("multiKueue", multiKueue(c.multiKueue()));
    tree.put(
        "visibilityServer",
        fields(
            "bindAddress", c.visibilityServer().bindAddress(),
            "bindPort", c.visibilityServer().bindPort()));
    tree.putAll(EffectiveCapabilities.of(c));
    tree.put("featureGates", gates(c.featureGates()));
    return tree;
  }

  private static Map<String, Object> leaderElection(Configuration c) {
    return fields(
        "leaderElect", c.leaderElection().leaderElect(),
        "resourceName", c.leaderElection().resourceName(),
        "resourceNamespace", c.leaderElection().resourceNamespace(),
        "leaseDuration", GoDuration.format(c.leaderElection().leaseDuration()),
        "renewDeadline", GoDuration.format(c.leaderElection().renewDeadline()),
        "retryPeriod", GoDuration.format(c.leaderElection().retryPeriod()));
  }

  private static Map<String, Object> metrics(Configuration c) {
    return fields(
        "bindAddress",
        address(c.metrics().bindAddress()),
        "enableClusterQueueResources",
        c.metrics().enableClusterQueueResources(),
        "localQueueMetrics",
        fields(
            "enable",
            c.metrics().localQueueMetrics().enable(),
            "localQueueSelector",
            selector(c.metrics().localQueueMetrics().localQueueSelector())));
  }

  private static Map<String, Object> multiKueue(MultiKueue m) {
    Map<String, Object> result =
        fields(
            "gcInterval", GoDuration.format(m.gcInterval()),
            "origin", m.origin(),
            "workerLostTimeout", GoDuration.format(m.workerLostTimeout()),
            "dispatcherName", m.dispatcherName());
    m.incrementalStepSize()
        .ifPresent(step -> result.put("incrementalDispatcherConfig", fields("stepSize", step)));
    if (!m.externalFrameworks().isEmpty()) {
      result.put(
          "externalFrameworks",
          m.externalFrameworks().stream().map(name -> fields("name", name)).toList());
    }
    if (!m.accessProviders().isEmpty()) {
      result.put(
          "clusterProfile",
          fields("accessProviders", m.accessProviders().stream().map(it -> provider(it)).toList()));
    }
    return result;
  }

  /** Without the values of its environment, which may be secret. */
  private static Map<String, Object> provider(MultiKueue.AccessProvider it) {
    return fields(
        "name",
        it.name(),
        "execConfig",
        fields(
            "command",
            it.command(),
            "apiVersion",
            it.apiVersion(),
            "interactiveMode",
            it.interactiveMode(),
            "args",
            it.args(),
            "env",
            it.env().keySet().stream().sorted().map(name -> fields("name", name)).toList(),
            "provideClusterInfo",
            it.provideClusterInfo()));
  }

  private static String address(Optional<BindAddress> address) {
    return address.map(BindAddress::toString).orElse("0");
  }

  private static Map<String, Object> selector(Selector selector) {
    List<Map<String, Object>> expressions =
        selector.matchExpressions().stream()
            .map(
                each ->
                    fields(
                        "key", each.key(),
                        "operator", each.operator().text(),
                        "values", each.values()))
            .toList();
    return fields(
        "matchLabels", new TreeMap<>(selector.matchLabels()), "matchExpressions", expressions);
  }

  private static Map<String, Object> gates(FeatureGates gates) {
    Map<String, Object> result = new LinkedHashMap<>();
    for (FeatureGate gate : FeatureGate.values()) {
      result.put(gate.text(), gates.enabled(gate));
    }
    return result;
  }

  /** A map of names and values, given in turn. */
  private static Map<String, Object> fields(Object... namesAndValues) {
    Map<String, Object> result = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      result.put((String) namesAndValues[i], namesAndValues[i + 1]);
    }
    return result;
  }
}
