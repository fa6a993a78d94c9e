package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;

/** The levels of a topology. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record TopologySpec(@JsonInclude(JsonInclude.Include.ALWAYS) List<TopologyLevel> levels) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public TopologySpec {
    levels = Defaults.orEmpty(levels);
  }
}
