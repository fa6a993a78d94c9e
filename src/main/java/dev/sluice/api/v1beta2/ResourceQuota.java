package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.api.model.Quantity;
import org.jspecify.annotations.Nullable;

/** Quota of one resource of one flavor. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ResourceQuota(
    String name,
    Quantity nominalQuota,
    @Nullable Quantity borrowingLimit,
    @Nullable Quantity lendingLimit) {

  /** Takes what is absent for its default. */
  public ResourceQuota {
    name = Defaults.or(name, "");
  }
}
