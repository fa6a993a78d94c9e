package dev.sluice.server;

import java.io.IOException;
import java.security.GeneralSecurityException;

/** Where the serving certificate comes from. */
public interface CertificateSource {

  /**
   * Looks at the source now and puts what it has into the key manager if that changed.
   *
   * @throws GeneralSecurityException when there is no usable certificate; what was used before
   *     stays in use
   * @throws IOException when the source can't be read
   */
  void refresh() throws GeneralSecurityException, IOException;
}
