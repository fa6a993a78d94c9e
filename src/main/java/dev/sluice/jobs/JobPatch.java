package dev.sluice.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * One write of a job.
 *
 * @param ofStatus whether it goes to the status subresource
 * @param body the merge patch, without the resourceVersion that guards it
 */
public record JobPatch(boolean ofStatus, ObjectNode body) {}
