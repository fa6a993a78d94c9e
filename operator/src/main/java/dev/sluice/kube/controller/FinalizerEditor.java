package dev.sluice.kube.controller;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import io.fabric8.kubernetes.api.model.HasMetadata;

/** The finalizer that holds an object while it is in use. */
public final class FinalizerEditor {

  private FinalizerEditor() {}

  /** Whether the object carries it. */
  public static boolean present(HasMetadata object) {
    return object.getMetadata().getFinalizers().contains(KueueConstants.RESOURCE_IN_USE);
  }

  /** The merge patch that puts it on, for exactly this version of the object. */
  public static ObjectNode add(HasMetadata object) {
    return patch(object, true);
  }

  /** The merge patch that takes it off, for exactly this version of the object. */
  public static ObjectNode remove(HasMetadata object) {
    return patch(object, false);
  }

  private static ObjectNode patch(HasMetadata object, boolean wanted) {
    ArrayNode finalizers = JsonNodeFactory.instance.arrayNode();
    object.getMetadata().getFinalizers().stream()
        .filter(finalizer -> !finalizer.equals(KueueConstants.RESOURCE_IN_USE))
        .forEach(finalizers::add);
    if (wanted) {
      finalizers.add(KueueConstants.RESOURCE_IN_USE);
    }
    ObjectNode metadata = JsonNodeFactory.instance.objectNode();
    metadata.put("resourceVersion", object.getMetadata().getResourceVersion());
    metadata.set("finalizers", finalizers);
    return JsonNodeFactory.instance.objectNode().set("metadata", metadata);
  }
}
