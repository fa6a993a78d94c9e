package dev.sluice.api.config;

import com.fasterxml.jackson.databind.node.TextNode;
import dev.sluice.api.KubernetesNames;
import dev.sluice.api.config.Configuration.CustomLabel;
import dev.sluice.api.config.Configuration.LocalQueueMetrics;
import dev.sluice.api.config.Configuration.Metrics;
import dev.sluice.api.config.Configuration.SourceKind;
import java.util.ArrayList;
import java.util.HashSet;
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
