package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Weight in sharing idle quota. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record FairSharing(Quantity weight) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public FairSharing {
    weight = Defaults.or(weight, new Quantity("1"));
  }

  /** Place in fair sharing. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record FairSharingStatus(Long weightedShare) {}

  /** Past usage that fair admission goes by. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record AdmissionFairSharingStatus(
      @JsonInclude(JsonInclude.Include.ALWAYS) Map<String, Quantity> consumedResources,
      @Nullable String lastUpdate) {

    /** Takes what is absent for its default; lists and maps become immutable. */
    public AdmissionFairSharingStatus {
      consumedResources = Defaults.orEmpty(consumedResources);
    }
  }
}
