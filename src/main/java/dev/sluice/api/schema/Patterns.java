package dev.sluice.api.schema;

/** Expressions that names in the API have to match. */
public final class Patterns {

  /** A name in the manner of DNS: lower-case words, with dots between. */
  public static final String DNS_SUBDOMAIN =
      "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

  /** A single lower-case word, which may have dashes. */
  public static final String DNS_LABEL = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";

  /** The key of a label: a word, optionally after a DNS name and a slash. */
  public static final String QUALIFIED_NAME =
      "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
          + "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";

  private Patterns() {}
}
