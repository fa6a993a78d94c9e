package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Absent;
import dev.sluice.api.schema.Atomic;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import java.util.List;

/** The levels of a topology. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record TopologySpec(
    @Required
        @Size(min = 1, max = 16)
        @Atomic
        @JsonInclude(JsonInclude.Include.ALWAYS)
        @JsonPropertyDescription(
            "Levels from the widest to the narrowest. No label twice; kubernetes.io/hostname only as the last. They can be changed only while the last level is, and stays, kubernetes.io/hostname.")
        List<TopologyLevel> levels) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public TopologySpec {
    levels = Absent.orEmpty(levels);
  }
}
