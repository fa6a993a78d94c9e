package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.ListMap;
import io.fabric8.generator.annotation.Size;
import io.fabric8.kubernetes.api.model.Condition;
import java.util.List;

/** Whether a worker cluster is reached. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record MultiKueueClusterStatus(
    @Size(max = 16)
        @ListMap("type")
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Latest observations. Active tells whether the cluster is connected, and if "
                + "not, why.")
        List<Condition> conditions) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public MultiKueueClusterStatus {
    conditions = Defaults.orEmpty(conditions);
  }
}
