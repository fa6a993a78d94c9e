package dev.sluice.lab.audit;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * One write to one object, as stored by the API server.
 *
 * @param revision its resourceVersion, which orders the writes to all objects
 * @param deleted whether the write removed the object
 * @param object the object after the write, or its last state if it was removed
 */
public record ObjectChange(long revision, AuditedKind kind, boolean deleted, JsonNode object) {}
