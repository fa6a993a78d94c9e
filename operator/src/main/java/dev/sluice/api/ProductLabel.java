package dev.sluice.api;

import io.fabric8.kubernetes.api.model.HasMetadata;

/** The label that tells Sluice's objects from those of other operators of the API. */
public final class ProductLabel {

  /** Its key; only Sluice's objects have {@link #VALUE} here. */
  public static final String KEY = "app.kubernetes.io/part-of";

  /** Its value. */
  public static final String VALUE = "sluice";

  private ProductLabel() {}

  /** Whether an object has the label. */
  public static boolean isOn(HasMetadata object) {
    var labels = object.getMetadata().getLabels();
    return labels != null && VALUE.equals(labels.get(KEY));
  }
}
