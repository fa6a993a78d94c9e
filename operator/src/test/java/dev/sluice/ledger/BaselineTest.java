package dev.sluice.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.core.model.FlavorResource;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a cost is compared with. */
class BaselineTest {

  private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

  private static final Map<String, String> FLAVORS =
      Map.of(
          "free", "{}",
          "on-demand", "{sluice.dev/price: cpu=3/h, sluice.dev/relative-speed: '2'}",
          "spot", "{sluice.dev/price: 'cpu=1/h,memory=1/Gi/h', sluice.dev/relative-speed: '0.5'}");

  private static Optional<ResourceFlavor> flavor(String name) {
    return Optional.ofNullable(FLAVORS.get(name))
        .map("metadata: {name: any, annotations: %s}"::formatted)
        .map(text -> read(text, ResourceFlavor.class));
  }

  private static <T> T read(String text, Class<T> type) {
    try {
      return YAML.readValue(text, type);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "Cheapest, spot, cpu, on-demand 0.25",
    "Cheapest, on-demand, cpu, ''",
    "Cheapest, free, cpu, on-demand 0.5",
    "Cheapest, gone, cpu, on-demand 0.5",
    "Cheapest, spot, memory, ''",
    "Cheapest, spot, nvidia.com/gpu, ''",
    "Listed, spot, cpu, ''",
    "Dearest, spot, cpu, ''"
  })
  void theFirstListedFlavorWithAPrice(
      String order, String flavor, String resource, String expected) {
    ClusterQueue queue =
        read(
            """
            metadata: {name: q, annotations: {sluice.dev/flavor-order: %s}}
            spec:
              resourceGroups:
              - coveredResources: [cpu, memory]
                flavors: [{name: free}, {name: unknown}, {name: on-demand}, {name: spot}]
            """
                .formatted(order),
            ClusterQueue.class);
    assertThat(
            Baseline.of(queue, new FlavorResource(flavor, resource), BaselineTest::flavor)
                .map(it -> it.flavor() + " " + it.pace().toPlainString())
                .orElse(""))
        .isEqualTo(expected);
  }
}
