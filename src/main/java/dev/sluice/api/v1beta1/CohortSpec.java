package dev.sluice.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.Defaults;
import dev.sluice.api.schema.Patterns;
import dev.sluice.api.schema.Text;
import dev.sluice.api.v1beta2.FairSharing;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A cohort's own quota, its parent and its weight. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
    value =
        "has(self.parentName) || !has(self.resourceGroups) || "
            + "self.resourceGroups.all(g, g.flavors.all(f, f.resources.all(r, "
            + "!has(r.borrowingLimit))))",
    message = "borrowingLimit is allowed only if parentName is set",
    fieldPath = ".resourceGroups")
@ValidationRule(
    value =
        "has(self.parentName) || !has(self.resourceGroups) || "
            + "self.resourceGroups.all(g, g.flavors.all(f, f.resources.all(r, "
            + "!has(r.lendingLimit))))",
    message = "lendingLimit is allowed only if parentName is set",
    fieldPath = ".resourceGroups")
public record CohortSpec(
    @ValidationRule(
            value =
                "!has(self.weight) || (type(self.weight) == int ? self.weight >= 0 : "
                    + "!self.weight.startsWith('-'))",
            messageExpression = "'weight must be 0 or more, here it is %s'.format([self.weight])",
            fieldPath = ".weight")
        @ValidationRule(
            value =
                "!has(self.weight) || type(self.weight) == int || !isQuantity(self.weight) "
                    + "|| self.weight.startsWith('-') || "
                    + "quantity(self.weight).compareTo(quantity('0')) == 0 || "
                    + "quantity(self.weight).isGreaterThan(quantity('1n'))",
            messageExpression =
                "'weight must be 0 or more than 1n, here it is %s'.format([self.weight])",
            fieldPath = ".weight")
        @JsonPropertyDescription(
            "Weight of this cohort among its siblings when idle quota of the parent is "
                + "shared fairly.")
        @Nullable FairSharing fairSharing,
    @Text(max = 253)
        @Pattern(Patterns.DNS_SUBDOMAIN)
        @JsonPropertyDescription(
            "Parent of this cohort. Absent: the cohort is a root. The name may be one "
                + "for which no Cohort object exists. A chain of parents that loops keeps "
                + "every queue below it from admitting until it is mended.")
        @Nullable String parentName,
    @Size(max = 16)
        @Atomic
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        @JsonPropertyDescription(
            "Quota that the cohort itself adds for the queues and cohorts below it. A "
                + "resource belongs to one group only, and so does a flavor.")
        List<ResourceGroup> resourceGroups) {

  /** Takes what is absent for its default; lists and maps become immutable. */
  public CohortSpec {
    resourceGroups = Defaults.orEmpty(resourceGroups);
  }
}
