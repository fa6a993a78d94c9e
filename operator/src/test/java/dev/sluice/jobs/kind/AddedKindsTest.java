package dev.sluice.jobs.kind;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.jobs.kind.AddedKinds.ProvidedKind;
import dev.sluice.jobs.madeup.Task;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AddedKindsTest {

  private static final String SERVICE = "META-INF/services/dev.sluice.jobs.kind.JobIntegration";

  @TempDir private Path directory = Path.of("");

  private void jar(String name, String service) throws IOException {
    try (JarOutputStream jar =
        new JarOutputStream(Files.newOutputStream(directory.resolve(name)))) {
      jar.putNextEntry(new JarEntry(SERVICE));
      jar.write((service + "\n").getBytes(UTF_8));
    }
  }

  private List<ProvidedKind> provided(JobKind... taken) throws IOException {
    return AddedKinds.provided(directory, List.of(taken));
  }

  @Test
  void kindsOfAllJarsAreFound() throws IOException {
    assertThat(provided()).isEmpty();
    jar("tasks.jar", Task.class.getName());
    Files.writeString(directory.resolve("README"), "not a jar");

    assertThat(provided()).extracting(ProvidedKind::framework).containsExactly("example.com/task");
    assertThat(AddedKinds.provided(directory.resolve("gone"), List.of())).isEmpty();
  }

  @Test
  void aKindThatIsKnownIsRefused() throws IOException {
    jar("tasks.jar", Task.class.getName());

    assertThatThrownBy(() -> provided(Task.KIND))
        .isInstanceOf(IOException.class)
        .hasMessage(
            "%s of %s: jobs of kind Task of example.com/v1 are queued without it",
            Task.class.getName(), directory);
  }

  @Test
  void whatCannotBeLoadedIsTold() throws IOException {
    jar("tasks.jar", "org.example.Gone");
    assertThatThrownBy(this::provided)
        .isInstanceOf(IOException.class)
        .hasMessageContaining(directory.toString())
        .hasMessageContaining("org.example.Gone");

    Files.delete(directory.resolve("tasks.jar"));
    jar("none.jar", AddedKinds.class.getName());
    assertThatThrownBy(this::provided)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("not a subtype");
  }

  /** A class loader leaves it out in silence. */
  @Test
  void aFileThatIsNamedAJarAndIsNoneIsRefused() throws IOException {
    jar("tasks.jar", Task.class.getName());
    Path broken = Files.writeString(directory.resolve("broken.jar"), "not a jar");

    assertThatThrownBy(this::provided)
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(broken + " can't be read as a jar: ");
  }
}
