package dev.sluice.queues.mapping;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import java.util.List;
import org.junit.jupiter.api.Test;

class InactiveReasonTextTest {

  /** The reasons of an inactive ClusterQueue as the API orders them: the first one is told. */
  private static final List<String> ORDER =
      List.of(
          "Terminating",
          "Stopped",
          "FlavorNotFound",
          "AdmissionCheckNotFound",
          "AdmissionCheckInactive",
          "MultipleMultiKueueAdmissionChecks",
          "MultiKueueAdmissionCheckAppliedPerFlavor",
          "MultiKueueWithProvisioningRequest",
          "TopologyNotFound",
          "CohortCycleDetected",
          "Unknown");

  private static List<String> ordered(List<String> reasons) {
    return InactiveReasonText.byPrecedence(
            reasons.stream().map(reason -> new InactiveReason(reason, "why")).toList())
        .stream()
        .map(InactiveReason::reason)
        .toList();
  }

  @Test
  void reasonsAreInTheOrderOfTheApi() {
    assertThat(ordered(ORDER.reversed())).isEqualTo(ORDER);
    assertThat(ordered(List.of("MadeUp", "Unknown"))).containsExactly("Unknown", "MadeUp");
  }
}
