package dev.sluice.core.scheduling.flavor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.FlavorRejection;
import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.LabelSelector.LabelRequirement.Operator;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.Taint;
import dev.sluice.core.model.Toleration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FlavorEligibilityTest {

  private static final Taint SPOT = new Taint("spot", "true", "NoSchedule");

  private static Flavor flavor(Map<String, String> labels, Taint... taints) {
    return new Flavor("f", labels, List.of(taints), List.of());
  }

  private static NodeConstraints selecting(Map<String, String> selector) {
    return new NodeConstraints(selector, List.of(), List.of());
  }

  private static LabelRequirement zoneIn(String... zones) {
    return new LabelRequirement("zone", Operator.IN, List.of(zones));
  }

  private static NodeConstraints terms(List<List<LabelRequirement>> terms) {
    return new NodeConstraints(Map.of(), terms, List.of());
  }

  @Test
  void aFlavorThatDoesNotExistSuitsNobody() {
    assertThat(FlavorEligibility.rejection(null, NodeConstraints.ANYWHERE))
        .contains(new FlavorRejection.FlavorMissing());
  }

  @Test
  void aTaintMustBeToleratedByThePodsOrByTheFlavor() {
    Flavor tainted = flavor(Map.of(), SPOT);
    Toleration tolerates = new Toleration("spot", "Equal", "true", "NoSchedule");
    assertThat(FlavorEligibility.rejection(tainted, NodeConstraints.ANYWHERE))
        .contains(new FlavorRejection.UntoleratedTaint(SPOT));
    assertThat(
            FlavorEligibility.rejection(
                tainted, new NodeConstraints(Map.of(), List.of(), List.of(tolerates))))
        .isEmpty();
    assertThat(
            FlavorEligibility.rejection(
                new Flavor("f", Map.of(), List.of(SPOT), List.of(tolerates)),
                NodeConstraints.ANYWHERE))
        .isEmpty();
  }

  @Test
  void aTaintThatOnlyPrefersKeepsNobodyOff() {
    assertThat(
            FlavorEligibility.rejection(
                flavor(Map.of(), new Taint("k", "", "PreferNoSchedule")), NodeConstraints.ANYWHERE))
        .isEmpty();
  }

  @Test
  void onlyKeysTheFlavorLabelsCountInASelector() {
    Flavor flavor = flavor(Map.of("zone", "a"));
    assertThat(FlavorEligibility.rejection(flavor, selecting(Map.of("zone", "a", "disk", "ssd"))))
        .isEmpty();
    assertThat(FlavorEligibility.rejection(flavor, selecting(Map.of("zone", "b"))))
        .contains(new FlavorRejection.PlacementMismatch());
  }

  /** A flavor whose nodes were refused is left out by its name, though no node has such a label. */
  @Test
  void aFlavorIsLeftOutByNameIfEveryTermSaysSo() {
    Flavor flavor = flavor(Map.of("zone", "a"));
    LabelRequirement others = named("other");
    LabelRequirement notThis = named(flavor.name());

    assertThat(FlavorEligibility.rejection(flavor, terms(List.of(List.of(notThis)))))
        .contains(new FlavorRejection.NodesRefused());
    assertThat(FlavorEligibility.rejection(flavor, terms(List.of(List.of(others))))).isEmpty();
    assertThat(
            FlavorEligibility.rejection(flavor, terms(List.of(List.of(notThis), List.of(others)))))
        .isEmpty();
  }

  private static LabelRequirement named(String flavor) {
    return new LabelRequirement(
        NodeConstraints.FLAVOR, LabelRequirement.Operator.NOT_IN, List.of(flavor));
  }

  @Test
  void oneTermOfTheAffinityMustMatch() {
    Flavor flavor = flavor(Map.of("zone", "a"));
    assertThat(FlavorEligibility.rejection(flavor, terms(List.of(List.of(zoneIn("b"))))))
        .isPresent();
    assertThat(
            FlavorEligibility.rejection(
                flavor, terms(List.of(List.of(zoneIn("b")), List.of(zoneIn("a", "c"))))))
        .isEmpty();
  }

  @Test
  void aTermAboutOtherKeysOnlyMatches() {
    LabelRequirement other = new LabelRequirement("disk", Operator.IN, List.of("ssd"));
    assertThat(
            FlavorEligibility.rejection(
                flavor(Map.of("zone", "a")), terms(List.of(List.of(zoneIn("b")), List.of(other)))))
        .isEmpty();
  }
}
