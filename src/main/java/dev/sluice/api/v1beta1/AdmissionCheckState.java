package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.DateTime;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.Text;
import dev.sluice.api.v1beta2.CheckState;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The answer of one admission check. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AdmissionCheckState(
    @Required @Text(max = 316) @JsonPropertyDescription("Name of the admission check.") String name,
    @Required @DateTime @JsonPropertyDescription("When the state last changed.")
        String lastTransitionTime,
    @Required
        @Text(max = 32768)
        @JsonPropertyDescription("What a person should know about the state.")
        String message,
    @Required
        @JsonPropertyDescription(
            "Pending: not answered yet. Ready: passed. Retry: the workload gives its "
                + "quota back and tries again. Rejected: the workload is stopped for good.")
        CheckState state,
    @Size(max = 18)
        @Atomic
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription("What the check wants to be added to the pods.")
        List<PodSetUpdate> podSetUpdates,
    @Min(0)
        @JsonPropertyDescription(
            "Seconds after which a workload that has to retry may be queued again.")
        @Nullable Integer requeueAfterSeconds,
    @Min(0) @JsonPropertyDescription("How often the check asked for a retry.")
        @Nullable Integer retryCount) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public AdmissionCheckState {
    podSetUpdates = Defaults.orEmpty(podSetUpdates);
  }
}
