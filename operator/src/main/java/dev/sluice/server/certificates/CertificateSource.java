package dev.sluice.server.certificates;

import java.io.IOException;
import java.security.GeneralSecurityException;

/** Source of the serving certificate. */
public interface CertificateSource {

  /**
   * Reads the source and updates the key manager if the certificate changed.
   *
   * @throws GeneralSecurityException when there is no usable certificate; the previous one stays in
   *     use
   * @throws IOException when the source cannot be read
   */
  void refresh() throws GeneralSecurityException, IOException;
}
