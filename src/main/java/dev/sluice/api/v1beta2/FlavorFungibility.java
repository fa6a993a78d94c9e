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

/** When the search for a flavor stops at one that would need borrowing or preemption. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(value="!has(self.preference) || has(self.whenCanBorrow) && self.whenCanBorrow == " + "'TryNextFlavor' && has(self.whenCanPreempt) && self.whenCanPreempt == " + "'TryNextFlavor'", messageExpression="'preference ' + self.preference + ' is allowed only if whenCanBorrow and " + "whenCanPreempt are both TryNextFlavor'", fieldPath=".preference")
public record FlavorFungibility(
@JsonPropertyDescription("When several flavors were looked at and none fits freely: prefer the one " + "that needs borrowing or the one that needs preemption. Only when " + "whenCanBorrow and whenCanPreempt are both TryNextFlavor.") @Nullable FlavorFungibilityPreference preference,
@Default("MayStopSearch") @JsonPropertyDescription("What to do when the workload fits a flavor only by borrowing. " + "MayStopSearch: take this flavor. TryNextFlavor: look at the next ones first.") FlavorFungibilityPolicy whenCanBorrow,
@Default("TryNextFlavor") @JsonPropertyDescription("What to do when the workload fits a flavor only by preempting others. " + "MayStopSearch: take this flavor. TryNextFlavor: look at the next ones first.") FlavorFungibilityPolicy whenCanPreempt) {

/** What holds when nothing is said. */
public static final FlavorFungibility DEFAULT = new FlavorFungibility(null, FlavorFungibilityPolicy.MAY_STOP_SEARCH, FlavorFungibilityPolicy.TRY_NEXT_FLAVOR);

/** Takes what is absent for its default; lists and maps become immutable. */
public FlavorFungibility {
whenCanBorrow = Absent.or(whenCanBorrow, FlavorFungibilityPolicy.MAY_STOP_SEARCH);
whenCanPreempt = Absent.or(whenCanPreempt, FlavorFungibilityPolicy.TRY_NEXT_FLAVOR);
}
}
