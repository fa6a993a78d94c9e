package dev.sluice.jobs.kind;

import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * One write of a job.
 *
 * @param ofStatus whether it goes to the status subresource
 * @param fieldOwner in whose name; empty for that of the client
 * @param body the merge patch, without the resourceVersion that guards it
 */
public record JobPatch(boolean ofStatus, String fieldOwner, ObjectNode body) {

  /** In the name of the client. */
  public JobPatch(boolean ofStatus, ObjectNode body) {
    this(ofStatus, "", body);
  }
}
