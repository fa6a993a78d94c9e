package dev.sluice.kubequeue;

/**
 * The object in which a quota is declared.
 *
 * @param kind its kind, with the group where two groups have a kind of this name
 * @param namespace its namespace
 * @param name its name
 * @param uid its UID
 */
public record QuotaSource(String kind, String namespace, String name, String uid) {}
