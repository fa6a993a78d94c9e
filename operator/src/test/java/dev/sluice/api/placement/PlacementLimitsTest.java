package dev.sluice.api.placement;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PlacementLimitsTest {

  private static final Map<String, String> CLUSTER =
      Map.of("topology.kubernetes.io/region", "eu-west", "tier", "gpu", "example.com/site", "a1");

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          tier=gpu                        | true
          tier==gpu                       | true
          tier = cpu                      | false
          tier!=cpu                       | true
          tier!=gpu                       | false
          other!=gpu                      | true
          tier in (cpu, gpu)              | true
          tier in (cpu)                   | false
          tier notin (cpu,gpu)            | false
          other notin (x)                 | true
          tier                            | true
          other                           | false
          !other                          | true
          !tier                           | false
          tier=gpu,example.com/site in (a1,a2),!old | true
          tier=gpu,example.com/site=b1    | false
          kubernetes.io/metadata.name=onsite | true
          kubernetes.io/metadata.name in (remote) | false
          """)
  void aSelectorSelectsByLabelsAndByName(String selector, boolean allowed) {
    PlacementLimits limits = PlacementLimits.of(Map.of(PlacementLimits.SELECTOR, selector));

    assertThat(limits.forbids("onsite", CLUSTER).isEmpty()).isEqualTo(allowed);
    assertThat(PlacementLimits.faults(Map.of(PlacementLimits.SELECTOR, selector))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        ",",
        "a,,b",
        "a=b=c",
        "a in b",
        "a in ()",
        "a in (b",
        "a notin",
        "=b",
        "a b",
        "!",
        "/a",
        "a/=b",
        "a in (b,)",
        "-a=b",
        "a>1"
      })
  void whatIsNoSelectorIsAFaultAndAllowsNobody(String selector) {
    Map<String, String> annotations = Map.of(PlacementLimits.SELECTOR, selector);

    assertThat(PlacementLimits.faults(annotations))
        .singleElement()
        .satisfies(
            fault -> {
              assertThat(fault.key()).isEqualTo("sluice.dev/placement-cluster-selector");
              assertThat(fault.value()).isEqualTo(selector);
              assertThat(fault.rule()).contains("key in (a, b)");
            });
    assertThat(PlacementLimits.of(annotations).forbids("onsite", CLUSTER)).isPresent();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          eu-west          | true
          us, eu-west      | true
          us               | false
          """)
  void aRegionIsOneOfThoseNamed(String regions, boolean allowed) {
    PlacementLimits limits = PlacementLimits.of(Map.of(PlacementLimits.REGION, regions));

    assertThat(limits.forbids("onsite", CLUSTER).isEmpty()).isEqualTo(allowed);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a,", "a b", "-a", "eu/west"})
  void whatIsNoRegionIsAFaultAndAllowsNobody(String regions) {
    Map<String, String> annotations = Map.of(PlacementLimits.REGION, regions);

    assertThat(PlacementLimits.faults(annotations)).hasSize(1);
    assertThat(PlacementLimits.of(annotations).forbids("onsite", CLUSTER)).isPresent();
  }

  @Test
  void whoIsNotAllowedIsToldWhy() {
    PlacementLimits limits = PlacementLimits.of(Map.of(PlacementLimits.REGION, "us"));

    assertThat(limits.forbids("onsite", CLUSTER))
        .contains("not allowed by sluice.dev/placement-region \"us\", its region is \"eu-west\"");
    assertThat(limits.forbids("other", Map.of()))
        .contains(
            "not allowed by sluice.dev/placement-region \"us\", its region is not known (label"
                + " topology.kubernetes.io/region)");
  }

  @Test
  void withoutAnnotationsAllAreAllowed() {
    PlacementLimits limits = PlacementLimits.of(Map.of("other", "x"));

    assertThat(limits.forbids("onsite", Map.of())).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {PlacementLimits.SELECTOR, PlacementLimits.REGION})
  void aTextBeyondTheLimitIsNotReadAndAllowsNobody(String key) {
    Map<String, String> longest = Map.of(key, "a,".repeat(2047) + "bc");
    Map<String, String> longer = Map.of(key, "a,".repeat(2048) + "b");

    assertThat(PlacementLimits.faults(longest)).isEmpty();
    assertThat(PlacementLimits.faults(longer))
        .singleElement()
        .satisfies(
            fault ->
                assertThat(fault.rule())
                    .isEqualTo("must have at most 4096 characters, it has 4097 of them"));
    assertThat(PlacementLimits.of(longer).forbids("onsite", CLUSTER))
        .hasValueSatisfying(why -> assertThat(why).hasSizeLessThan(500));
  }
}
