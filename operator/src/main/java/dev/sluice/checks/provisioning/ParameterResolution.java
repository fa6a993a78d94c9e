package dev.sluice.checks.provisioning;

import dev.sluice.api.ApiVersions;
import dev.sluice.api.v1beta2.AdmissionCheck.AdmissionCheckParametersReference;
import dev.sluice.api.v1beta2.AdmissionCheck.AdmissionCheckSpec;
import dev.sluice.api.v1beta2.ProvisioningRequestConfig;
import dev.sluice.api.v1beta2.ProvisioningRequestConfig.ProvisioningRequestConfigSpec;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of a check, or what is wrong with them.
 *
 * @param config empty if something is wrong
 * @param problem for people; empty if nothing is wrong
 */
record ParameterResolution(Optional<ProvisioningRequestConfigSpec> config, String problem) {

  private static final String KIND = "ProvisioningRequestConfig";

  /**
   * Finds the parameters of a check.
   *
   * @param configs finds a ProvisioningRequestConfig by name
   */
  static ParameterResolution of(
      @Nullable AdmissionCheckSpec check,
      Function<String, Optional<ProvisioningRequestConfig>> configs) {
    AdmissionCheckParametersReference reference = check == null ? null : check.parameters();
    if (reference == null) {
      return wrong("spec.parameters: is missing; allowed: a " + KIND + " of " + ApiVersions.GROUP);
    }
    if (!ApiVersions.GROUP.equals(reference.apiGroup()) || !KIND.equals(reference.kind())) {
      return wrong(
          "spec.parameters: \""
              + reference.kind()
              + "."
              + reference.apiGroup()
              + "\" is not understood; allowed: a "
              + KIND
              + " of "
              + ApiVersions.GROUP);
    }
    String named = KIND + " \"" + reference.name() + "\"";
    Optional<ProvisioningRequestConfig> config = configs.apply(reference.name());
    if (config.isEmpty()) {
      return wrong("spec.parameters.name: " + named + " does not exist");
    }
    ProvisioningRequestConfigSpec spec = config.get().getSpec();
    return spec == null || spec.provisioningClassName() == null
        ? wrong(named + ": spec.provisioningClassName: is missing")
        : new ParameterResolution(Optional.of(spec), "");
  }

  private static ParameterResolution wrong(String problem) {
    return new ParameterResolution(Optional.empty(), problem);
  }
}
