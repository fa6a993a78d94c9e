package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.ListMap;
import io.fabric8.kubernetes.api.model.Condition;
import java.util.List;

/** What the controller of an admission check says about it. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AdmissionCheckStatus(
    @ListMap("type")
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Latest observations. Active tells whether the check can be answered at "
                + "present; it is written by the controller that spec.controllerName names.")
        List<Condition> conditions) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public AdmissionCheckStatus {
    conditions = Defaults.orEmpty(conditions);
  }
}
