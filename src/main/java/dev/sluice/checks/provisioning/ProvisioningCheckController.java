package dev.sluice.checks.provisioning;

import dev.sluice.api.v1beta2.AdmissionCheckSpec;
import dev.sluice.api.v1beta2.ProvisioningRequestConfig;
import dev.sluice.checks.controller.ActiveCondition;
import dev.sluice.checks.controller.AdmissionCheckController;
import dev.sluice.queues.mapping.CheckControllerDescription;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Says which checks of the controller of ProvisioningRequests can be used. The states of its checks
 * are written by {@link ProvisioningReconciler}, because they depend on requests.
 */
final class ProvisioningCheckController implements AdmissionCheckController {

  private final Function<String, Optional<ProvisioningRequestConfig>> configs;
  private final Supplier<RequestAvailability> availability;

  /**
   * A controller of checks.
   *
   * @param configs finds a ProvisioningRequestConfig by name
   * @param availability whether the cluster has ProvisioningRequests
   */
  ProvisioningCheckController(
      Function<String, Optional<ProvisioningRequestConfig>> configs,
      Supplier<RequestAvailability> availability) {
    this.configs = configs;
    this.availability = availability;
  }

  @Override
  public CheckControllerDescription description() {
    return ProvisioningChecks.DESCRIPTION;
  }

  @Override
  public Optional<ActiveCondition> condition(AdmissionCheckSpec check) {
    RequestAvailability requests = availability.get();
    return requests == RequestAvailability.UNKNOWN
        ? Optional.empty()
        : Optional.of(
            of(ParameterResolution.of(check, configs), requests != RequestAvailability.ABSENT));
  }

  /** The condition of a check with these parameters. */
  static ActiveCondition of(ParameterResolution parameters, boolean served) {
    if (parameters.config().isEmpty()) {
      return new ActiveCondition(false, "BadParametersRef", parameters.problem());
    }
    return served
        ? new ActiveCondition(true, "Active", "The check can be used")
        : new ActiveCondition(
            false, "ProvisioningRequestsNotServed", ProvisioningPolicy.NOT_SERVED);
  }
}
