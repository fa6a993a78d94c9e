package dev.sluice.workload.devices;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.workload.devices.DeviceInventory.DeviceSlice;
import dev.sluice.workload.devices.DeviceReader.DeviceClass;
import dev.sluice.workload.devices.DeviceReader.DeviceObjects;
import dev.sluice.workload.devices.DeviceReader.ExtendedResources;
import dev.sluice.workload.record.DeviceCharge;
import dev.sluice.workload.record.NamespaceLimits;
import dev.sluice.workload.record.PodTemplate;
import dev.sluice.workload.record.ResourceContext;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;

/** The count of devices of the operator, told of objects as {@link DeviceReader} reads them. */
public final class PlayedDevices implements ResourceContext {

  /** As in the operator, what is compiled and found is kept as long as nothing changes. */
  private static final DeviceSelectors SELECTORS = new DeviceSelectors();

  private final Map<String, ClaimSpec> claims = new HashMap<>();
  private final Map<String, ClaimSpec> templates = new HashMap<>();
  private final Map<String, DeviceClass> classes = new HashMap<>();
  private final Map<String, DeviceSlice> slices = new HashMap<>();
  private final boolean counts;
  private final boolean taints;
  private final boolean extended;
  private final DeviceCounting counting;
  private Optional<DeviceInventory> inventory = Optional.empty();

  /** The objects of the cluster as they are now. */
  private final class Known implements DeviceObjects {

    @Override
    public Optional<ClaimSpec> template(String namespace, String name) {
      return Optional.ofNullable(templates.get(namespace + "/" + name));
    }

    @Override
    public Optional<DeviceClass> deviceClass(String name) {
      return Optional.ofNullable(classes.get("/" + name));
    }

    @Override
    public DeviceInventory devices() {
      return inventory.orElseThrow();
    }
  }

  /** Counts by a configuration. */
  public PlayedDevices(Configuration configuration) {
    counts =
        configuration.featureGates().enabled(FeatureGate.KUEUE_DRA_INTEGRATION)
            && !configuration.resources().deviceClasses().isEmpty();
    taints = configuration.featureGates().enabled(FeatureGate.KUEUE_DRA_DEVICE_TAINTS);
    extended =
        configuration.featureGates().enabled(FeatureGate.KUEUE_DRA_INTEGRATION_EXTENDED_RESOURCE);
    counting =
        new DeviceCounting(
            new Known(),
            SELECTORS,
            configuration.resources().deviceClasses(),
            new DeviceCounting.Rules(
                configuration.featureGates().enabled(FeatureGate.KUEUE_DRA_PRIORITIZED_LIST),
                configuration.featureGates().enabled(FeatureGate.KUEUE_DRA_DEVICE_FEASIBILITY)));
  }

  /**
   * An object appears or changes.
   *
   * @param kind class, slice, template or claim
   * @param key its namespace and name
   */
  public void put(String kind, String key, JsonNode object) {
    switch (kind) {
      case "class" -> classes.put(key, DeviceClass.of(object));
      case "slice" -> {
        slices.put(key, DeviceSlice.of(object));
        inventory = Optional.empty();
      }
      case "template" -> templates.put(key, ClaimSpec.ofTemplate(object));
      default -> claims.put(key, ClaimSpec.ofClaim(object));
    }
  }

  /** An object goes. */
  public void remove(String kind, String key) {
    ofKind(kind).remove(key);
    inventory = Optional.empty();
  }

  private Map<String, ?> ofKind(String kind) {
    return switch (kind) {
      case "class" -> classes;
      case "slice" -> slices;
      case "template" -> templates;
      default -> claims;
    };
  }

  private void refresh() {
    if (inventory.isEmpty()) {
      inventory = Optional.of(new DeviceInventory(slices.values(), SELECTORS, taints));
    }
  }

  @Override
  public NamespaceLimits rules(String namespace) {
    return NamespaceLimits.NONE;
  }

  @Override
  public Map<String, Long> overhead(String runtimeClass) {
    return Map.of();
  }

  @Override
  public DeviceCharge devices(String namespace, PodTemplate template) {
    if (!counts) {
      return DeviceCharge.uncounted(template);
    }
    refresh();
    return counting.of(
        namespace,
        template,
        extended ? counting.extended(classes.values()) : ExtendedResources.NONE);
  }

  /** What a claim counts as. */
  public SortedMap<String, Long> claimed(String key) {
    refresh();
    return counting.of(Objects.requireNonNull(claims.get(key)));
  }

  /** The resources of mappings, and one that stands for what can't be counted. */
  public Set<String> resources() {
    return counting.resources();
  }
}
