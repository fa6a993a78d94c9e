package dev.sluice.api.config;

import dev.sluice.api.config.Configuration.CustomLabel;
import dev.sluice.api.config.Configuration.LocalQueueMetrics;
import dev.sluice.api.config.Configuration.Metrics;
import dev.sluice.api.config.Configuration.SourceKind;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** Reads the block {@code metrics}. */
final class MetricsDecoder {

  private static final Pattern LABEL_NAME = Pattern.compile("[a-zA-Z][a-zA-Z0-9_]*");
  private static final int MOST_LABELS = 20;
  private static final int MOST_VALUES = 16;
  private static final int MOST_WORKLOAD_VALUES = 12;
  private static final Map<String, SourceKind> SOURCE_KINDS = sourceKinds();

  private final ConfigurationVersion configurationVersion;
  private final ValidationErrors validationErrors;
  private final FeatureGates gates;

  MetricsDecoder(
      ConfigurationVersion configurationVersion,
      ValidationErrors validationErrors,
      FeatureGates gates) {
    this.configurationVersion = configurationVersion;
    this.validationErrors = validationErrors;
    this.gates = gates;
  }

  Metrics decode(ObjectFieldReader objectFieldReader) {
    Metrics metrics =
        new Metrics(
            bindAddress(objectFieldReader, "bindAddress", ":8443"),
            objectFieldReader.flag("enableClusterQueueResources", false),
            localQueueMetrics(objectFieldReader),
            customLabels(objectFieldReader));
    objectFieldReader.nothingElse();
    return metrics;
  }

  /** An address to listen on; empty when the file says that there is none. */
  static Optional<BindAddress> bindAddress(
      ObjectFieldReader objectFieldReader, String name, String otherwise) {
    String text = objectFieldReader.text(name).filter(given -> !given.isEmpty()).orElse(otherwise);
    if (text.equals("0")) {
      return Optional.empty();
    }
    Optional<BindAddress> address = BindAddress.parse(text);
    objectFieldReader
        .problems()
        .check(address.isPresent(), objectFieldReader.path(name), text, BindAddress.RULE);
    return address;
  }

  private LocalQueueMetrics localQueueMetrics(ObjectFieldReader metrics) {
    if (!metrics.has("localQueueMetrics")) {
      metrics.accept("localQueueMetrics");
      return new LocalQueueMetrics(true, Selector.EVERYTHING);
    }
    ObjectFieldReader objectFieldReader = metrics.object("localQueueMetrics");
    LocalQueueMetrics result =
        new LocalQueueMetrics(
            objectFieldReader.flag("enable", false),
            new SelectorDecoder(validationErrors)
                .decode(objectFieldReader.object("localQueueSelector")));
    objectFieldReader.nothingElse();
    return result;
  }

  private List<CustomLabel> customLabels(ObjectFieldReader metrics) {
    String path = metrics.path("customLabels");
    List<CustomLabel> labels = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (ObjectFieldReader objectFieldReader : metrics.objects("customLabels")) {
      CustomLabel label = customLabel(objectFieldReader);
      labels.add(label);
      if (!names.add(label.name())) {
        validationErrors.add(
            objectFieldReader.path("name"), "\"" + label.name() + "\" is given twice");
      }
    }
    validationErrors.check(labels.size() <= MOST_LABELS, path, labels.size(), "at most 20 labels");
    for (SourceKind kind : SourceKind.values()) {
      long count = labels.stream().filter(label -> label.sourceKind() == kind).count();
      int most = kind == SourceKind.WORKLOAD ? 2 : 6;
      validationErrors.check(
          count <= most, path, count, "at most " + most + " labels from a " + kind);
    }
    if (!labels.isEmpty() && !gates.enabled(FeatureGate.CUSTOM_METRIC_LABELS)) {
      validationErrors.add(path, "needs the feature gate CustomMetricLabels, which is off");
    }
    return List.copyOf(labels);
  }

  private CustomLabel customLabel(ObjectFieldReader objectFieldReader) {
    String name = objectFieldReader.required("name", "a name that matches " + LABEL_NAME);
    validationErrors.check(
        name.isEmpty() || LABEL_NAME.matcher(name).matches(),
        objectFieldReader.path("name"),
        name,
        "a name that matches " + LABEL_NAME);
    String label = objectFieldReader.text("sourceLabelKey", "");
    String annotation = objectFieldReader.text("sourceAnnotationKey", "");
    if (!label.isEmpty() && !annotation.isEmpty()) {
      validationErrors.add(
          objectFieldReader.path("sourceAnnotationKey"),
          "can't be combined with sourceLabelKey; give one");
    }
    boolean fromAnnotation = label.isEmpty() && !annotation.isEmpty();
    String key = fromAnnotation ? annotation : label.isEmpty() ? name : label;
    validationErrors.check(
        key.isEmpty() || KubernetesNames.isLabelKey(key),
        objectFieldReader.path(fromAnnotation ? "sourceAnnotationKey" : "sourceLabelKey"),
        key,
        KubernetesNames.LABEL_KEY_RULE);
    SourceKind kind = SourceKind.CLUSTER_QUEUE;
    List<String> values = List.of();
    if (configurationVersion == ConfigurationVersion.V1BETA1) {
      objectFieldReader.onlyIn(
          ConfigurationVersion.V1BETA2.apiVersion(), "sourceKind", "trackedValues");
    } else {
      kind = objectFieldReader.word("sourceKind", SOURCE_KINDS).orElse(kind);
      values = trackedValues(objectFieldReader, kind);
    }
    objectFieldReader.nothingElse();
    return new CustomLabel(name, kind, key, fromAnnotation, values);
  }

  private List<String> trackedValues(ObjectFieldReader objectFieldReader, SourceKind kind) {
    List<String> values = objectFieldReader.texts("trackedValues");
    String path = objectFieldReader.path("trackedValues");
    boolean workload = kind == SourceKind.WORKLOAD;
    int most = workload ? MOST_WORKLOAD_VALUES : MOST_VALUES;
    int least = workload ? 1 : 0;
    validationErrors.check(
        values.size() >= least && values.size() <= most,
        path,
        values.size() + " values",
        least + " to " + most + " values");
    validationErrors.check(
        new HashSet<>(values).size() == values.size(), path, values, "each value once");
    return values;
  }

  private static Map<String, SourceKind> sourceKinds() {
    Map<String, SourceKind> result = new LinkedHashMap<>();
    result.put("ClusterQueue", SourceKind.CLUSTER_QUEUE);
    result.put("Cohort", SourceKind.COHORT);
    result.put("LocalQueue", SourceKind.LOCAL_QUEUE);
    result.put("Workload", SourceKind.WORKLOAD);
    return result;
  }
}
