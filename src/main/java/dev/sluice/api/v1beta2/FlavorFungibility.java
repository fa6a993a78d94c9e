package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/** When the search for a flavor stops at one that would need borrowing or preemption. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record FlavorFungibility(
    @Nullable FlavorFungibilityPreference preference,
    FlavorFungibilityPolicy whenCanBorrow,
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
