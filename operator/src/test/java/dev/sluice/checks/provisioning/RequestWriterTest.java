package dev.sluice.checks.provisioning;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.checks.provisioning.RequestWriter.Creation;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.testing.PlayedApi;
import io.fabric8.kubernetes.client.KubernetesClient;
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

  /**
   * docs/provisioning.md#what-is-created: gate EnforceProvisioningPodTemplateContents. Changes of
   * 0.20, section 4.
   */
  @Test
  void aTemplateOfSomebodyElseIsDeletedIfItIsStillTheSame() throws Exception {
    try (PlayedApi api = new PlayedApi();
        KubernetesClient client = api.client()) {
      RequestWriter writer = new RequestWriter(new ApiClient(client, ApiClient.Options.atATime(1)));
      JsonNode template =
          GivenProvisioning.yaml("{metadata: {namespace: team, name: ppt-a, uid: theirs}}");

      api.play(asked -> new PlayedApi.Answer(200, "{}"));
      assertThat(writer.deleteTemplate(template)).isEmpty();
      assertThat(api.asked("DELETE", "/api/v1/namespaces/team/podtemplates/ppt-a"))
          .singleElement()
          .satisfies(asked -> assertThat(asked.body()).contains("\"uid\":\"theirs\""));

      api.play(asked -> new PlayedApi.Answer(403, "{\"kind\":\"Status\",\"message\":\"not you\"}"));
      assertThat(writer.deleteTemplate(template))
          .hasValueSatisfying(refusal -> assertThat(refusal).contains("not you"));
    }
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
