package dev.sluice.kube.events;

import io.fabric8.kubernetes.api.model.HasMetadata;

/** Tells people something about an object that no condition of it can say. */
public interface EventNotifier {

  /**
   * Leaves a warning beside the object, once for each state of its spec.
   *
   * @param reason one word in CamelCase
   * @param note what is the matter, in one sentence
   */
  void warn(HasMetadata object, String reason, String note);
}
