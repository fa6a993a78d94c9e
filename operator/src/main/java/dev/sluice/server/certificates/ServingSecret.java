package dev.sluice.server.certificates;

import dev.sluice.kube.certificates.CertificateWithKey;
import dev.sluice.kube.certificates.Pem;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Content of the shared Secret.
 *
 * @param authorities trusted certificates, the newest first
 * @param authority the newest authority with its key
 * @param serving the serving certificate
 */
record ServingSecret(
    List<X509Certificate> authorities, CertificateWithKey authority, CertificateWithKey serving) {

  static final String CA_CERTIFICATE = "ca.crt";
  static final String CA_KEY = "ca.key";
  static final String CERTIFICATE = "tls.crt";
  static final String KEY = "tls.key";

  ServingSecret {
    authorities = List.copyOf(authorities);
  }

  /** Parses the Secret; empty if a part is missing, unreadable or inconsistent. */
  static Optional<ServingSecret> parse(Map<String, byte[]> data) {
    if (!data.keySet().containsAll(List.of(CA_CERTIFICATE, CA_KEY, CERTIFICATE, KEY))) {
      return Optional.empty();
    }
    try {
      String bundle = text(data, CA_CERTIFICATE);
      List<X509Certificate> authorities = Pem.certificates(bundle);
      CertificateWithKey authority =
          CertificateWithKey.parse(Pem.certificates(authorities.subList(0, 1)), text(data, CA_KEY));
      CertificateWithKey serving =
          CertificateWithKey.parse(text(data, CERTIFICATE), text(data, KEY));
      return Optional.of(new ServingSecret(authorities, authority, serving));
    } catch (GeneralSecurityException unusable) {
      return Optional.empty();
    }
  }

  Map<String, byte[]> data() throws GeneralSecurityException {
    return Map.of(
        CA_CERTIFICATE, bytes(caBundle()),
        CA_KEY, bytes(authority.keyPem()),
        CERTIFICATE, bytes(serving.certificatePem()),
        KEY, bytes(serving.keyPem()));
  }

  String caBundle() throws GeneralSecurityException {
    return Pem.certificates(authorities);
  }

  private static String text(Map<String, byte[]> data, String key) {
    byte[] value = data.get(key);
    return value == null ? "" : new String(value, StandardCharsets.US_ASCII);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
