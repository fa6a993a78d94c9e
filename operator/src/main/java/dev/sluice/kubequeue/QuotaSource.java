package dev.sluice.kubequeue;

/**
 * The object in which a quota is declared.
 *
 * @param kind its kind, with the group where two groups have a kind of this name
 * @param namespace its namespace
 * @param name its name
 * @param uid its UID
 * @param scopes which pods it is about ({@link PodScopes#text}); empty: all
 */
public record QuotaSource(String kind, String namespace, String name, String uid, String scopes) {

  /** An object that is about all pods. */
  public QuotaSource(String kind, String namespace, String name, String uid) {
    this(kind, namespace, name, uid, "");
  }
}
