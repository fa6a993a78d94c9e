package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.Defaults;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;

/** The levels of a topology. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record TopologySpec(
    @Required
        @Size(min = 1, max = 16)
        @ValidationRule(
            value = "self.all(l, self.exists_one(m, m.nodeLabel == l.nodeLabel))",
            messageExpression =
                "'nodeLabel must be unique among the levels, here they are "
                    + "%s'.format([self.map(l, l.nodeLabel)])")
        @ValidationRule(
            value =
                "size(self) < 2 || self.all(l, l.nodeLabel != 'kubernetes.io/hostname') || "
                    + "self[size(self) - 1].nodeLabel == 'kubernetes.io/hostname'",
            message = "nodeLabel kubernetes.io/hostname is allowed only as the last level")
        @Atomic
        @JsonInclude(JsonInclude.Include.ALWAYS)
        @JsonPropertyDescription(
            "Levels from the widest to the narrowest. No label twice; "
                + "kubernetes.io/hostname only as the last. They can be changed only while the "
                + "last level is, and stays, kubernetes.io/hostname.")
        List<TopologyLevel> levels) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public TopologySpec {
    levels = Defaults.orEmpty(levels);
  }
}
