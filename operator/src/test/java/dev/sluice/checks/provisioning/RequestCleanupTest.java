package dev.sluice.checks.provisioning;

import static dev.sluice.checks.provisioning.GivenProvisioning.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.checks.provisioning.ProvisioningReconciler.RequestCleanup;
import java.util.List;
import org.junit.jupiter.api.Test;

class RequestCleanupTest {

  private final GivenProvisioning given = new GivenProvisioning();

  private List<String> unneeded(boolean onEviction, String... owned) {
    return RequestCleanup.unneeded(
            given.workload(),
            given.workload().status().admissionChecks(),
            List.of(owned).stream().map(name -> request(name, "{}")).toList(),
            onEviction)
        .stream()
        .map(CachedRequest::name)
        .toList();
  }

  @Test
  void theRequestOfThePresentAttemptIsKept() {
    given.check("Pending", 1);
    assertThat(unneeded(true, "wl-check-1", "wl-check-2", "wl-gone-1"))
        .containsExactly("wl-check-1", "wl-gone-1");
    assertThat(unneeded(false, "wl-check-1", "wl-check-2", "wl-gone-1")).isEmpty();
  }

  @Test
  void nothingOfAnAdmittedWorkloadIsDeleted() {
    given.check("Pending", 1).isTrue("Admitted");
    assertThat(unneeded(true, "wl-check-1", "wl-gone-1")).isEmpty();
    given.isTrue("Evicted");
    assertThat(unneeded(true, "wl-check-1", "wl-gone-1"))
        .containsExactly("wl-check-1", "wl-gone-1");
  }

  /** Gate CleanupProvisioningRequestsOnEviction. */
  @Test
  void anEvictedWorkloadNeedsNone() {
    given.isTrue("Evicted");
    assertThat(unneeded(true, "wl-check-1")).containsExactly("wl-check-1");
    assertThat(unneeded(false, "wl-check-1")).isEmpty();
  }

  @Test
  void aFinishedWorkloadNeedsNoneWhateverTheGateSays() {
    given.check("Ready", 0).isTrue("Admitted").isTrue("Finished");
    assertThat(unneeded(true, "wl-check-1")).containsExactly("wl-check-1");
    assertThat(unneeded(false, "wl-check-1")).containsExactly("wl-check-1");
  }

  @Test
  void aWorkloadThatLostItsQuotaWithoutAnEvictionKeepsItsRequests() {
    given.with("/status/conditions/0/status", "'False'");
    assertThat(unneeded(true, "wl-check-1", "wl-check-2")).isEmpty();
    given.with("/spec/active", "false");
    assertThat(unneeded(true, "wl-check-1")).containsExactly("wl-check-1");
  }

  @Test
  void whatIsBeingDeletedIsNotDeletedAgain() {
    given.isTrue("Evicted");
    var leaving = GivenProvisioning.requestJson("wl-check-1", "{}");
    leaving.withObject("/metadata").put("deletionTimestamp", "2026-03-01T10:00:00Z");
    assertThat(
            RequestCleanup.unneeded(
                given.workload(), List.of(), List.of(CachedRequest.of(leaving)), true))
        .isEmpty();
  }
}
