package dev.sluice.workload.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** The amounts of a pod with its devices (docs/devices.md#extended-resources). */
class DeviceChargeTest {

  private static final String IMPLICIT = "deviceclass.resource.kubernetes.io/gpu";
  private static final String GPU = "example.com/gpu";

  private static DeviceCharge replacing(String first, String second) {
    Map<String, String> replaced = new LinkedHashMap<>();
    replaced.put(first, GPU);
    replaced.put(second, GPU);
    return new DeviceCharge(Collections.emptySortedMap(), replaced, List.of(), List.of());
  }

  /** A mapping may have the name of the resource that its class names itself. */
  @Test
  void bothNamesOfOneClassAddUpInEachOrder() {
    SortedMap<String, Long> requested = new TreeMap<>(Map.of(IMPLICIT, 8L, GPU, 1L, "cpu", 2L));
    for (DeviceCharge charge : List.of(replacing(IMPLICIT, GPU), replacing(GPU, IMPLICIT))) {
      assertThat(charge.counted(requested, UnaryOperator.identity()))
          .isEqualTo(Map.of(GPU, 9L, "cpu", 2L));
    }
  }

  @Test
  void whatDevicesStandBehindIsNotCountedOtherwise() {
    assertThat(
            replacing(IMPLICIT, GPU)
                .counted(
                    new TreeMap<>(Map.of(IMPLICIT, 8L, "cpu", 2L)),
                    plain -> {
                      assertThat(plain).containsOnlyKeys("cpu");
                      return new TreeMap<>(Map.of("credits", 3L));
                    }))
        .isEqualTo(Map.of(GPU, 8L, "credits", 3L));
  }

  @Test
  void amountsOfOneResourceAreOneAfterTheyAreRenamed() {
    assertThat(replacing(IMPLICIT, GPU).renamed(new TreeMap<>(Map.of(IMPLICIT, 8L, GPU, 1L))))
        .isEqualTo(Map.of(GPU, 9L));
    assertThat(replacing(IMPLICIT, GPU).renamed(new TreeMap<>(Map.of("cpu", 1L))))
        .isEqualTo(Map.of("cpu", 1L));
  }
}
