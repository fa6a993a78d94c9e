package dev.sluice.queues.mapping;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.AdmissionCheck.AdmissionCheckSpec;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.checks.BuiltInCheckControllers;
import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.queues.mapping.ReferenceLookup.CheckCombinations;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CheckCombinationsTest {

  private static final String MULTI_KUEUE = "kueue.x-k8s.io/multikueue";
  private static final String FIELD = "spec.admissionChecksStrategy.admissionChecks: ";

  private final Map<String, String> controllers =
      Map.of(
          "away",
          MULTI_KUEUE,
          "far",
          MULTI_KUEUE,
          "nodes",
          "kueue.x-k8s.io/provisioning-request",
          "budget",
          "example.com/budget");

  private List<InactiveReason> problems(String rules) {
    ClusterQueue queue =
        Serialization.unmarshal(
            "metadata: {name: q}\nspec: {admissionChecksStrategy: {admissionChecks: [%s]}}"
                .formatted(rules),
            ClusterQueue.class);
    return new CheckCombinations(
            name -> Optional.ofNullable(controllers.get(name)).map(this::check),
            BuiltInCheckControllers.all())
        .problemsOf(queue);
  }

  private AdmissionCheck check(String controller) {
    AdmissionCheck check = new AdmissionCheck();
    check.setSpec(new AdmissionCheckSpec(controller, null));
    return check;
  }

  @Test
  void oneForAllFlavorsIsFineBesideOthers() {
    assertThat(problems("{name: away}, {name: budget, onFlavors: [a]}, {name: unknown}")).isEmpty();
    assertThat(problems("{name: nodes, onFlavors: [a]}")).isEmpty();
  }

  @Test
  void twoAreTooMany() {
    assertThat(problems("{name: away}, {name: far}"))
        .containsExactly(
            new InactiveReason(
                "MultipleMultiKueueAdmissionChecks",
                FIELD
                    + "[away, far] belong to controller kueue.x-k8s.io/multikueue; only one check of it is allowed"));
  }

  @Test
  void itAppliesToAllFlavors() {
    assertThat(problems("{name: away, onFlavors: [a]}"))
        .containsExactly(
            new InactiveReason(
                "MultiKueueAdmissionCheckAppliedPerFlavor",
                FIELD
                    + "[away] belongs to controller kueue.x-k8s.io/multikueue and must apply to all flavors:"
                    + " leave onFlavors out"));
  }

  @Test
  void nodesAreNotMadeHereForWorkThatGoesAway() {
    assertThat(problems("{name: away}, {name: nodes}"))
        .extracting(InactiveReason::reason)
        .containsExactly("MultiKueueWithProvisioningRequest");
  }
}
