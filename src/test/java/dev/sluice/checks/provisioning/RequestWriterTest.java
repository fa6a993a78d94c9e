package dev.sluice.checks.provisioning;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.checks.provisioning.RequestWriter.Creation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequestWriterTest {

  private static Creation present(String label, String owner) {
    JsonNode template =
        GivenProvisioning.yaml(
            """
            metadata:
              labels: {kueue.x-k8s.io/managed: "%s"}
              ownerReferences: [{controller: true, %s}]
            """
                .formatted(label, owner));
    return RequestWriter.present(
        GivenProvisioning.request("wl-check-1", "{}"), new Creation.Taken(template));
  }

  @Test
  void aTemplateOfAnEarlierRequestOfTheSameNameIsWaitedFor() {
    assertThat(present("true", "kind: ProvisioningRequest, name: wl-check-1, uid: earlier"))
        .isInstanceOf(Creation.Leaving.class);
    assertThat(present("true", "kind: ProvisioningRequest, name: wl-check-1, uid: pr-uid"))
        .isInstanceOf(Creation.Exists.class);
  }

  @ParameterizedTest
  @CsvSource({
    "false, 'kind: ProvisioningRequest, name: wl-check-1, uid: earlier'",
    "true, 'kind: ProvisioningRequest, name: other, uid: earlier'",
    "true, 'kind: Job, name: wl-check-1, uid: earlier'",
  })
  void aTemplateOfSomebodyElseIsTaken(String label, String owner) {
    assertThat(present(label, owner)).isInstanceOf(Creation.Taken.class);
  }
}
