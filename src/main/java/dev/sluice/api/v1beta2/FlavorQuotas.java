package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.ListMap;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import java.util.List;

/** Quota of one flavor. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record FlavorQuotas(
    @Required
        @Text(max = 253)
        @Pattern(Patterns.DNS_SUBDOMAIN)
        @JsonPropertyDescription(
            "Name of the ResourceFlavor. While no such flavor exists, a cluster queue "
                + "that names it is not active.")
        String name,
    @Required
        @Size(min = 1, max = 64)
        @ListMap("name")
        @JsonInclude(JsonInclude.Include.ALWAYS)
        @JsonPropertyDescription(
            "Quota for each resource of the group, in the order of coveredResources.")
        List<ResourceQuota> resources) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public FlavorQuotas {
    resources = Defaults.orEmpty(resources);
  }
}
