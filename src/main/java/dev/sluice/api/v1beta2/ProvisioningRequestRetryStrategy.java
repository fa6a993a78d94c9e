package dev.sluice.api.v1beta2;

/**
 * How a failed ProvisioningRequest is tried again.
 *
 * @param backoffLimitCount how often it is tried again
 * @param backoffBaseSeconds the pause before the first retry; each further one is twice as long
 * @param backoffMaxSeconds the longest pause
 */
public record ProvisioningRequestRetryStrategy(
    Integer backoffLimitCount, Integer backoffBaseSeconds, Integer backoffMaxSeconds) {

  private static final int LIMIT = 3;
  private static final int BASE_SECONDS = 60;
  private static final int MAX_SECONDS = 1800;

  /** What an absent strategy stands for. */
  public static final ProvisioningRequestRetryStrategy DEFAULT =
      new ProvisioningRequestRetryStrategy(LIMIT, BASE_SECONDS, MAX_SECONDS);

  /** Takes what is absent for its default. */
  public ProvisioningRequestRetryStrategy {
    backoffLimitCount = Defaults.or(backoffLimitCount, LIMIT);
    backoffBaseSeconds = Defaults.or(backoffBaseSeconds, BASE_SECONDS);
    backoffMaxSeconds = Defaults.or(backoffMaxSeconds, MAX_SECONDS);
  }
}
