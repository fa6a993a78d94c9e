package dev.sluice.server;

/** Tells the API server which authority the operator's certificates come from. */
@FunctionalInterface
public interface CaBundleInjector {

  /**
   * Makes the API server trust these authorities, and changes nothing where it does already.
   *
   * @param caBundle certificates as text, the newest first
   */
  void publish(String caBundle);
}
