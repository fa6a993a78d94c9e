package dev.sluice.lab.controlplane;

import java.security.PrivateKey;
import java.security.cert.X509Certificate;

/**
 * A certificate and its private key.
 *
 * @param certificate public
 * @param key secret
 */
record Credential(X509Certificate certificate, PrivateKey key) {

  String certificatePem() {
    return ControlPlanePem.of(certificate);
  }

  String keyPem() {
    return ControlPlanePem.of(key);
  }

  /** Never shows the key. */
  @Override
  public String toString() {
    return "Credential[" + certificate.getSubjectX500Principal() + "]";
  }
}
