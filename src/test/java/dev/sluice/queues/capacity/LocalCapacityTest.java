package dev.sluice.queues.capacity;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.v1alpha1.Capacity;
import dev.sluice.api.v1alpha1.Capacity.FlavorCapacity;
import dev.sluice.api.v1alpha1.CapacityProvider;
import dev.sluice.api.v1alpha1.CapacityProvider.CapacityProviderSpec;
import dev.sluice.api.v1alpha1.CapacityProvider.OrchestratedFlavor;
import dev.sluice.api.v1alpha1.CapacityProvider.ParametersReference;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.api.v1beta2.ResourceFlavor.ResourceFlavorSpec;
import dev.sluice.core.model.ClusterNode;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What nodes have of flavors (docs/dynamic-quota.md#nodes-of-this-cluster). */
class LocalCapacityTest {

  private final List<ClusterNode> nodes = new ArrayList<>();

  @Test
  void readyAndSchedulableNodesOfTheFlavorCount() {
    node(Map.of("pool", "spot", "zone", "a"), true, Map.of("cpu", 4_000L, "memory", 1L << 30));
    node(Map.of("pool", "spot"), true, Map.of("cpu", 500L, "nvidia.com/gpu", 8L));
    node(Map.of("pool", "spot"), false, Map.of("cpu", 64_000L));
    node(Map.of("pool", "other"), true, Map.of("cpu", 64_000L));

    assertThat(counted(provider(Map.of()), null))
        .isEqualTo(Map.of("cpu", "4500m", "memory", "1Gi", "nvidia.com/gpu", "8"));
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
            new LocalCapacity.Result.Failed(
                "InvalidCapacity", "the nodes of flavor \"spot\" have more than 64 resources"));
  }

  @Test
  void whatIsWrongIsNamed() {
    CapacityProvider provider = provider(Map.of("sluice.dev/capacity-hysteresis", "x"));
    provider.setSpec(
        new CapacityProviderSpec(
            List.of(new OrchestratedFlavor("absent")),
            LocalCapacity.CONTROLLER,
            new ParametersReference("example.com", "Any", "any")));

    assertThat(of(provider, null))
        .isEqualTo(
            new LocalCapacity.Result.Failed(
                "Misconfigured",
                "metadata.annotations[sluice.dev/capacity-hysteresis]: \"x\": must be a percentage"
                    + " from 0% to 100%, such as 5%; spec.parameters: must be absent for the"
                    + " controller kueue.x-k8s.io/local-capacity;"
                    + " spec.orchestratedFlavors[0].name: ResourceFlavor \"absent\" doesn't"
                    + " exist"));
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
            List.of(new OrchestratedFlavor("spot")), LocalCapacity.CONTROLLER, null));
    return provider;
  }

  private LocalCapacity.Result of(CapacityProvider provider, @Nullable Capacity before) {
    ResourceFlavor flavor = new ResourceFlavor();
    flavor.setSpec(new ResourceFlavorSpec(Map.of("pool", "spot"), List.of(), List.of(), null));
    return LocalCapacity.of(
        provider,
        before,
        name -> name.equals("spot") ? Optional.of(flavor) : Optional.empty(),
        nodes);
  }

  /** The amounts of the only flavor. */
  private SortedMap<String, String> counted(CapacityProvider provider, @Nullable Capacity before) {
    SortedMap<String, String> amounts = new TreeMap<>();
    if (of(provider, before) instanceof LocalCapacity.Result.Counted(Capacity capacity)) {
      capacity
          .flavors()
          .getFirst()
          .resources()
          .forEach((resource, quantity) -> amounts.put(resource, quantity.toString()));
      return amounts;
    }
    throw new AssertionError(of(provider, before));
  }
}
