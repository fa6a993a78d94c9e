package dev.sluice.api;

/** The label that tells Sluice's objects from those of other operators of the API. */
public final class ProductLabel {

  /** Its key; only Sluice's objects have {@link #VALUE} here. */
  public static final String KEY = "app.kubernetes.io/part-of";

  /** Its value. */
  public static final String VALUE = "sluice";

  private ProductLabel() {}
}
