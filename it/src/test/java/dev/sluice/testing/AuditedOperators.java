package dev.sluice.testing;

import dev.sluice.install.InstallManifests;
import dev.sluice.lab.process.OperatorAccount;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Has the API servers of tests write down what operators ask for. With {@code
 * -Dsluice.permissions.audit=DIRECTORY} all of them do, and every {@link LocalOperator} has the
 * service account of an installed one, by which its requests are told from those of the tests; it
 * may do everything there, because it installs, too.
 */
public final class AuditedOperators {

  private static final String POLICY =
      """
      apiVersion: audit.k8s.io/v1
      kind: Policy
      omitStages: [RequestReceived]
      rules:
      - level: Metadata
        users: ["%s", "%s"]
      - level: None
      """
          .formatted(
              InstallManifests.user(InstallManifests.NAMESPACE),
              InstallManifests.managerInWorkers());

  private AuditedOperators() {}

  /** Where all API servers write; empty if they don't. */
  static Optional<Path> directory() {
    return Optional.ofNullable(System.getProperty("sluice.permissions.audit"))
        .map(Path::of)
        .map(Path::toAbsolutePath);
  }

  /** The arguments of an API server that writes the requests of operators to this file. */
  static List<String> apiServerArguments(Path log) {
    try {
      Files.createDirectories(log.getParent());
      Path policy = log.resolveSibling(log.getFileName() + ".policy.yaml");
      Files.writeString(policy, POLICY);
      return List.of("--audit-policy-file=" + policy, "--audit-log-path=" + log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The log of the API server of a class that asked for one. */
  public static Path log(String controlPlane) {
    return directory()
        .orElse(Path.of("target", "audit").toAbsolutePath())
        .resolve(controlPlane + ".log");
  }

  /** The kubeconfig of the operator's service account in a cluster. */
  static Path kubeconfig(Path administrator) {
    try {
      Path file = Files.createTempDirectory("operator").resolve("kubeconfig");
      file.toFile().deleteOnExit();
      OperatorAccount.create(administrator, file);
      return file;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
