package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Each permission of the operator is needed: one of the tests on control planes had it use it, as
 * {@code used-permissions.txt} records (docs/contributing.md#permissions), or the reason is listed.
 */
class PermissionUseTest {

  private static final Path RECORD =
      Path.of("operator/src/test/resources/dev/sluice/install/used-permissions.txt");

  @Test
  void eachPermissionWasUsedOrHasAReason() throws IOException {
    PermissionUse use = new PermissionUse();
    TreeSet<String> used = new TreeSet<>(Files.readAllLines(RECORD));
    TreeSet<String> unused = new TreeSet<>(use.granted());
    unused.removeAll(used);

    assertThat(unused)
        .as("permissions that were not used are those with a reason")
        .isEqualTo(UnusedPermissions.all(use));
    assertThat(used).as("what was used is granted").isSubsetOf(use.granted());
    assertThat(UnusedPermissions.withoutPermission(use)).isEmpty();
  }

  @Test
  void anAuditLogTellsWhatWasUsedAndWhatWasAskedForWithout(@TempDir Path directory)
      throws IOException {
    Path log = directory.resolve("audit.log");
    Files.writeString(
        log,
        String.join(
            "\n",
            entry("patch", "", "batch", "jobs", "status", "team", "a"),
            entry("get", "", "", "secrets", "", "kueue-system", "kueue-webhook-server-cert"),
            entry("get", "", "", "secrets", "", "team", "kueue-webhook-server-cert"),
            entry("delete", "", "", "nodes", "", "", "a"),
            entry("patch", "?fieldManager=sluice-install", "", "namespaces", "", "", "a"),
            entry("create", "", "authentication.k8s.io", "selfsubjectreviews", "", "", ""),
            entry("list", "", "", "secrets", "", "kueue-system", "")
                .replace("kueue-controller-manager", "sluice-manager"),
            entry("create", "", "batch", "jobs", "", "team", "a")
                .replace("kueue-controller-manager", "sluice-manager"),
            entry("delete", "", "", "nodes", "", "", "b")
                .replace("kueue-controller-manager", "somebody"),
            "{\"user\":{\"username\":"));
    PermissionUse use = new PermissionUse();

    use.read(log);

    assertThat(use.used())
        .containsExactly(
            "kueue-manager-role: patch jobs/status.batch",
            "kueue-manager-secrets-role: get secrets",
            "kueue-manager-secrets-role: get secrets kueue-webhook-server-cert");
    assertThat(use.missing())
        .isEqualTo(
            new TreeSet<>(
                List.of(
                    "delete nodes in \"\" by name \"a\"",
                    "in a worker: list secrets in \"kueue-system\" by name \"\"",
                    "get secrets in \"team\" by name \"kueue-webhook-server-cert\"")));
  }

  private static String entry(
      String verb,
      String query,
      String group,
      String resource,
      String subresource,
      String namespace,
      String name) {
    return """
    {"verb":"%s","user":{"username":"system:serviceaccount:kueue-system:kueue-controller-manager"},\
    "requestURI":"/x%s","objectRef":{"apiGroup":"%s","resource":"%s","subresource":"%s",\
    "namespace":"%s","name":"%s"}}\
    """
        .formatted(verb, query, group, resource, subresource, namespace, name);
  }
}
