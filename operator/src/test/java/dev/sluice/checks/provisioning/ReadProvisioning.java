package dev.sluice.checks.provisioning;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.v1beta2.AdmissionCheck.AdmissionCheckParametersReference;
import dev.sluice.api.v1beta2.AdmissionCheck.AdmissionCheckSpec;
import dev.sluice.api.v1beta2.ProvisioningRequestConfig;
import dev.sluice.checks.provisioning.ProvisioningPolicy.ParameterResolution;
import dev.sluice.jobs.kind.StartConflictException;
import java.util.Optional;

/** What is decided upon objects that somebody else wrote, whatever is in them. */
public final class ReadProvisioning {

  private static final AdmissionCheckSpec CHECK =
      new AdmissionCheckSpec(
          "kueue.x-k8s.io/provisioning-request",
          new AdmissionCheckParametersReference(
              "a", "kueue.x-k8s.io", "ProvisioningRequestConfig"));

  private ReadProvisioning() {}

  /** Parses a request; the result answers it. */
  public static Runnable request(JsonNode object) {
    CachedRequest request = CachedRequest.of(object);
    ParameterResolution parameters =
        new ParameterResolution(
            Optional.of(
                GivenProvisioning.config(
                    "podSetUpdates: {nodeSelector: [{key: k,"
                        + " valueFromProvisioningClassDetail: d}]}")),
            "");
    return () -> decide(parameters, request);
  }

  /** A configuration is used. */
  public static void config(ProvisioningRequestConfig read) {
    ParameterResolution parameters = ParameterResolution.of(CHECK, name -> Optional.of(read));
    decide(
        parameters,
        GivenProvisioning.request(
            "wl-check-1",
            GivenProvisioning.condition("Provisioned", "") + "\nprovisioningClassDetails: {d: e}"));
    decide(
        parameters,
        GivenProvisioning.request("wl-check-1", GivenProvisioning.condition("Failed", "")));
  }

  private static void decide(ParameterResolution parameters, CachedRequest request) {
    GivenProvisioning given = new GivenProvisioning();
    for (String state : new String[] {"Pending", "Ready"}) {
      given.check(state, 0);
      ProvisioningPolicy.decide(
          given.workload(),
          given.state(),
          new ProvisioningPolicy.Input(parameters, true, true, Optional.of(request)));
    }
    if (parameters.config().isPresent()) {
      try {
        RequestManifest.of(
            given.workload(),
            given.json(),
            "wl-check-1",
            parameters.config().get(),
            name -> Optional.empty());
      } catch (StartConflictException e) {
        throw new AssertionError(e);
      }
    }
  }
}
