package dev.sluice.checks.multikueue.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.checks.multikueue.access.WorkerAccess.ClusterReason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where kubeconfigs may lie. */
class KubeconfigFilesTest {

  private static final String GOOD =
      """
      current-context: c
      contexts: [{name: c, context: {cluster: k, user: u}}]
      clusters: [{name: k, cluster: {server: "https://host"}}]
      users: [{name: u, user: {token: t}}]
      """;

  private final Path directory;
  private final Path root;

  KubeconfigFilesTest(@TempDir Path directory) throws IOException {
    this.directory = directory.toRealPath();
    this.root = this.directory.resolve("kubeconfigs");
  }

  @BeforeEach
  void files() throws IOException {
    Files.createDirectories(root.resolve("below"));
    Files.writeString(root.resolve("below/good"), GOOD);
    Files.writeString(directory.resolve("outside"), GOOD);
    Files.createSymbolicLink(root.resolve("out"), directory.resolve("outside"));
    Files.createSymbolicLink(root.resolve("in"), root.resolve("below/good"));
  }

  private WorkerAccess confined(String location) {
    return new KubeconfigFiles(root, true).read(location);
  }

  private static WorkerAccess bad(String message) {
    return new WorkerAccess.Refused(
        ClusterReason.BAD_KUBE_CONFIG, "clusterSource.kubeConfig.location: " + message);
  }

  @Test
  void filesUnderTheRootAreRead() {
    assertThat(confined(root + "/below/good")).isInstanceOf(WorkerAccess.Usable.class);
    assertThat(confined(root + "/in")).isInstanceOf(WorkerAccess.Usable.class);
  }

  @Test
  void filesElsewhereAreNot() {
    String allowed = "; allowed: a file under " + root;
    assertThat(confined(directory + "/outside"))
        .isEqualTo(bad("\"" + directory + "/outside\" lies elsewhere" + allowed));
    assertThat(confined(root + "/../outside"))
        .isEqualTo(bad("\"" + root + "/../outside\" has .. or other detours" + allowed));
    assertThat(confined(root + "//below/good"))
        .isEqualTo(bad("\"" + root + "//below/good\" has .. or other detours" + allowed));
    assertThat(confined(root + "/out"))
        .isEqualTo(bad("\"" + root + "/out\" leads elsewhere by a link" + allowed));
    assertThat(confined("below/good"))
        .isEqualTo(bad("\"below/good\" is not absolute; allowed: an absolute path"));
  }

  @Test
  void aMissingFileIsWaitedFor() {
    assertThat(confined(root + "/none"))
        .isEqualTo(
            bad(
                "file \""
                    + root
                    + "/none\" does not exist; allowed: a file with a kubeconfig; once it exists,"
                    + " it is read within seconds"));
  }

  @Test
  void withoutTheGateTheyMayLieAnywhere() {
    KubeconfigFiles files = new KubeconfigFiles(root, false);

    assertThat(files.read(directory + "/outside")).isInstanceOf(WorkerAccess.Usable.class);
    assertThat(files.read(root + "/out")).isInstanceOf(WorkerAccess.Usable.class);
    assertThat(files.read("outside")).isInstanceOf(WorkerAccess.Refused.class);
  }

  private static String login(String certificate, String key) {
    return GOOD.replace(
        "{token: t}", "{client-certificate: %s, client-key: %s}".formatted(certificate, key));
  }

  @Test
  void keysMayLieBesideTheirKubeconfig() throws IOException {
    Files.write(root.resolve("below/a.crt"), Base64.getDecoder().decode(Pems.CERTIFICATE));
    Files.writeString(root.resolve("below/a.key"), "key");
    Files.writeString(root.resolve("below/relative"), login("a.crt", "a.key"));
    Files.writeString(
        root.resolve("absolute"), login(root + "/below/a.crt", root + "/below/a.key"));

    for (String location : List.of("/below/relative", "/absolute")) {
      assertThat(confined(root + location))
          .isInstanceOfSatisfying(
              WorkerAccess.Usable.class,
              usable -> {
                assertThat(usable.workerCredentials().certificate()).isPresent();
                assertThat(usable.workerCredentials().key()).hasValue("a2V5");
              });
    }
    // a rotated key leads to another connection
    Files.writeString(root.resolve("below/a.key"), "other");
    assertThat(confined(root + "/absolute"))
        .isInstanceOfSatisfying(
            WorkerAccess.Usable.class,
            usable -> assertThat(usable.workerCredentials().key()).hasValue("b3RoZXI="));
  }

  @Test
  void keysElsewhereAreNotRead() throws IOException {
    Files.writeString(directory.resolve("secret.key"), "hunter2");
    Files.createSymbolicLink(root.resolve("link.key"), directory.resolve("secret.key"));
    String field = "users[u].user.client-certificate: ";
    String allowed = "; allowed: a file under " + root;
    Map<String, String> reasons =
        Map.of(
            directory + "/secret.key",
            "\"" + directory + "/secret.key\" lies elsewhere" + allowed,
            "../secret.key",
            "\"" + root + "/../secret.key\" has .. or other detours" + allowed,
            "link.key",
            "\"" + root + "/link.key\" leads elsewhere by a link" + allowed,
            "none.key",
            "file \""
                + root
                + "/none.key\" does not exist; allowed: a file in PEM; once it exists, it is"
                + " read within seconds");

    for (Map.Entry<String, String> each : reasons.entrySet()) {
      Files.writeString(root.resolve("kubeconfig"), login(each.getKey(), "a.key"));
      assertThat(confined(root + "/kubeconfig"))
          .isEqualTo(
              new WorkerAccess.Refused(ClusterReason.BAD_KUBE_CONFIG, field + each.getValue()));
    }
  }
}
