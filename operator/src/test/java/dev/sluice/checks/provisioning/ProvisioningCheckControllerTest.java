package dev.sluice.checks.provisioning;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.v1beta2.AdmissionCheck.AdmissionCheckParametersReference;
import dev.sluice.api.v1beta2.AdmissionCheck.AdmissionCheckSpec;
import dev.sluice.api.v1beta2.ProvisioningRequestConfig;
import dev.sluice.checks.provisioning.ProvisioningControllers.ProvisioningCheckController;
import dev.sluice.checks.provisioning.RequestInformers.RequestAvailability;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProvisioningCheckControllerTest {

  private RequestAvailability availability = RequestAvailability.LISTED;

  private String condition(@Nullable AdmissionCheckParametersReference parameters) {
    return new ProvisioningCheckController(this::config, () -> availability)
        .condition(new AdmissionCheckSpec("kueue.x-k8s.io/provisioning-request", parameters))
        .map(it -> it.status() + " " + it.reason() + ": " + it.message())
        .orElse("unknown");
  }

  private Optional<ProvisioningRequestConfig> config(String name) {
    ProvisioningRequestConfig config = new ProvisioningRequestConfig();
    if (name.equals("good")) {
      config.setSpec(GivenProvisioning.config(""));
    }
    return name.equals("missing") ? Optional.empty() : Optional.of(config);
  }

  @ParameterizedTest
  @CsvSource({
    "kueue.x-k8s.io, ProvisioningRequestConfig, good, true Active",
    "kueue.x-k8s.io, ProvisioningRequestConfig, missing, false BadParametersRef",
    "kueue.x-k8s.io, ProvisioningRequestConfig, empty, false BadParametersRef",
    "kueue.x-k8s.io, MultiKueueConfig, good, false BadParametersRef",
    "example.com, ProvisioningRequestConfig, good, false BadParametersRef"
  })
  void aCheckIsActiveIfItsParametersAre(String group, String kind, String name, String condition) {
    assertThat(condition(new AdmissionCheckParametersReference(name, group, kind)))
        .startsWith(condition + ": ");
    assertThat(condition(null)).startsWith("false BadParametersRef: ");
  }

  @Test
  void withoutTheKindTheCheckIsInactiveAndSaysSo() {
    AdmissionCheckParametersReference good =
        new AdmissionCheckParametersReference(
            "good", "kueue.x-k8s.io", "ProvisioningRequestConfig");
    availability = RequestAvailability.ABSENT;
    assertThat(condition(good))
        .startsWith("false ProvisioningRequestsNotServed: ")
        .contains("provisioningrequests.autoscaling.x-k8s.io/v1");
    availability = RequestAvailability.LISTING;
    assertThat(condition(good)).startsWith("true Active: ");
    availability = RequestAvailability.UNKNOWN;
    assertThat(condition(good)).isEqualTo("unknown");
  }
}
