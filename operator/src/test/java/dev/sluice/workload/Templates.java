package dev.sluice.workload;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.DeviceCharge;
import dev.sluice.workload.record.NamespaceLimits;
import dev.sluice.workload.record.PodTemplate;
import dev.sluice.workload.record.PodTemplateParser;
import dev.sluice.workload.record.ResourceContext;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Pod templates, Workloads and their surroundings, written as people write them. */
public final class Templates {

  private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());
  private static final WorkloadParser PARSER = new WorkloadParser();

  private Templates() {}

  /** A template with this pod spec. */
  public static PodTemplate podSpec(String yaml) {
    ObjectNode template = YAML.createObjectNode();
    template.set("spec", node(yaml));
    return PodTemplateParser.of(template);
  }

  /** A Workload, as the API server has it. */
  public static CachedWorkload workload(String yaml) {
    try {
      return PARSER.parse(new ObjectMapper().writeValueAsBytes(node(yaml)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The object of a text. */
  public static ObjectNode node(String yaml) {
    try {
      return (ObjectNode) YAML.readTree(yaml);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Rules and overheads that a test sets. */
  public static final class Context implements ResourceContext {

    private final Map<String, NamespaceLimits> rules = new HashMap<>();
    private final Map<String, Map<String, Long>> overheads = new HashMap<>();
    private @Nullable DeviceCharge devices;

    /** Sets the limits of a namespace. */
    public Context rules(String namespace, NamespaceLimits given) {
      rules.put(namespace, given);
      return this;
    }

    /** Sets why devices can't be counted yet; empty: they count as none. */
    public Context unresolved(String... reasons) {
      devices =
          new DeviceCharge(Collections.emptySortedMap(), Map.of(), List.of(), List.of(reasons));
      return this;
    }

    /** Sets the overhead of a runtime class. */
    public Context overhead(String runtimeClass, Map<String, Long> given) {
      overheads.put(runtimeClass, given);
      return this;
    }

    @Override
    public NamespaceLimits rules(String namespace) {
      return rules.getOrDefault(namespace, NamespaceLimits.NONE);
    }

    @Override
    public Map<String, Long> overhead(String runtimeClass) {
      return overheads.getOrDefault(runtimeClass, Map.of());
    }

    @Override
    public DeviceCharge devices(String namespace, PodTemplate template) {
      return devices == null || template.resourceClaims().isEmpty()
          ? DeviceCharge.uncounted(template)
          : devices;
    }
  }
}
