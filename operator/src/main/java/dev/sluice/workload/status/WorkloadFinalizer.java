package dev.sluice.workload.status;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.workload.record.CachedWorkload;

/** The finalizer that keeps a Workload until its job has stopped. */
public final class WorkloadFinalizer {

  private WorkloadFinalizer() {}

  /** The merge patch that removes the project's finalizer from a Workload and keeps all others. */
  public static ObjectNode removal(CachedWorkload workload) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    ArrayNode rest = patch.putObject("metadata").putArray("finalizers");
    workload.finalizers().stream()
        .filter(finalizer -> !finalizer.equals(KueueConstants.RESOURCE_IN_USE))
        .forEach(rest::add);
    return patch;
  }
}
