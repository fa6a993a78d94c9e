package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/** The cluster queue behind a local queue. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record LocalQueueSpec(
    @Nullable String clusterQueue, @Nullable FairSharing fairSharing, StopPolicy stopPolicy) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public LocalQueueSpec {
    stopPolicy = Defaults.or(stopPolicy, StopPolicy.NONE);
  }
}
