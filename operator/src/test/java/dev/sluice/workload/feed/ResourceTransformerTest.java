package dev.sluice.workload.feed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.Quantities;
import dev.sluice.api.config.Resources.Transformation;
import dev.sluice.workload.feed.AdmittedRequests.ResourceTransformer;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which resources count, and as what (docs/scheduling-semantics.md#what-is-pending). */
class ResourceTransformerTest {

  /** The worked example of docs/resources.md, and a few rules more. */
  private static final ResourceTransformer COUNTED =
      new ResourceTransformer(
          List.of("example.com/license"),
          List.of(
              new Transformation(
                  "example.com/mig",
                  true,
                  "example.com/mig-gib",
                  Map.of(
                      "example.com/gpu-memory",
                      BigDecimal.ONE,
                      "example.com/credits",
                      new BigDecimal("0.5"))),
              new Transformation(
                  "example.com/gpu", false, "", Map.of("example.com/credits", BigDecimal.TEN)),
              new Transformation(
                  "example.com/voucher",
                  true,
                  "",
                  Map.of("example.com/credits", new BigDecimal("-4"))),
              new Transformation(
                  "example.com/core", true, "", Map.of("cpu", new BigDecimal("0.0001"))),
              new Transformation("cpu", false, "", Map.of("example.com/share", BigDecimal.TWO)),
              new Transformation(
                  "example.com/seat",
                  true,
                  "example.com/license-seats",
                  Map.of("example.com/credits", BigDecimal.ONE)),
              new Transformation(
                  "example.com/license-gpu",
                  false,
                  "example.com/cores",
                  Map.of("example.com/credits", BigDecimal.ONE)),
              new Transformation("example.com/nothing", true, "", Map.of())));

  /** Changes of 0.20, section 1: excluded resources are inputs and factors, too. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          mig=2 mig-gib=5            | credits=5 gpu-memory=10 mig-gib=5
          mig=2                      | credits=1 gpu-memory=2
          gpu=3                      | credits=30 gpu=3
          gpu=1 mig=1                | credits=11 gpu=1 gpu-memory=1
          license-x=1 other=1        | other=1
          voucher=1                  | credits=0
          gpu=1 voucher=2            | credits=2 gpu=1
          voucher=1 credits=7        | credits=7
          mig=0 mig-gib=5            | credits=0 gpu-memory=0 mig-gib=5
          mig=3 mig-gib=0            | credits=0 gpu-memory=0 mig-gib=0
          seat=3 license-seats=9     | credits=27
          license-gpu=2 cores=5      | credits=10 cores=5
          nothing=5 other=-1         | other=0
          mig=9223372036854775807 mig-gib=9 | credits=9223372036854775807 gpu-memory=9223372036854775807 mig-gib=9
          """)
  void eachCountsAsTheTableSays(String requested, String counted) {
    assertThat(COUNTED.of(amounts(requested))).isEqualTo(amounts(counted));
  }

  @Test
  void cpuIsReckonedInCoresAndCountedInThousandths() {
    assertThat(COUNTED.of(new TreeMap<>(Map.of("cpu", 1500L))))
        .isEqualTo(Map.of("cpu", 1500L, "example.com/share", 3L));
    assertThat(COUNTED.of(amounts("core=11")))
        .as("11 times a ten-thousandth of a core, rounded up")
        .isEqualTo(Map.of("cpu", 2L));
  }

  private static SortedMap<String, Long> amounts(String text) {
    SortedMap<String, Long> result = new TreeMap<>();
    for (String each : text.split(" ")) {
      String[] parts = each.split("=");
      String resource = "example.com/" + parts[0];
      result.put(resource, Quantities.amount(resource, parts[1]));
    }
    return result;
  }
}
