package dev.sluice.lab.controlplane;

import dev.sluice.lab.controlplane.binaries.Program;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.List;

/**
 * Makes the keys, certificates and kubeconfigs of one control plane, readable by its owner only.
 */
final class KeyFiles {

  private final Layout layout;
  private final Endpoints endpoints;
  private final Instant now;
  private final SecureRandom random = new SecureRandom();

  KeyFiles(Layout layout, Endpoints endpoints, Instant now) {
    this.layout = layout;
    this.endpoints = endpoints;
    this.now = now;
  }

  void write() throws IOException {
    Files.createDirectories(layout.keys());
    ControlPlaneAuthority authority =
        ControlPlaneAuthority.create("sluice-cluster-ca", now, random);
    writeCredential("ca", authority.own());
    writeCredential(
        "apiserver",
        authority.server(
            "kube-apiserver",
            List.of("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"),
            List.of("127.0.0.1", ProcessArguments.FIRST_SERVICE_ADDRESS)));
    writeServiceAccountKeys();
    writeFrontProxy();
    writeKubeconfigs(authority);
  }

  private void writeServiceAccountKeys() throws IOException {
    KeyPair keys = ControlPlaneAuthority.newEllipticKeys(random);
    secret(layout.key("sa.key"), ControlPlanePem.of(keys.getPrivate()));
    secret(layout.key("sa.pub"), ControlPlanePem.of(keys.getPublic()));
  }

  /** With these the API server authenticates itself, and its users, to servers behind it. */
  private void writeFrontProxy() throws IOException {
    ControlPlaneAuthority authority = ControlPlaneAuthority.create("sluice-proxy-ca", now, random);
    secret(layout.key("front-proxy-ca.crt"), authority.own().certificatePem());
    writeCredential("front-proxy-client", authority.client("front-proxy-client", List.of()));
  }

  private void writeKubeconfigs(ControlPlaneAuthority authority) throws IOException {
    List<String> masters = List.of("system:masters");
    String admin = "sluice-admin";
    writeKubeconfig(
        layout.kubeconfig(), authority, admin, authority.clientOfAnyLibrary(admin, masters));
    writeKubeconfig(Program.KWOK, authority, "sluice-kwok", masters);
    writeKubeconfig(
        Program.CONTROLLER_MANAGER, authority, "system:kube-controller-manager", List.of());
    writeKubeconfig(Program.SCHEDULER, authority, "system:kube-scheduler", List.of());
  }

  private void writeKubeconfig(
      Program program, ControlPlaneAuthority authority, String user, List<String> groups)
      throws IOException {
    writeKubeconfig(layout.kubeconfig(program), authority, user, authority.client(user, groups));
  }

  private void writeKubeconfig(
      Path file, ControlPlaneAuthority authority, String user, Credential client)
      throws IOException {
    secret(file, Kubeconfig.text(endpoints.server(), authority.own(), user, client));
  }

  private void writeCredential(String stem, Credential credential) throws IOException {
    secret(layout.key(stem + ".crt"), credential.certificatePem());
    secret(layout.key(stem + ".key"), credential.keyPem());
  }

  private static void secret(Path file, String content) throws IOException {
    Files.deleteIfExists(file);
    Files.createFile(
        file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.writeString(file, content);
  }
}
