package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.ListMap;
import io.fabric8.generator.annotation.Size;
import java.util.List;

/** Counters of a workload's past. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SchedulingStats(
    @Size(max = 256)
        @ListMap({"reason", "underlyingCause"})
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription("How often the workload was evicted, by reason.")
        List<SchedulingStatsEviction> evictions) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public SchedulingStats {
    evictions = Defaults.orEmpty(evictions);
  }
}
