package dev.sluice.checks.provisioning;

import static dev.sluice.checks.provisioning.GivenProvisioning.request;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.provisioning.RequestInformers.OwnedRequests;
import org.junit.jupiter.api.Test;

class OwnedRequestsTest {

  private final OwnedRequests owned = new OwnedRequests();

  @Test
  void requestsAreFoundByTheUidOfTheirWorkload() {
    CachedRequest one = request("one", "{}");
    CachedRequest two = request("two", "{}");
    owned.changed(null, one);
    owned.changed(null, two);
    assertThat(owned.of("wl-uid")).containsExactlyInAnyOrder(one, two);

    CachedRequest changed = request("one", GivenProvisioning.condition("Accepted", ""));
    owned.changed(one, changed);
    owned.changed(two, null);
    assertThat(owned.of("wl-uid")).containsExactly(changed);

    ObjectNode taken = GivenProvisioning.requestJson("one", "{}");
    taken.withObject("/metadata").remove("ownerReferences");
    owned.changed(changed, CachedRequest.of(taken));
    assertThat(owned.of("wl-uid")).isEmpty();
    assertThat(owned.of("")).isEmpty();
  }
}
