package dev.sluice.jobs;

/**
 * A kind of objects that jobs refer to.
 *
 * @param kind the kind
 * @param namespaced whether its objects are in namespaces
 */
public record ReferencedKind(JobKind kind, boolean namespaced) {}
