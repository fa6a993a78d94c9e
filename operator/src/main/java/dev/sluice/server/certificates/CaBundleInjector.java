package dev.sluice.server.certificates;

/** Publishes the certificate authority of the operator's certificates to the API server. */
@FunctionalInterface
public interface CaBundleInjector {

  /**
   * Makes the API server trust these authorities; changes nothing if it does already.
   *
   * @param caBundle certificates in PEM, the newest first
   */
  void publish(String caBundle);
}
