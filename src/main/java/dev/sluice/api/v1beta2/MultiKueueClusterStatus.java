package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.api.model.Condition;
import java.util.List;

/** Whether a worker cluster is reached. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record MultiKueueClusterStatus(
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Condition> conditions) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public MultiKueueClusterStatus {
    conditions = Defaults.orEmpty(conditions);
  }
}
