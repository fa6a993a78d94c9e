package dev.sluice.queues.capacity;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.queueing.CapacityAnnotations;
import dev.sluice.api.v1alpha1.CapacityProvider;
import dev.sluice.api.v1alpha1.CapacityProvider.Capacity;
import dev.sluice.api.v1alpha1.CapacityProvider.Capacity.FlavorCapacity;
import dev.sluice.api.v1alpha1.CapacityProvider.CapacityProviderSpec;
import dev.sluice.api.v1alpha1.CapacityProvider.OrchestratedFlavor;
import dev.sluice.api.v1alpha1.CapacityProvider.ParametersReference;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.api.v1beta2.ResourceFlavor.ResourceFlavorSpec;
import dev.sluice.core.model.ClusterNode;
import dev.sluice.queues.capacity.CapacityControllers.WorkerCapacity;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What nodes have of flavors (docs/dynamic-quota.md#nodes-of-this-cluster). */
class ProviderCapacityTest {

  private final List<ClusterNode> nodes = new ArrayList<>();
  private Optional<Map<String, SortedMap<String, Long>>> foreign = Optional.of(Map.of());

  /** Changes of 0.20, section 5. */
  @Test
  void readyAndSchedulableNodesOfTheFlavorCount() {
    node(Map.of("pool", "spot", "zone", "a"), true, Map.of("cpu", 4_000L, "memory", 1L << 30));
    node(Map.of("pool", "spot"), true, Map.of("cpu", 500L, "nvidia.com/gpu", 8L));
    node(Map.of("pool", "spot"), false, Map.of("cpu", 64_000L));
    node(Map.of("pool", "other"), true, Map.of("cpu", 64_000L));

    assertThat(counted(provider(Map.of()), null))
        .isEqualTo(Map.of("cpu", "4500m", "memory", "1Gi", "nvidia.com/gpu", "8"));
  }

  /** Changes of 0.20, section 5: pods that aren't ours are subtracted where asked. */
  @Test
  void podsThatNoQuotaCountsAreSubtractedWhereAsked() {
    Map<String, String> asked = Map.of(CapacityAnnotations.SUBTRACT, "ForeignPods");
    node(Map.of("pool", "spot"), true, Map.of("cpu", 4_000L, "pods", 10L));
    node(Map.of("pool", "spot"), true, Map.of("cpu", 4_000L));
    node(Map.of("pool", "other"), true, Map.of("cpu", 4_000L));
    foreign =
        Optional.of(
            Map.of(
                nodes.get(0).name(),
                new TreeMap<>(Map.of("cpu", 1_500L, "pods", 3L, "gpu", 1L)),
                nodes.get(1).name(),
                new TreeMap<>(Map.of("cpu", 5_000L)),
                nodes.get(2).name(),
                new TreeMap<>(Map.of("cpu", 1L)),
                "gone",
                new TreeMap<>(Map.of("cpu", 1L))));

    assertThat(counted(provider(Map.of()), null)).isEqualTo(Map.of("cpu", "8", "pods", "10"));
    assertThat(counted(provider(asked), null))
        .as("a node that has less than nothing takes nothing from others")
        .isEqualTo(Map.of("cpu", "2500m", "pods", "7"));
    foreign = Optional.empty();
    assertThat(counted(provider(Map.of()), null)).isEqualTo(Map.of("cpu", "8", "pods", "10"));
    assertThat(of(provider(asked), null))
        .isEqualTo(
            new ProviderCapacity.Result.Failed(
                "Misconfigured",
                "metadata.annotations[sluice.dev/capacity-subtract]: needs podAccounting: Detect or"
                    + " Prevent in the configuration"));
  }

  @Test
  void aResourceThatWasToldStays() {
    Capacity before = new Capacity(List.of(new FlavorCapacity("spot", Map.of("cpu", q("3")))));

    assertThat(counted(provider(Map.of()), null)).isEmpty();
    assertThat(counted(provider(Map.of()), before)).isEqualTo(Map.of("cpu", "0"));
    assertThat(counted(provider(Map.of("sluice.dev/capacity-floor", "cpu=2,pods=9")), null))
        .isEqualTo(Map.of("cpu", "2", "pods", "9"));
    node(Map.of("pool", "spot"), true, Map.of("cpu", 2_900L));
    assertThat(counted(provider(Map.of("sluice.dev/capacity-hysteresis", "5%")), before))
        .isEqualTo(Map.of("cpu", "3"));
  }

  /** Otherwise nothing would be told any more once so many names were used. */
  @Test
  void resourcesThatAreGoneMakeRoomForOthers() {
    Map<String, Quantity> resources = new TreeMap<>(Map.of("cpu", q("3")));
    for (int i = 0; i < 63; i++) {
      resources.put("r" + i, q("0"));
    }
    Capacity before = new Capacity(List.of(new FlavorCapacity("spot", resources)));
    Map<String, String> floor = Map.of(CapacityAnnotations.FLOOR, "r7=2");

    assertThat(counted(provider(Map.of()), before)).hasSize(64);
    node(Map.of("pool", "spot"), true, Map.of("gpu", 1L, "r3", 4L));
    assertThat(counted(provider(floor), before))
        .isEqualTo(Map.of("cpu", "0", "gpu", "1", "r3", "4", "r7", "2"));
  }

  /** Changes of 0.20, section 5. */
  @Test
  void sumsSaturateAndAreBounded() {
    for (int i = 0; i < 3; i++) {
      node(Map.of("pool", "spot"), true, Map.of("memory", Long.MAX_VALUE - 1));
    }
    assertThat(counted(provider(Map.of()), null))
        .isEqualTo(Map.of("memory", Long.toString(Long.MAX_VALUE - 1)));
    for (int i = 0; i < 64; i++) {
      node(Map.of("pool", "spot"), true, Map.of("r" + i, 1L));
    }
    assertThat(of(provider(Map.of()), null))
        .isEqualTo(
            new ProviderCapacity.Result.Failed(
                "InvalidCapacity", "of flavor \"spot\" there are more than 64 resources"));
  }

  /** Changes of 0.20, section 5. */
  @Test
  void whatIsWrongIsNamed() {
    CapacityProvider provider = provider(Map.of("sluice.dev/capacity-hysteresis", "x"));
    provider.setSpec(
        new CapacityProviderSpec(
            List.of(new OrchestratedFlavor("absent")),
            ProviderCapacity.CONTROLLER,
            new ParametersReference("example.com", "Any", "any")));

    assertThat(of(provider, null))
        .isEqualTo(
            new ProviderCapacity.Result.Failed(
                "Misconfigured",
                "metadata.annotations[sluice.dev/capacity-hysteresis]: \"x\": must be a percentage"
                    + " from 0% to 100%, such as 5%; spec.parameters: must be absent for the"
                    + " controller kueue.x-k8s.io/local-capacity;"
                    + " spec.orchestratedFlavors[0].name: ResourceFlavor \"absent\" doesn't"
                    + " exist"));
  }

  /** Two clusters: one with 4 CPUs and 2 of another flavor, one with 6. */
  private static final Map<String, WorkerCapacity.ClusterQuota> WORKERS =
      Map.of(
          "east",
          new WorkerCapacity.ClusterQuota.Known(
              Map.of("spot", Map.of("cpu", 4_000L), "other", Map.of("cpu", 2_000L))),
          "west",
          new WorkerCapacity.ClusterQuota.Known(Map.of("spot", Map.of("cpu", 6_000L, "pods", 9L))),
          "lost",
          new WorkerCapacity.ClusterQuota.Unknown("it is not connected"));

  private static final class Workers implements WorkerCapacity {
    @Override
    public List<String> clusters() {
      return List.of("east", "lost", "west");
    }

    @Override
    public Optional<List<String>> clustersOf(String config) {
      return config.equals("both") ? Optional.of(List.of("east", "west")) : Optional.empty();
    }

    @Override
    public ClusterQuota of(String cluster) {
      return Objects.requireNonNull(WORKERS.get(cluster));
    }
  }

  private static ProviderCapacity.Result ofWorkers(
      @Nullable ParametersReference parameters,
      Map<String, String> annotations,
      Map<String, String> flavorAnnotations) {
    CapacityProvider provider = provider(annotations);
    provider.setSpec(
        new CapacityProviderSpec(
            List.of(new OrchestratedFlavor("spot")), ProviderCapacity.WORKERS, parameters));
    ResourceFlavor flavor = new ResourceFlavor();
    flavor.setMetadata(
        new ObjectMetaBuilder().withName("spot").withAnnotations(flavorAnnotations).build());
    return ProviderCapacity.ofWorkers(provider, null, name -> Optional.of(flavor), new Workers());
  }

  private static ParametersReference config(String name) {
    return new ParametersReference("kueue.x-k8s.io", "MultiKueueConfig", name);
  }

  @Test
  void workersAreAddedUpOrTheLargestCounts() {
    assertThat(told(ofWorkers(config("both"), Map.of(), Map.of())))
        .isEqualTo(Map.of("cpu", "10", "pods", "9"));
    assertThat(
            told(
                ofWorkers(
                    config("both"), Map.of(CapacityAnnotations.WORKERS, "Largest"), Map.of())))
        .isEqualTo(Map.of("cpu", "6", "pods", "9"));
    assertThat(
            told(ofWorkers(config("both"), Map.of(), Map.of("sluice.dev/worker-cluster", "east"))))
        .as("a flavor that stands for a cluster has all of it")
        .isEqualTo(Map.of("cpu", "6"));
    assertThat(ofWorkers(null, Map.of(), Map.of()))
        .isEqualTo(
            new ProviderCapacity.Result.Failed(
                "SourceUnavailable", "worker cluster \"lost\": it is not connected"));
    assertThat(ofWorkers(config("none"), Map.of(), Map.of()))
        .isEqualTo(
            new ProviderCapacity.Result.Failed(
                "Misconfigured", "spec.parameters.name: MultiKueueConfig \"none\" doesn't exist"));
    assertThat(
            ofWorkers(
                new ParametersReference("example.com", "MultiKueueConfig", "both"),
                Map.of(),
                Map.of()))
        .isEqualTo(
            new ProviderCapacity.Result.Failed(
                "Misconfigured",
                "spec.parameters: must be absent or name a MultiKueueConfig of kueue.x-k8s.io"));
    assertThat(
            ofWorkers(
                config("both"), Map.of(CapacityAnnotations.SUBTRACT, "ForeignPods"), Map.of()))
        .isEqualTo(
            new ProviderCapacity.Result.Failed(
                "Misconfigured",
                "metadata.annotations[sluice.dev/capacity-subtract]: only for the controller"
                    + " kueue.x-k8s.io/local-capacity"));
  }

  private static Quantity q(String text) {
    return new Quantity(text);
  }

  private void node(Map<String, String> labels, boolean usable, Map<String, Long> allocatable) {
    nodes.add(
        new ClusterNode("n" + nodes.size(), labels, List.of(), new TreeMap<>(allocatable), usable));
  }

  private static CapacityProvider provider(Map<String, String> annotations) {
    CapacityProvider provider = new CapacityProvider();
    provider.setMetadata(
        new ObjectMetaBuilder().withName("cp").withAnnotations(annotations).build());
    provider.setSpec(
        new CapacityProviderSpec(
            List.of(new OrchestratedFlavor("spot")), ProviderCapacity.CONTROLLER, null));
    return provider;
  }

  private ProviderCapacity.Result of(CapacityProvider provider, @Nullable Capacity before) {
    ResourceFlavor flavor = new ResourceFlavor();
    flavor.setSpec(new ResourceFlavorSpec(Map.of("pool", "spot"), List.of(), List.of(), null));
    return ProviderCapacity.of(
        provider,
        before,
        name -> name.equals("spot") ? Optional.of(flavor) : Optional.empty(),
        nodes,
        foreign);
  }

  /** The amounts of the only flavor. */
  private SortedMap<String, String> counted(CapacityProvider provider, @Nullable Capacity before) {
    return told(of(provider, before));
  }

  private static SortedMap<String, String> told(ProviderCapacity.Result result) {
    SortedMap<String, String> amounts = new TreeMap<>();
    if (result instanceof ProviderCapacity.Result.Counted(Capacity capacity)) {
      capacity
          .flavors()
          .getFirst()
          .resources()
          .forEach((resource, quantity) -> amounts.put(resource, quantity.toString()));
      return amounts;
    }
    throw new AssertionError(result);
  }
}
