package dev.sluice.lab.controlplane;

import dev.sluice.kube.certificates.CertificateAuthority;
import dev.sluice.kube.certificates.CertificateWithKey;
import dev.sluice.kube.certificates.Pem;
import dev.sluice.lab.controlplane.binaries.Program;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.List;

/**
 * Makes the keys, certificates and kubeconfigs of one control plane, readable by its owner only.
 */
final class KeyFiles {

  private static final Duration VALIDITY = Duration.ofDays(3650);

  private final Layout layout;
  private final Endpoints endpoints;
  private final CertificateAuthority certificates;

  /** For a control plane whose certificates are good from {@code now} on, for ten years. */
  KeyFiles(Layout layout, Endpoints endpoints, Instant now) {
    this.layout = layout;
    this.endpoints = endpoints;
    this.certificates = new CertificateAuthority(InstantSource.fixed(now), new SecureRandom());
  }

  void write() throws IOException {
    Files.createDirectories(layout.keys());
    try {
      CertificateWithKey authority = certificates.authority("sluice-cluster-ca", VALIDITY);
      writeCredential("ca", authority);
      writeCredential(
          "apiserver",
          certificates.serving(
              authority,
              List.of(
                  "kubernetes",
                  "kubernetes.default",
                  "kubernetes.default.svc",
                  "localhost",
                  "127.0.0.1",
                  ProcessArguments.FIRST_SERVICE_ADDRESS),
              VALIDITY));
      writeServiceAccountKeys();
      writeFrontProxy();
      writeKubeconfigs(authority);
    } catch (GeneralSecurityException e) {
      throw new ControlPlaneException("can't make keys and certificates", e);
    }
  }

  private void writeServiceAccountKeys() throws IOException, GeneralSecurityException {
    KeyPair keys = certificates.ellipticKeys();
    secret(layout.key("sa.key"), Pem.key(keys.getPrivate()));
    secret(layout.key("sa.pub"), Pem.publicKey(keys.getPublic()));
  }

  /** With these the API server authenticates itself, and its users, to servers behind it. */
  private void writeFrontProxy() throws IOException, GeneralSecurityException {
    CertificateWithKey authority = certificates.authority("sluice-proxy-ca", VALIDITY);
    secret(layout.key("front-proxy-ca.crt"), authority.certificatePem());
    writeCredential(
        "front-proxy-client",
        certificates.client(
            authority, certificates.ellipticKeys(), "front-proxy-client", List.of(), VALIDITY));
  }

  private void writeKubeconfigs(CertificateWithKey authority)
      throws IOException, GeneralSecurityException {
    List<String> masters = List.of("system:masters");
    writeKubeconfig(
        layout.kubeconfig(),
        authority,
        certificates.rsaKeys(),
        ControlPlane.ADMINISTRATOR,
        masters);
    writeKubeconfig(Program.KWOK, authority, "sluice-kwok", masters);
    writeKubeconfig(
        Program.CONTROLLER_MANAGER, authority, "system:kube-controller-manager", List.of());
    writeKubeconfig(Program.SCHEDULER, authority, "system:kube-scheduler", List.of());
  }

  private void writeKubeconfig(
      Program program, CertificateWithKey authority, String user, List<String> groups)
      throws IOException, GeneralSecurityException {
    writeKubeconfig(
        layout.kubeconfig(program), authority, certificates.ellipticKeys(), user, groups);
  }

  private void writeKubeconfig(
      Path file, CertificateWithKey authority, KeyPair keys, String user, List<String> groups)
      throws IOException, GeneralSecurityException {
    CertificateWithKey client = certificates.client(authority, keys, user, groups, VALIDITY);
    secret(file, Kubeconfig.text(endpoints.server(), authority, user, client));
  }

  private void writeCredential(String stem, CertificateWithKey credential)
      throws IOException, GeneralSecurityException {
    secret(layout.key(stem + ".crt"), credential.certificatePem());
    secret(layout.key(stem + ".key"), credential.keyPem());
  }

  private static void secret(Path file, String content) throws IOException {
    Files.deleteIfExists(file);
    Files.createFile(
        file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.writeString(file, content);
  }

  /** The text of a kubeconfig that refers to no other file. */
  private static final class Kubeconfig {

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
}
