package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Absent;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.ConvertedByWebhook;
import dev.sluice.api.schema.DateTime;
import dev.sluice.api.schema.Items;
import dev.sluice.api.schema.ListMap;
import dev.sluice.api.schema.ListSet;
import dev.sluice.api.schema.NonNegative;
import dev.sluice.api.schema.OneOf;
import dev.sluice.api.schema.Text;
import dev.sluice.api.schema.Values;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.crd.generator.annotation.AdditionalSelectableField;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import dev.sluice.api.schema.Patterns;

/** A run of domains. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(value="(!has(self.podCounts.individual) || size(self.podCounts.individual) == " + "self.domainCount) && self.valuesPerLevel.all(v, !has(v.individual) || " + "size(v.individual.roots) == self.domainCount)", messageExpression="'each individual list must have as many entries as domainCount, which is " + "%d'.format([self.domainCount])")
public record TopologyAssignmentSlice(
@Required @Min(1) @JsonPropertyDescription("Number of domains in this run.") Integer domainCount,
@Required @JsonPropertyDescription("Number of pods in each domain.") TopologyAssignmentSlicePodCounts podCounts,
@Required @Size(min = 1, max = 16) @Atomic @JsonInclude(JsonInclude.Include.ALWAYS) @JsonPropertyDescription("For each level the values that tell the domains.") List<TopologyAssignmentSliceLevelValues> valuesPerLevel) {

/** Takes what is absent for its default; lists and maps become immutable. */
public TopologyAssignmentSlice {
valuesPerLevel = Absent.orEmpty(valuesPerLevel);
}
}
