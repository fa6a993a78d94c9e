package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.ListMap;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;

/** Resources that are always taken from the same flavor, and the flavors to choose from. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
    value = "self.flavors.all(f, size(f.resources) == size(self.coveredResources))",
    messageExpression =
        "'each flavor must list as many resources as coveredResources, which has "
            + "%d'.format([size(self.coveredResources)])",
    fieldPath = ".flavors")
public record ResourceGroup(
    @Required
        @Size(min = 1, max = 64)
        @Atomic
        @JsonInclude(JsonInclude.Include.ALWAYS)
        @JsonPropertyDescription(
            "Names of the resources of this group, such as cpu, memory or nvidia.com/gpu.")
        List<String> coveredResources,
    @Required
        @Size(min = 1, max = 64)
        @ListMap("name")
        @JsonInclude(JsonInclude.Include.ALWAYS)
        @JsonPropertyDescription(
            "Flavors in order of preference. Each lists the resources of the group in "
                + "the order of coveredResources.")
        List<FlavorQuotas> flavors) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public ResourceGroup {
    coveredResources = Defaults.orEmpty(coveredResources);
    flavors = Defaults.orEmpty(flavors);
  }
}
