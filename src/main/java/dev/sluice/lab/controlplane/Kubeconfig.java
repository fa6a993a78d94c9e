package dev.sluice.lab.controlplane;

import dev.sluice.kube.certificates.CertificateWithKey;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;

/** The text of a kubeconfig that refers to no other file. */
final class Kubeconfig {

  private Kubeconfig() {}

  static String text(
      URI server, CertificateWithKey authority, String user, CertificateWithKey client)
      throws GeneralSecurityException {
    return """
        apiVersion: v1
        kind: Config
        clusters:
        - name: sluice
          cluster:
            server: %s
            certificate-authority-data: %s
        users:
        - name: "%s"
          user:
            client-certificate-data: %s
            client-key-data: %s
        contexts:
        - name: sluice
          context:
            cluster: sluice
            user: "%s"
        current-context: sluice
        """
        .formatted(
            server,
            base64(authority.certificatePem()),
            user,
            base64(client.certificatePem()),
            base64(client.keyPem()),
            user);
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.US_ASCII));
  }
}
