package dev.sluice.scheduling.flavor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.model.Flavor;
import dev.sluice.model.LabelRequirement;
import dev.sluice.model.LabelRequirement.Operator;
import dev.sluice.model.Obstacle;
import dev.sluice.model.Placement;
import dev.sluice.model.Taint;
import dev.sluice.model.Toleration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class EligibilityTest {

  private static final Taint SPOT = new Taint("spot", "true", "NoSchedule");

  private static Flavor flavor(Map<String, String> labels, Taint... taints) {
    return new Flavor("f", labels, List.of(taints), List.of());
  }

  private static Placement selecting(Map<String, String> selector) {
    return new Placement(selector, List.of(), List.of());
  }

  private static LabelRequirement zoneIn(String... zones) {
    return new LabelRequirement("zone", Operator.IN, List.of(zones));
  }

  private static Placement terms(List<List<LabelRequirement>> terms) {
    return new Placement(Map.of(), terms, List.of());
  }

  @Test
  void aFlavorThatDoesNotExistSuitsNobody() {
    assertThat(Eligibility.obstacle(null, Placement.ANYWHERE))
        .contains(new Obstacle.FlavorMissing());
  }

  @Test
  void aTaintMustBeToleratedByThePodsOrByTheFlavor() {
    Flavor tainted = flavor(Map.of(), SPOT);
    Toleration tolerates = new Toleration("spot", "Equal", "true", "NoSchedule");
    assertThat(Eligibility.obstacle(tainted, Placement.ANYWHERE))
        .contains(new Obstacle.UntoleratedTaint(SPOT));
    assertThat(
            Eligibility.obstacle(tainted, new Placement(Map.of(), List.of(), List.of(tolerates))))
        .isEmpty();
    assertThat(
            Eligibility.obstacle(
                new Flavor("f", Map.of(), List.of(SPOT), List.of(tolerates)), Placement.ANYWHERE))
        .isEmpty();
  }

  @Test
  void aTaintThatOnlyPrefersKeepsNobodyOff() {
    assertThat(
            Eligibility.obstacle(
                flavor(Map.of(), new Taint("k", "", "PreferNoSchedule")), Placement.ANYWHERE))
        .isEmpty();
  }

  @Test
  void onlyKeysTheFlavorLabelsCountInASelector() {
    Flavor flavor = flavor(Map.of("zone", "a"));
    assertThat(Eligibility.obstacle(flavor, selecting(Map.of("zone", "a", "disk", "ssd"))))
        .isEmpty();
    assertThat(Eligibility.obstacle(flavor, selecting(Map.of("zone", "b"))))
        .contains(new Obstacle.PlacementMismatch());
  }

  @Test
  void oneTermOfTheAffinityMustMatch() {
    Flavor flavor = flavor(Map.of("zone", "a"));
    assertThat(Eligibility.obstacle(flavor, terms(List.of(List.of(zoneIn("b")))))).isPresent();
    assertThat(
            Eligibility.obstacle(
                flavor, terms(List.of(List.of(zoneIn("b")), List.of(zoneIn("a", "c"))))))
        .isEmpty();
  }

  @Test
  void aTermAboutOtherKeysOnlyMatches() {
    LabelRequirement other = new LabelRequirement("disk", Operator.IN, List.of("ssd"));
    assertThat(
            Eligibility.obstacle(
                flavor(Map.of("zone", "a")), terms(List.of(List.of(zoneIn("b")), List.of(other)))))
        .isEmpty();
  }
}
