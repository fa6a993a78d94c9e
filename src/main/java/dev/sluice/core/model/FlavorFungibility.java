package dev.sluice.core.model;

/**
 * When the search for a flavor goes on to the next flavor (API: {@code spec.flavorFungibility}).
 */
public record FlavorFungibility(
    boolean tryNextWhenBorrowing, boolean tryNextWhenPreempting, boolean preferPreemption) {

  /**
   * The API's defaults: stop at a flavor where borrowing is enough, go on where preemption would be
   * needed.
   */
  public static final FlavorFungibility DEFAULT = new FlavorFungibility(false, true, false);
}
