package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The worker clusters a job may be sent to. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record MultiKueueConfigSpec(
    @JsonInclude(JsonInclude.Include.ALWAYS) List<String> clusters,
    @Nullable QuotaManagement quotaManagement) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public MultiKueueConfigSpec {
    clusters = Defaults.orEmpty(clusters);
  }
}
