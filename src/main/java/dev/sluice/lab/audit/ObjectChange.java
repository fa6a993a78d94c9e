package dev.sluice.lab.audit;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * One write to one object, as the API server kept it.
 *
 * @param revision its resourceVersion: the place of the write among all writes to all objects
 * @param deleted whether the object is gone with it
 * @param object the object after the write; the last one there was when it is gone
 */
public record ObjectChange(long revision, AuditedKind kind, boolean deleted, JsonNode object) {}
