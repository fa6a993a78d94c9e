package dev.sluice.jobs;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.sluice.jobs.policy.FlavorLookup;
import dev.sluice.jobs.policy.WorkloadFactory.PriorityLookup;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** The flavors and priority classes of a test. */
public final class GivenCluster implements FlavorLookup, PriorityLookup {

  /** The time in every test. */
  public static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

  private final Map<String, FlavorPods> flavors = new LinkedHashMap<>();
  private final Map<String, Integer> workloadPriorityClasses = new LinkedHashMap<>();
  private final Map<String, Integer> priorityClasses = new LinkedHashMap<>();
  private Optional<Named> globalDefault = Optional.empty();

  /** Flavor spot: nodes with a label, and a toleration; flavor plain: neither. */
  public static GivenCluster cluster() {
    GivenCluster cluster = new GivenCluster();
    cluster.flavors.put(
        "spot",
        new FlavorPods(
            Map.of("instance-type", "spot"),
            List.of(
                JsonNodeFactory.instance
                    .objectNode()
                    .put("key", "spot")
                    .put("operator", "Exists")
                    .put("effect", "NoSchedule"))));
    cluster.flavors.put("plain", new FlavorPods(Map.of(), List.of()));
    return cluster;
  }

  /** With a WorkloadPriorityClass. */
  public GivenCluster workloadPriorityClass(String name, int value) {
    workloadPriorityClasses.put(name, value);
    return this;
  }

  /** With a core PriorityClass. */
  public GivenCluster priorityClass(String name, int value) {
    priorityClasses.put(name, value);
    return this;
  }

  /** With a core PriorityClass that pods get by default. */
  public GivenCluster globalDefault(String name, int value) {
    globalDefault = Optional.of(new Named(name, value));
    return this;
  }

  @Override
  public Optional<FlavorPods> find(String flavor) {
    return Optional.ofNullable(flavors.get(flavor));
  }

  @Override
  public OptionalInt workloadPriorityClass(String name) {
    return lookup(workloadPriorityClasses, name);
  }

  @Override
  public OptionalInt priorityClass(String name) {
    return lookup(priorityClasses, name);
  }

  private static OptionalInt lookup(Map<String, Integer> classes, String name) {
    Integer value = classes.get(name);
    return value == null ? OptionalInt.empty() : OptionalInt.of(value);
  }

  @Override
  public Optional<Named> globalDefault() {
    return globalDefault;
  }
}
