package dev.sluice.lab.controlplane.binaries;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.lab.controlplane.binaries.DefaultBinarySources.DirectorySource;
import dev.sluice.lab.controlplane.binaries.DefaultBinarySources.SourceFailedException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A directory the user names has the programs, or says which it lacks. */
class DirectorySourceTest {

  @TempDir private Path directory = Path.of("");

  @Test
  void aDirectoryWithAllProgramsIsTaken() throws Exception {
    Programs.make(directory, Bundle.KUBERNETES);

    assertThat(new DirectorySource(directory).obtain(Bundle.KUBERNETES)).isEqualTo(directory);
  }

  @Test
  void whatIsMissingOrNotExecutableIsNamed() throws Exception {
    Programs.make(directory, "kube-apiserver", "exit 0");
    Files.writeString(directory.resolve("kube-scheduler"), "not executable");

    assertThatThrownBy(() -> new DirectorySource(directory).obtain(Bundle.KUBERNETES))
        .isInstanceOf(SourceFailedException.class)
        .hasMessage("has no executable file named kube-controller-manager, kube-scheduler");
  }

  @Test
  void aDirectoryThatDoesNotExistIsSaidNotToExist() {
    assertThatThrownBy(() -> new DirectorySource(directory.resolve("nowhere")).obtain(Bundle.ETCD))
        .isInstanceOf(SourceFailedException.class)
        .hasMessage("there is no such directory");
  }
}
