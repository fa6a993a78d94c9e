package dev.sluice.lab.controlplane;

import java.nio.charset.StandardCharsets;
import java.security.Key;
import java.security.PrivateKey;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.util.Base64;

/** The text form of keys and certificates. */
final class ControlPlanePem {

  private static final int LINE_LENGTH = 64;

  private ControlPlanePem() {}

  static String of(X509Certificate certificate) {
    try {
      return encode("CERTIFICATE", certificate.getEncoded());
    } catch (CertificateEncodingException e) {
      throw new IllegalStateException("a certificate that was just made can be encoded", e);
    }
  }

  static String of(Key key) {
    return encode(key instanceof PrivateKey ? "PRIVATE KEY" : "PUBLIC KEY", key.getEncoded());
  }

  private static String encode(String type, byte[] content) {
    Base64.Encoder encoder =
        Base64.getMimeEncoder(LINE_LENGTH, "\n".getBytes(StandardCharsets.US_ASCII));
    return "-----BEGIN %s-----\n%s\n-----END %s-----\n"
        .formatted(type, encoder.encodeToString(content), type);
  }
}
