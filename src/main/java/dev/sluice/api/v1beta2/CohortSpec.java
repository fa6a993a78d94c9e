package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Absent;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A cohort's own quota, its parent and its weight. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record CohortSpec(
    @JsonPropertyDescription(
            "Weight of this cohort among its siblings when idle quota of the parent is shared fairly.")
        @Nullable FairSharing fairSharing,
    @Text(max = 253)
        @Pattern(Patterns.DNS_SUBDOMAIN)
        @JsonPropertyDescription(
            "Parent of this cohort. Absent: the cohort is a root. The name may be one for which no Cohort object exists. A chain of parents that loops keeps every queue below it from admitting until it is mended.")
        @Nullable String parentName,
    @Size(max = 16)
        @Atomic
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Quota that the cohort itself adds for the queues and cohorts below it. A resource belongs to one group only, and so does a flavor.")
        List<ResourceGroup> resourceGroups) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public CohortSpec {
    resourceGroups = Absent.orEmpty(resourceGroups);
  }
}
