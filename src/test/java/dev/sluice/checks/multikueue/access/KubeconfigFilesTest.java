package dev.sluice.checks.multikueue.access;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
}
