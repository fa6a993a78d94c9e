package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sluice.api.schema.Defaults;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/** When the search for a flavor stops at one that would need borrowing or preemption. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
    value =
        "!has(self.preference) || has(self.whenCanBorrow) && self.whenCanBorrow == "
            + "'TryNextFlavor' && has(self.whenCanPreempt) && self.whenCanPreempt == "
            + "'TryNextFlavor'",
    messageExpression =
        "'preference ' + self.preference + ' is allowed only if whenCanBorrow and "
            + "whenCanPreempt are both TryNextFlavor'",
    fieldPath = ".preference")
public record FlavorFungibility(
    @JsonPropertyDescription(
            "When several flavors were looked at and none fits freely: prefer the one "
                + "that needs borrowing or the one that needs preemption. Only when "
                + "whenCanBorrow and whenCanPreempt are both TryNextFlavor.")
        @Nullable FlavorFungibilityPreference preference,
    @Default("MayStopSearch")
        @JsonPropertyDescription(
            "What to do when the workload fits a flavor only by borrowing. "
                + "MayStopSearch: take this flavor. TryNextFlavor: look at the next ones first.")
        FlavorFungibilityPolicy whenCanBorrow,
    @Default("TryNextFlavor")
        @JsonPropertyDescription(
            "What to do when the workload fits a flavor only by preempting others. "
                + "MayStopSearch: take this flavor. TryNextFlavor: look at the next ones first.")
        FlavorFungibilityPolicy whenCanPreempt) {

  /** What holds when nothing is said. */
  public static final FlavorFungibility DEFAULT =
      new FlavorFungibility(
          null, FlavorFungibilityPolicy.MAY_STOP_SEARCH, FlavorFungibilityPolicy.TRY_NEXT_FLAVOR);

  /** Takes what is absent for its default; lists and maps become immutable. */
  public FlavorFungibility {
    whenCanBorrow = Defaults.or(whenCanBorrow, FlavorFungibilityPolicy.MAY_STOP_SEARCH);
    whenCanPreempt = Defaults.or(whenCanPreempt, FlavorFungibilityPolicy.TRY_NEXT_FLAVOR);
  }
}
